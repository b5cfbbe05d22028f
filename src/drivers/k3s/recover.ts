import { CA_FILES, TOKEN_CA_PATH } from '../../k3s/ca-files.ts'
import { caHash, parseToken } from '../../k3s/token.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { ClusterSecrets } from '../../model/cluster-secrets.ts'
import { Secret } from '../../model/secret.ts'

const SERVER = '/var/lib/rancher/k3s/server'

/**
 * What makes a cluster itself, read back from the disk of a server that runs. The keys of the roots are not there: a CA
 * of such a record can be used, but not rotated under its root.
 */
export async function recoverSecrets(
  shell: Shell,
  cluster: string,
  server: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<ClusterSecrets | { readonly problem: string }> {
  const read = async (path: string): Promise<string | undefined> => {
    const bytes = await shell.readFile(`${SERVER}/${path}`, signal)
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')
  }
  try {
    const files = new Map<string, Secret>()
    for (const { path } of CA_FILES) {
      const content = await read(`tls/${path}`)
      // A server that keeps its data in SQLite need not have authorities of etcd.
      if ((content === undefined || content === '') && path.startsWith('etcd/')) continue
      if (content === undefined || content === '')
        return { problem: `${server} has no ${path}: it is no server of a cluster` }
      files.set(path, new Secret(content))
    }
    const token = parseToken((await read('token')) ?? '')
    if ('problem' in token || !('password' in token.credentials))
      return { problem: `the token on ${server} cannot be read` }
    const hash = caHash(Buffer.from(files.get(TOKEN_CA_PATH)?.reveal() ?? ''), nowMs)
    if (token.caHash !== undefined && token.caHash !== hash) {
      return { problem: `token and CA on ${server} do not belong together` }
    }
    const agent = parseToken((await read('agent-token')) ?? '')
    const agentPassword =
      'credentials' in agent && 'password' in agent.credentials ? agent.credentials.password : undefined
    return {
      cluster,
      caHash: hash,
      firstServer: server,
      formed: true,
      recordedMs: nowMs,
      files,
      password: new Secret(token.credentials.password),
      ...(agentPassword === undefined ? {} : { agentPassword: new Secret(agentPassword) }),
      formerPasswords: [],
    }
  } catch (error) {
    if (error instanceof ShellFailure) return { problem: `${server} does not answer: ${error.message}` }
    throw error
  }
}
