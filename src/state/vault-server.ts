import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { CliError } from '../lib/exit.ts'
import { isRecord } from '../lib/is-record.ts'
import {
  askServer,
  encodedPath,
  originOf,
  type SecretServer,
  type ServerAccess,
  type ServerAnswer,
  textOfFile,
} from './ask-server.ts'
import type { Environment } from './state-file.ts'
import { loginRefusal, type VaultLookups, type VaultPlace, vaultValue } from './vault-answers.ts'

/** A value of a KV engine of version 2, in Vault or OpenBao. */
export async function inVault(place: VaultPlace, access: ServerAccess): Promise<string> {
  const { mount, path: at, key } = place
  const setting = (name: string) => access.env[`BAO_${name}`] ?? access.env[`VAULT_${name}`]
  const address = setting('ADDR')
  if (address === undefined)
    throw new CliError(
      `The secret ${mount}/${at} (key ${key}) is in Vault. Set VAULT_ADDR (or BAO_ADDR) to its address.`,
    )
  const file = setting('CACERT')
  const namespace = setting('NAMESPACE')
  const server: SecretServer = {
    name: 'Vault',
    origin: originOf(address, 'VAULT_ADDR', access),
    ...(file === undefined ? {} : { authority: await textOfFile(file, 'VAULT_CACERT') }),
    headers: {
      'x-vault-request': 'true',
      ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
    },
  }
  const asked = `/v1/${encodedPath(mount)}/data/${encodedPath(at)}`
  const login = await vaultLogin(server, setting, access.env)
  let token = await login.token()
  let answer = await askServer(withToken(server, token), 'GET', asked)
  if (answer.status === 403 && login.again !== undefined) {
    token = await login.again()
    answer = await askServer(withToken(server, token), 'GET', asked)
  }
  const found = vaultValue(place, answer, await lookUp(answer, mount, server, token))
  if ('why' in found) throw new CliError(found.why)
  return found.value
}

function withToken(server: SecretServer, token: string): SecretServer {
  return { ...server, headers: { ...server.headers, 'x-vault-token': token } }
}

/** Asks Vault for details, only after an error: it answers alike for different mistakes. */
async function lookUp(
  { status }: ServerAnswer,
  mount: string,
  server: SecretServer,
  token: string,
): Promise<VaultLookups> {
  const get = (at: string) => askServer(withToken(server, token), 'GET', at)
  if (status === 404) return { engine: await get(`/v1/sys/internal/ui/mounts/${encodedPath(mount)}`) }
  return status === 403 ? { token: await get('/v1/auth/token/lookup-self') } : {}
}

/** Tokens that logins gave, by server, namespace and role: Vault says with 403 when one is over. */
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
    setting('SECRET_ID') ??
    (secretFile === undefined ? undefined : await textOfFile(secretFile, 'VAULT_SECRET_ID_FILE'))
  const mount = setting('APPROLE_MOUNT') ?? 'approle'
  const name = JSON.stringify([server.origin.href, setting('NAMESPACE'), mount, role])
  const enter = () => {
    const entering = logIn(server, mount, role, secretId?.trim())
    tokens.set(name, entering)
    entering.catch(() => tokens.delete(name))
    return entering
  }
  return { token: () => tokens.get(name) ?? enter(), again: enter }
}

async function logIn(server: SecretServer, mount: string, role: string, secretId: string | undefined): Promise<string> {
  const body = { role_id: role, ...(secretId === undefined ? {} : { secret_id: secretId }) }
  const answer = await askServer(server, 'POST', `/v1/auth/${encodedPath(mount)}/login`, body)
  const auth = isRecord(answer.body) && isRecord(answer.body.auth) ? answer.body.auth : {}
  if (answer.status === 200 && typeof auth.client_token === 'string') return auth.client_token
  throw new CliError(loginRefusal(answer, mount))
}
