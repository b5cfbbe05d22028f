import { jsonIn } from '../lib/foreign-json.ts'
import { Secret } from '../model/secret.ts'
import type { CredentialProgram } from './kubeconfig-login.ts'
import { at, textOf } from './objects.ts'

/** The output of a credential program, with its expiry. */
export interface Credential {
  readonly token?: Secret
  readonly client?: { readonly certificatePem: string; readonly key: Secret }
  readonly untilMs?: number
}

/** Returns the value of KUBERNETES_EXEC_INFO. Pure. */
export function execInfo({ apiVersion, cluster }: CredentialProgram): string {
  const reach =
    cluster === undefined
      ? {}
      : { cluster: { server: cluster.server, 'certificate-authority-data': cluster['certificate-authority-data'] } }
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { ...reach, interactive: false } })
}

/** Parses the program's output, or returns why it is no credential. Never quotes it: it may hold the secret. Pure. */
export function readCredential(text: string, apiVersion: string): Credential | { readonly problem: string } {
  const printed = jsonIn(text)
  if (printed === undefined) return { problem: 'what it printed is not JSON' }
  if (at(printed, 'kind') !== 'ExecCredential' || at(printed, 'apiVersion') !== apiVersion)
    return { problem: `it printed no ExecCredential of ${apiVersion}` }
  const token = at(printed, 'status', 'token')
  const [certificatePem, key] = [at(printed, 'status', 'clientCertificateData'), at(printed, 'status', 'clientKeyData')]
  const until = Date.parse(textOf(at(printed, 'status', 'expirationTimestamp')) ?? '')
  const holds = Number.isNaN(until) ? {} : { untilMs: until }
  if (typeof token === 'string' && token !== '') return { token: new Secret(token), ...holds }
  if (typeof certificatePem === 'string' && typeof key === 'string')
    return { client: { certificatePem, key: new Secret(key) }, ...holds }
  return { problem: 'it gave neither a token nor a certificate with its key' }
}
