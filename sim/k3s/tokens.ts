import { parseToken, tokenHash } from '../../src/k3s/token.ts'
import type { Files } from '../guest/files.ts'
import { text, tree } from '../kubernetes/object.ts'
import { find } from '../kubernetes/store.ts'
import type { Computer, EtcdCluster, K3sProcess } from '../world/types.ts'
import { authorityHash } from './authorities.ts'
import { noteContent, passwdText } from './bootstrap-files.ts'
import { flagText } from './config-file.ts'
import { DATA } from './disk.ts'

/** The token that a start was given: on the flag, or in the file that a flag names. */
export function givenToken(flags: ReadonlyMap<string, readonly string[]>, files: Files, flag: string): string {
  const direct = flagText(flags, flag)
  if (direct !== '') return direct.trim()
  const path = flagText(flags, `${flag}-file`)
  return path === '' ? '' : (files.text(path) ?? '').trim()
}

/** Returns the password inside a token of any form. */
export function passwordOf(token: string): string {
  const parsed = parseToken(token)
  return 'problem' in parsed || 'id' in parsed.credentials ? '' : parsed.credentials.password
}

export const TRUST_WARNING =
  "Cluster CA certificate is not trusted by the host CA bundle, but the token does not include a CA hash. Use the full token from the server's node-token file to enable Cluster CA validation."

/** Why a token cannot even be used to talk to this server; the same words on servers and agents. */
export function tokenProblem(token: string, server: K3sProcess, nowMs: number): string | undefined {
  const parsed = parseToken(token)
  if ('problem' in parsed) return parsed.problem
  const real = authorityHash(server.files.get('server-ca.crt') ?? '', nowMs)
  if (parsed.caHash === undefined || parsed.caHash === real) return undefined
  return `token CA hash does not match the Cluster CA certificate hash: ${parsed.caHash} != ${real}`
}

export function isShort(token: string): boolean {
  const parsed = parseToken(token)
  return !('problem' in parsed) && parsed.caHash === undefined
}

export type Right = 'server' | 'agent' | 'none'

/** Returns the right that this token gives. A short one is tried as the role that the caller asks for. */
export function rightOf(token: string, server: K3sProcess, nowMs: number): Right {
  const parsed = parseToken(token)
  if ('problem' in parsed) return 'none'
  const { credentials } = parsed
  if ('id' in credentials) return bootstrapTokenHolds(server.cluster, credentials, nowMs) ? 'agent' : 'none'
  const { user, password } = credentials
  const agentPassword = server.agentPassword ?? server.password
  if (password === server.password && user !== 'node') return 'server'
  return password === agentPassword ? 'agent' : 'none'
}

/** Reports whether an agent may join with it. If the cluster has an agent token, the server's is refused. */
export function mayBeAgent(token: string, server: K3sProcess, nowMs: number): boolean {
  const right = rightOf(token, server, nowMs)
  if (right !== 'server') return right === 'agent'
  return server.agentPassword === undefined || server.agentPassword === server.password
}

function bootstrapTokenHolds(
  cluster: EtcdCluster | undefined,
  { id, secret }: { readonly id: string; readonly secret: string },
  nowMs: number,
): boolean {
  const found =
    cluster === undefined ? undefined : find(cluster.store, '/secrets', 'kube-system', `bootstrap-token-${id}`)
  if (found === undefined) return false
  const data = tree(found.data)
  const read = (key: string) => Buffer.from(text(data[key]), 'base64').toString('utf8')
  const expires = read('expiration')
  return read('token-secret') === secret && (expires === '' || Date.parse(expires) > nowMs)
}

/** The files that tell the token to people and programs on a server. */
export function writeTokens(process: K3sProcess): void {
  const { files } = process.computer.machine
  const hash = authorityHash(process.files.get('server-ca.crt') ?? '', process.computer.world.clock.now())
  const agent = process.agentPassword ?? process.password
  files.write(`${DATA}/server/token`, `K10${hash}::server:${process.password}\n`)
  files.write(`${DATA}/server/node-token`, `K10${hash}::server:${process.password}\n`)
  files.write(`${DATA}/server/agent-token`, `K10${hash}::node:${agent}\n`)
  const passwd = passwdText(process.password, process.agentPassword)
  noteContent(process.computer.world, [passwd])
  files.write(`${DATA}/server/cred/passwd`, passwd)
}

/**
 * Every start writes the passwords that it was given into the list of users. Without the agents' own token they get the
 * server's: the file is then newer than what the datastore holds, and the next start is the last.
 */
export function ensureUsers(
  { machine, world }: Computer,
  flags: ReadonlyMap<string, readonly string[]>,
  password: string,
): void {
  const given = givenToken(flags, machine.files, 'agent-token')
  const passwd = passwdText(password, given === '' ? undefined : passwordOf(given))
  noteContent(world, [passwd])
  machine.files.write(`${DATA}/server/cred/passwd`, passwd)
}

export { tokenHash }
