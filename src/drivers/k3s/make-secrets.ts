import { createPrivateKey, X509Certificate } from 'node:crypto'
import { ADMIN_SUBJECT, CA_FILES, TOKEN_CA_PATH } from '../../k3s/ca-files.ts'
import { caHash, formatToken, parseToken } from '../../k3s/token.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import {
  type CertificateIssuer,
  type CertificateSubject,
  createKeyPair,
  createRsaKeyPem,
  ecPrivateKeyPem,
  issueCertificate,
  privateKeyPem,
} from '../../lib/x509.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import { Secret } from '../../model/secret.ts'
import type { AdminCredentials } from '../cluster-port.ts'

const DAY = 24 * 3_600_000
const YEAR = 365 * DAY
/** Nodes' clocks may be behind ours: no certificate may start in their future. */
const EARLIER = DAY
const ADMIN_LIFE = DAY

export interface NewSecrets {
  readonly cluster: string
  readonly firstServer: string
  readonly nowMs: number
  randomBytes(count: number): Uint8Array
}

/**
 * Creates CA and tokens of a new cluster. Each authority has a separate root above the CA that K3s uses: rotating a CA
 * under the same root keeps the token's hash. The roots' keys are stored here and never put on a node.
 */
export function makeClusterSecrets({ cluster, firstServer, nowMs, randomBytes }: NewSecrets): ClusterSecrets {
  const files = new Map<string, Secret>()
  const authorities = [...new Set(CA_FILES.filter(({ holds }) => holds === 'key').map(({ authority }) => authority))]
  for (const authority of authorities) addAuthority(files, authority, nowMs)
  files.set('service.key', new Secret(createRsaKeyPem()))
  return {
    cluster,
    caHash: hashOf(files, nowMs),
    firstServer,
    formed: false,
    recordedMs: nowMs,
    files,
    password: password(randomBytes),
    agentPassword: password(randomBytes),
    formerPasswords: [],
  }
}

/**
 * Returns new CAs under the same roots for `k3s certificate rotate-ca`, keeping the old service key beside a new one.
 */
export function renewAuthorities(secrets: ClusterSecrets, nowMs: number): ClusterSecrets | undefined {
  const files = new Map(secrets.files)
  for (const { path, authority } of CA_FILES.filter(({ holds }) => holds === 'certificates')) {
    const root = rootOf(secrets, authority)
    if (root === undefined) return undefined
    addCa(files, path.replace(/\.crt$/, ''), authority, root, nowMs)
  }
  const former = secrets.files.get('service.key')?.reveal() ?? ''
  files.set('service.key', new Secret(createRsaKeyPem() + former))
  return { ...secrets, files, caHash: hashOf(files, nowMs) }
}

export function rootKeyPath(authority: string): string {
  return `roots/${authority}.key`
}

export function password(randomBytes: (count: number) => Uint8Array): Secret {
  return new Secret(Buffer.from(randomBytes(16)).toString('hex'))
}

/** Returns `K10…::server:…`, which proves the cluster to the node before the node proves itself. */
export function serverToken({ caHash: hash, password: secret }: ClusterSecrets): Secret {
  return new Secret(formatToken({ caHash: hash, credentials: { user: 'server', password: secret.reveal() } }))
}

/** Returns a short-lived admin certificate, signed by our client CA, so that no kubeconfig is read from a node. */
export function adminCredentials(
  secrets: ClusterSecrets,
  nowMs: number,
  lifeMs: number = ADMIN_LIFE,
): AdminCredentials | undefined {
  const [caPem, signer] = [secrets.files.get(TOKEN_CA_PATH), issuerOf(secrets, 'client-ca')]
  if (caPem === undefined || signer === undefined) return undefined
  const { privateKey, publicKey } = createKeyPair()
  const { pem } = issueCertificate(
    {
      subject: ADMIN_SUBJECT,
      publicKey,
      usages: ['clientAuth'],
      notBefore: new Date(nowMs - EARLIER),
      notAfter: new Date(nowMs + lifeMs),
    },
    signer,
  )
  return {
    caPem: caPem.reveal(),
    // Includes the CA above it, so that it is valid even if the API knows only the root, in the middle of a rotation.
    certificatePem: pem + (secrets.files.get('client-ca.crt')?.reveal() ?? ''),
    key: new Secret(privateKeyPem(privateKey)),
    fromMs: nowMs - EARLIER,
    untilMs: nowMs + lifeMs,
  }
}

function addAuthority(files: Map<string, Secret>, authority: string, nowMs: number): void {
  const subject: CertificateSubject = { commonName: `${authority.replace('/', '-')}-root@${seconds(nowMs)}` }
  const { privateKey, publicKey } = createKeyPair()
  const root = issueCertificate(
    {
      subject,
      publicKey,
      authority: true,
      notBefore: new Date(nowMs - EARLIER),
      notAfter: new Date(nowMs + 20 * YEAR),
    },
    { subject, privateKey },
  )
  files.set(rootKeyPath(authority), new Secret(ecPrivateKeyPem(privateKey)))
  addCa(files, authority, authority, { issuer: { subject, privateKey }, pem: root.pem }, nowMs)
}

interface Root {
  readonly issuer: CertificateIssuer
  readonly pem: string
}

function addCa(files: Map<string, Secret>, base: string, authority: string, root: Root, nowMs: number): void {
  const { privateKey, publicKey } = createKeyPair()
  const { pem } = issueCertificate(
    {
      subject: { commonName: `k3s-${authority.replace('/', '-')}@${seconds(nowMs)}` },
      publicKey,
      authority: true,
      notBefore: new Date(nowMs - EARLIER),
      notAfter: new Date(nowMs + 10 * YEAR),
    },
    root.issuer,
  )
  files.set(`${base}.crt`, new Secret(pem + root.pem))
  files.set(`${base}.key`, new Secret(ecPrivateKeyPem(privateKey)))
}

function rootOf({ files }: ClusterSecrets, authority: string): Root | undefined {
  const [chain, key] = [files.get(`${authority}.crt`)?.reveal(), files.get(rootKeyPath(authority))?.reveal()]
  const pem = chain?.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g)?.at(-1)
  if (pem === undefined || key === undefined) return undefined
  return { issuer: { subject: subjectOf(pem), privateKey: createPrivateKey(key) }, pem }
}

function issuerOf({ files }: ClusterSecrets, authority: string): CertificateIssuer | undefined {
  const [certificate, key] = [files.get(`${authority}.crt`)?.reveal(), files.get(`${authority}.key`)?.reveal()]
  if (certificate === undefined || key === undefined) return undefined
  return { subject: subjectOf(certificate), privateKey: createPrivateKey(key) }
}

function subjectOf(pem: string): CertificateSubject {
  const lines = new X509Certificate(pem).subject.split('\n')
  const all = (start: string) => lines.flatMap((line) => (line.startsWith(start) ? line.slice(start.length) : []))
  const organizations = all('O=')
  return { commonName: all('CN=')[0] ?? '', ...(organizations.length === 0 ? {} : { organizations }) }
}

function hashOf(files: ReadonlyMap<string, Secret>, nowMs: number): string {
  return caHash(Buffer.from(files.get(TOKEN_CA_PATH)?.reveal() ?? ''), nowMs)
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

const SERVER = '/var/lib/rancher/k3s/server'

/**
 * Reads a cluster's identity back from the disk of a running server. The roots' keys are not there: such a CA can be
 * used, but not rotated under its root.
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
      // A server with SQLite may lack etcd's authorities.
      if ((content === undefined || content === '') && path.startsWith('etcd/')) continue
      if (content === undefined || content === '')
        return { problem: `${server} has no ${path}: it is not a server of a cluster` }
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
