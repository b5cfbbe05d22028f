import { isRecord } from '../lib/is-record.ts'
import type { ServerReference } from '../model/secret.ts'
import type { ServerAnswer } from './ask-server.ts'

export type VaultPlace = Extract<ServerReference, { readonly vault: unknown }>['vault']

/** Further answers after a refusal, to explain it. */
export interface VaultLookups {
  /** About the token itself. */
  readonly token?: ServerAnswer
  /** About the engine with the secret. */
  readonly engine?: ServerAnswer
}

/** Returns the value of a key, or why there is none, in a sentence that names the place and never its content. */
export function vaultValue(
  { mount, path, key }: VaultPlace,
  answer: ServerAnswer,
  more: VaultLookups = {},
): { readonly value: string } | { readonly why: string } {
  const what = `The secret ${mount}/${path} (key ${key})`
  const { status, body } = answer
  const outer = isRecord(body) && isRecord(body.data) ? body.data : undefined
  if (status === 403) return { why: `${what}: ${refused(mount, path, more)}` }
  if (status === 404) return { why: `${what} ${notThere(mount, errorsOf(body), outer, more)}` }
  if (status === 503) return { why: `${what}: Vault is sealed. Unseal it.` }
  if (status === 307)
    return { why: `${what}: this Vault is a standby and sends elsewhere. Set VAULT_ADDR to the active one.` }
  if (status !== 200) return { why: `${what}: Vault answers HTTP ${status}.` }
  if (outer === undefined)
    return {
      why: `${what}: what answers is not the API of Vault. VAULT_ADDR is its address alone, without /ui or /v1.`,
    }
  if (!('metadata' in outer)) return { why: `${what}: ${notVersionTwo(mount)}` }
  const value = isRecord(outer.data) && Object.hasOwn(outer.data, key) ? outer.data[key] : undefined
  if (typeof value === 'number' || typeof value === 'boolean') return { value: String(value) }
  if (typeof value === 'string' && value !== '') return { value }
  return { why: `${what} has no text under that key. Correct the key.` }
}

function refused(mount: string, path: string, { token }: VaultLookups): string {
  // A token without the policy default may not ask about itself, so this is no proof.
  if (token !== undefined && token.status !== 200)
    return `Vault refuses it, and the token as well: it has expired, is used up (a wrapped one after its first use: unwrap it before), or is not of this Vault or namespace. Make a new one, or allow it to read ${mount}/data/${path}.`
  return `Vault refuses it. Allow the token to read ${mount}/data/${path}.`
}

function notThere(
  mount: string,
  errors: string,
  outer: Readonly<Record<string, unknown>> | undefined,
  { engine }: VaultLookups,
): string {
  const metadata = isRecord(outer?.metadata) ? outer.metadata : undefined
  if (metadata?.destroyed === true) return 'is destroyed in its newest version. Write it again.'
  if (metadata !== undefined)
    return `is deleted in its newest version. Write it again, or bring it back: bao kv undelete, or vault kv undelete.`
  if (/namespace not found/i.test(errors)) return 'is in a namespace that Vault does not have. Correct VAULT_NAMESPACE.'
  if (/no handler for route/i.test(errors)) return `is not in Vault: it has no engine at ${mount}. Correct mount.`
  if (versionOf(engine) === '1') return `cannot be read: ${notVersionTwo(mount)}`
  return 'is not in Vault. Correct mount and path.'
}

function notVersionTwo(mount: string): string {
  return `${mount} is not an engine KV version 2. Upgrade it: bao kv enable-versioning ${mount}, or vault kv enable-versioning ${mount}.`
}

/** Returns the version of a KV engine from `sys/internal/ui/mounts`, which every reader of the engine may call. */
function versionOf(engine: ServerAnswer | undefined): string | undefined {
  const data = isRecord(engine?.body) && isRecord(engine.body.data) ? engine.body.data : {}
  if (data.type !== 'kv') return undefined
  const version = isRecord(data.options) ? data.options.version : undefined
  return typeof version === 'string' ? version : '1'
}

function errorsOf(body: unknown): string {
  return isRecord(body) && Array.isArray(body.errors) ? body.errors.join(' ') : ''
}

/** Explains why a login with an AppRole failed. */
export function loginRefusal({ status }: ServerAnswer, mount: string): string {
  if (status === 503) return 'Vault is sealed. Unseal it.'
  if (status === 403 || status === 404)
    return `Vault has no AppRole at ${mount} (HTTP ${status}). Check VAULT_APPROLE_MOUNT and VAULT_NAMESPACE.`
  return `Vault refuses the login with the AppRole (HTTP ${status}). Check VAULT_ROLE_ID and VAULT_SECRET_ID, and whether the secret id has expired.`
}
