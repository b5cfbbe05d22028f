import { recordIn } from '../../lib/foreign-json.ts'
import { Secret } from '../../model/secret.ts'

/** The login in the secret of a Crossplane ProviderConfig. */
export type ProviderLogin =
  | { readonly endpoint: string; readonly token: Secret }
  /** Why it gives no connection. Names fields, never their values. */
  | { readonly problem: string }

const ENDPOINT = /^(https:\/\/(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[1-9][0-9]{0,4})?)(?:\/api2\/json)?\/?$/
const TOKEN = /^[^\s!=]+![^\s=]+=[^\s]+$/

/**
 * Parses the JSON in the Secret of a ProviderConfig of the bpg provider: endpoint, api_token, insecure. `pinned`: the
 * ProviderConfig names the certificate's fingerprint, so `insecure` is not needed. Pure.
 */
export function readProviderCredentials(text: string, pinned: boolean): ProviderLogin {
  const fields = recordIn(text)
  if (fields === undefined) return { problem: 'it is not a JSON object with endpoint and api_token' }
  const endpoint = ENDPOINT.exec(wordOf(fields.endpoint))?.[1]
  if (endpoint === undefined)
    return { problem: 'its endpoint is not an address like https://192.168.4.175:8006, without user or query' }
  const token = wordOf(fields.api_token)
  if (token === '') return { problem: `it has no api_token${otherLogin(fields)}` }
  if (!TOKEN.test(token)) return { problem: 'its api_token does not look like user@realm!name=secret' }
  if (isYes(fields.insecure) && !pinned)
    return {
      problem:
        'it says insecure, and croft sends no token to a certificate that it cannot verify; ' +
        'give the ProviderConfig the annotation croft.dev/fingerprint with the SHA-256 of the certificate',
    }
  return { endpoint, token: new Secret(token) }
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** The provider reads every field as text; people also write a JSON boolean. */
function isYes(value: unknown): boolean {
  return value === true || ['true', '1', 't'].includes(wordOf(value).toLowerCase())
}

function otherLogin(fields: Readonly<Record<string, unknown>>): string {
  if (wordOf(fields.password) !== '') return ', only a user and a password; make an API token, which croft logs in with'
  return wordOf(fields.auth_ticket) === '' ? '' : ', only a ticket, which ends after two hours; make an API token'
}
