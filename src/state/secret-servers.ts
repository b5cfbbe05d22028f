import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { CliError } from '../lib/exit.ts'
import { jsonIn } from '../lib/foreign-json.ts'
import { isRecord } from '../lib/is-record.ts'
import { LIMITS } from '../lib/limits.ts'
import { exchange } from '../lib/outgoing.ts'
import { Secret, type ServerReference } from '../model/secret.ts'
import type { Environment } from './state-file.ts'

/** Of whoever runs croft: only the environment says which server is asked, and with what. */
interface ServerAccess {
  readonly env: Environment
  warn(message: string): void
}

/** A value that a server of secrets keeps. Errors name the place and never what is in it. */
export async function fromSecretServer(reference: ServerReference, access: ServerAccess): Promise<Secret> {
  const value =
    'vault' in reference ? await inVault(reference.vault, access) : await inOnePassword(reference.onePassword, access)
  return new Secret(value)
}

type VaultPlace = Extract<ServerReference, { readonly vault: unknown }>['vault']

async function inVault({ mount, path: at, key }: VaultPlace, access: ServerAccess): Promise<string> {
  const what = `The secret ${mount}/${at} (key ${key})`
  const setting = (name: string) => access.env[`BAO_${name}`] ?? access.env[`VAULT_${name}`]
  const address = setting('ADDR')
  if (address === undefined) throw new CliError(`${what} is in Vault. Set VAULT_ADDR (or BAO_ADDR) to its address.`)
  const file = setting('CACERT')
  const server: SecretServer = {
    name: 'Vault',
    origin: originOf(address, 'VAULT_ADDR', access),
    ...(file === undefined ? {} : { authority: await textOf(file, 'VAULT_CACERT') }),
    headers: {
      'x-vault-request': 'true',
      ...(setting('NAMESPACE') === undefined ? {} : { 'x-vault-namespace': setting('NAMESPACE') ?? '' }),
    },
  }
  const read = async (token: string) =>
    ask(
      { ...server, headers: { ...server.headers, 'x-vault-token': token } },
      'GET',
      `/v1/${encoded(mount)}/data/${encoded(at)}`,
    )
  const login = await vaultLogin(server, setting, access.env)
  let answer = await read(await login.token())
  if (answer.status === 403 && login.again !== undefined) answer = await read(await login.again())
  if (answer.status === 403)
    throw new CliError(`${what}: Vault refuses it. Allow the token to read ${mount}/data/${at}.`)
  if (answer.status === 404)
    throw new CliError(`${what} is not in Vault, or its version is deleted. Correct mount and path.`)
  if (answer.status === 503) throw new CliError(`${what}: Vault is sealed. Unseal it.`)
  if (answer.status !== 200) throw new CliError(`${what}: Vault answers HTTP ${answer.status}.`)
  const outer = isRecord(answer.body) && isRecord(answer.body.data) ? answer.body.data : {}
  if (!('metadata' in outer))
    throw new CliError(
      `${what}: ${mount} is not an engine KV version 2. Upgrade it: vault kv enable-versioning ${mount}.`,
    )
  const value = isRecord(outer.data) && Object.hasOwn(outer.data, key) ? outer.data[key] : undefined
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string' && value !== '') return value
  throw new CliError(`${what} has no text under that key. Correct the key.`)
}

/** Tokens that logins gave, by server and role: Vault says with 403 when one is over. */
const tokens = new Map<string, Promise<string>>()

async function vaultLogin(
  server: SecretServer,
  setting: (name: string) => string | undefined,
  env: Environment,
): Promise<{ token(): Promise<string>; again?(): Promise<string> }> {
  const given = setting('TOKEN')
  if (given !== undefined) return { token: async () => given.trim() }
  const role = setting('ROLE_ID')
  if (role === undefined) {
    const kept =
      env.HOME === undefined ? '' : await readFile(path.join(env.HOME, '.vault-token'), 'utf8').catch(() => '')
    if (kept.trim() !== '') return { token: async () => kept.trim() }
    throw new CliError('Vault asks for a token. Set VAULT_TOKEN, or VAULT_ROLE_ID and VAULT_SECRET_ID of an AppRole.')
  }
  const secretFile = setting('SECRET_ID_FILE')
  const secretId =
    setting('SECRET_ID') ?? (secretFile === undefined ? undefined : await textOf(secretFile, 'VAULT_SECRET_ID_FILE'))
  const name = `${server.origin.href} ${role}`
  const enter = () => {
    const entering = logIn(server, setting('APPROLE_MOUNT') ?? 'approle', role, secretId?.trim())
    tokens.set(name, entering)
    entering.catch(() => tokens.delete(name))
    return entering
  }
  return { token: () => tokens.get(name) ?? enter(), again: enter }
}

async function logIn(server: SecretServer, mount: string, role: string, secretId: string | undefined): Promise<string> {
  const body = { role_id: role, ...(secretId === undefined ? {} : { secret_id: secretId }) }
  const answer = await ask(server, 'POST', `/v1/auth/${encoded(mount)}/login`, body)
  const auth = isRecord(answer.body) && isRecord(answer.body.auth) ? answer.body.auth : {}
  if (answer.status === 200 && typeof auth.client_token === 'string') return auth.client_token
  throw new CliError(
    `Vault refuses the login with the AppRole (HTTP ${answer.status}). Check VAULT_ROLE_ID and VAULT_SECRET_ID, and whether the secret id has expired.`,
  )
}

type OnePasswordPlace = Extract<ServerReference, { readonly onePassword: unknown }>['onePassword']

async function inOnePassword({ vault, item, field }: OnePasswordPlace, access: ServerAccess): Promise<string> {
  const what = `The field ${field} of ${item} in the vault ${vault}`
  const { OP_CONNECT_HOST: host, OP_CONNECT_TOKEN: token } = access.env
  if (host === undefined || token === undefined)
    throw new CliError(`${what} is in 1Password. Set OP_CONNECT_HOST and OP_CONNECT_TOKEN to a Connect server.`)
  const server: SecretServer = {
    name: '1Password Connect',
    origin: originOf(host, 'OP_CONNECT_HOST', access),
    headers: { authorization: `Bearer ${token.trim()}` },
  }
  const get = async (place: string) => {
    const answer = await ask(server, 'GET', place)
    if (answer.status === 401 || answer.status === 403)
      throw new CliError(
        `${what}: 1Password Connect refuses it (HTTP ${answer.status}). Give the token access to that vault.`,
      )
    if (answer.status !== 200)
      throw new CliError(`${what} is not found: 1Password Connect answers HTTP ${answer.status}.`)
    return answer.body
  }
  const idOf = async (list: string, name: string, by: string) => {
    if (/^[a-z0-9]{26}$/.test(name)) return name
    const found = await get(`${list}?filter=${encodeURIComponent(`${by} eq ${JSON.stringify(name)}`)}`)
    const ids = (Array.isArray(found) ? found : []).filter(isRecord).map(({ id }) => id)
    const [id] = ids
    if (typeof id === 'string' && ids.length === 1) return id
    throw new CliError(
      `${what}: 1Password has ${ids.length === 0 ? 'none' : 'several'} called ${name}. Correct the name, or write the id.`,
    )
  }
  const inside = `/v1/vaults/${encoded(await idOf('/v1/vaults', vault, 'name'))}/items`
  const body = await get(`${inside}/${encoded(await idOf(inside, item, 'title'))}`)
  const fields = (isRecord(body) && Array.isArray(body.fields) ? body.fields : []).filter(isRecord)
  const found = fields.filter(({ id, label }) => label === field || id === field)
  const value = found[0]?.value
  if (found.length === 1 && typeof value === 'string' && value !== '') return value
  throw new CliError(
    `${what} is ${found.length > 1 ? 'there more than once: write its id' : 'not there: correct its label'}.`,
  )
}

interface SecretServer {
  readonly name: string
  readonly origin: URL
  readonly authority?: string
  readonly headers: Readonly<Record<string, string>>
}

async function ask(
  { name, origin, authority, headers }: SecretServer,
  method: 'GET' | 'POST',
  at: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const sent = body === undefined ? undefined : JSON.stringify(body)
  try {
    const { status, bytes } = await exchange(new URL(`${origin.pathname.replace(/\/+$/, '')}${at}`, origin), {
      method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(sent === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(sent)}` }),
      },
      body: sent,
      ca: authority,
      mostBytes: LIMITS.secretAnswerBytes,
    })
    return { status, body: jsonIn(Buffer.from(bytes).toString('utf8')) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new CliError(`${name} at ${origin.host} does not answer: ${code ?? message}.`)
  }
}

function originOf(address: string, variable: string, { warn }: ServerAccess): URL {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(`${variable} is not an address. Write it like https://vault.example.org:8200.`)
  if (url.protocol === 'http:' && !/^(?:localhost|127\..*|\[::1\])$/.test(url.hostname))
    warn(`${variable} is an http address: secrets pass the network in plain text; use https`)
  return url
}

async function textOf(file: string, variable: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`The file ${file} of ${variable} cannot be read (${error.code ?? 'error'}). Correct the path.`)
  })
}

/** Each part of a path by itself: no name leads to another part of the API. */
function encoded(at: string): string {
  const parts = at.split('/')
  // Encoding leaves them as they are, and an address with them is another one.
  if (parts.some((part) => part === '.' || part === '..'))
    throw new CliError(`${at} is not a name that a server of secrets has: it leads elsewhere. Correct it.`)
  return parts.map(encodeURIComponent).join('/')
}
