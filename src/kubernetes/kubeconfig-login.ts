import { cleanText } from '../lib/clean-text.ts'
import { Secret } from '../model/secret.ts'
import { contextIn, decoded } from './kubeconfig.ts'
import { type Foreign, isRecord, recordsOf } from './objects.ts'

/** The credentials of a kubeconfig. */
export type Login =
  | { readonly by: 'certificate'; readonly certificatePem: string; readonly key: Secret }
  | { readonly by: 'token'; readonly token: Secret }
  | { readonly by: 'program'; readonly program: CredentialProgram }

/** A program that prints credentials: `aws eks get-token`, `gke-gcloud-auth-plugin`, `kubelogin`. */
export interface CredentialProgram {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Cluster information for the program, if it wants it. */
  readonly cluster?: Foreign
}

export interface KubeconfigLogin {
  readonly endpoint: string
  /** Absent: the system's trust store. */
  readonly caPem?: string
  readonly login: Login
}

/** Where a kubeconfig comes from, which decides what it may do on this computer. */
export interface KubeconfigOrigin {
  /** The administrator put it on this computer: it may name files here, and programs. What comes out of Git may not. */
  readonly local: boolean
  /** Files that it names, read before: undefined for one that could not be read. */
  file(name: string): string | undefined
}

/** Versions of the answer of a credential program that croft reads. */
const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/** Variables that change how the program itself is loaded: only the administrator may set them. */
const LOADING = /^(?:LD_|DYLD_|PATH$|HOME$|NODE_OPTIONS$|PYTHON|PERL|RUBY|BASH_ENV$|ENV$|SHELLOPTS$)/

/** Returns the login of a kubeconfig's context, or why there is none. Pure. */
export function readLogin(
  text: string,
  context: string | undefined,
  origin: KubeconfigOrigin,
): KubeconfigLogin | { readonly problem: string } {
  const found = contextIn(text, context)
  if ('problem' in found) return found
  const { cluster, user } = found
  for (const field of ['insecure-skip-tls-verify', 'proxy-url', 'tls-server-name'])
    if (field in cluster && cluster[field] !== false) {
      const advice = field === 'proxy-url' ? '; set spec.proxy of the Cluster' : ''
      return { problem: `its cluster has ${field}, which croft does not follow${advice}` }
    }
  const endpoint = cluster.server
  if (typeof endpoint !== 'string' || !endpoint.startsWith('https://'))
    return { problem: 'its server is not an https address' }
  const ca = either(cluster, 'certificate-authority', origin)
  if ('problem' in ca) return ca
  const login = loginOf(user, cluster, origin)
  if ('problem' in login) return login
  return { endpoint, ...(ca.text === undefined ? {} : { caPem: ca.text }), login }
}

/** Returns the files that a kubeconfig names, in the order of its fields, for `Origin.file`. Pure. */
export function filesNamedIn(text: string, context: string | undefined): readonly string[] {
  const found = contextIn(text, context)
  if ('problem' in found) return []
  const names = [
    found.cluster['certificate-authority'],
    found.user['client-certificate'],
    found.user['client-key'],
    found.user.tokenFile,
  ]
  return names.filter((name): name is string => typeof name === 'string' && name !== '')
}

function loginOf(user: Foreign, cluster: Foreign, origin: KubeconfigOrigin): Login | { readonly problem: string } {
  for (const field of ['auth-provider', 'username', 'password'])
    if (field in user) return { problem: `its user has ${field}, which croft does not follow` }
  if ('exec' in user) return programOf(user.exec, cluster, origin)
  const [certificate, key] = [either(user, 'client-certificate', origin), either(user, 'client-key', origin)]
  if ('problem' in certificate) return certificate
  if ('problem' in key) return key
  if (certificate.text !== undefined && key.text !== undefined)
    return { by: 'certificate', certificatePem: certificate.text, key: new Secret(key.text) }
  const token = tokenOf(user, origin)
  if ('problem' in token) return token
  if (token.text !== undefined) return { by: 'token', token: new Secret(token.text) }
  return { problem: 'its user has no client certificate with its key, no token and no exec' }
}

type Text = { readonly text: string | undefined } | { readonly problem: string }

/** `x-data`, or the file that `x` names. */
function either(record: Foreign, field: string, origin: KubeconfigOrigin): Text {
  const inside = record[`${field}-data`]
  if (inside !== undefined) {
    const text = decoded(inside)
    return text === undefined ? { problem: `its ${field}-data is not base64` } : { text }
  }
  return fileOf(record, field, origin)
}

function tokenOf(user: Foreign, origin: KubeconfigOrigin): Text {
  if (typeof user.token === 'string' && user.token !== '') return { text: user.token }
  const read = fileOf(user, 'tokenFile', origin)
  return 'problem' in read ? read : { text: read.text?.trim() }
}

function fileOf(record: Foreign, field: string, { local, file }: KubeconfigOrigin): Text {
  const name = record[field]
  if (typeof name !== 'string' || name === '') return { text: undefined }
  if (!local)
    return {
      problem: `it names a file (${field}), and only a kubeconfig of this computer may; put the content into it`,
    }
  const text = file(name)
  return text === undefined ? { problem: `the file ${cleanText(name, 200)} (${field}) cannot be read` } : { text }
}

function programOf(exec: unknown, cluster: Foreign, { local }: KubeconfigOrigin): Login | { readonly problem: string } {
  if (!local)
    return {
      problem: 'its user has exec, and croft runs a program only for a kubeconfig of this computer (file or env)',
    }
  if (!isRecord(exec) || typeof exec.command !== 'string') return { problem: 'its exec names no command' }
  const { apiVersion, command, interactiveMode } = exec
  if (typeof apiVersion !== 'string' || !EXEC_VERSIONS.includes(apiVersion))
    return { problem: `its exec speaks ${cleanText(String(apiVersion), 100)}; croft knows ${EXEC_VERSIONS.join(', ')}` }
  if (interactiveMode === 'Always') return { problem: 'its exec plugin needs a terminal, and there is none' }
  const env: Record<string, string> = {}
  for (const { name, value } of recordsOf(exec.env)) {
    if (typeof name !== 'string' || typeof value !== 'string') continue
    if (LOADING.test(name)) return { problem: `its exec sets ${cleanText(name, 100)}, which croft does not pass on` }
    env[name] = value
  }
  const args = Array.isArray(exec.args) ? exec.args.filter((one) => typeof one === 'string') : []
  return {
    by: 'program',
    program: { apiVersion, command, args, env, ...(exec.provideClusterInfo === true ? { cluster } : {}) },
  }
}
