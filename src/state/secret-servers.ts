import { CliError } from '../lib/exit.ts'
import { isRecord } from '../lib/is-record.ts'
import { Secret, type ServerReference } from '../model/secret.ts'
import { askServer, encodedPath, originOf, type SecretServer, type ServerAccess } from './ask-server.ts'
import { inVault } from './vault-server.ts'

/** A value that a server of secrets keeps. Errors name the place and never what is in it. */
export async function fromSecretServer(reference: ServerReference, access: ServerAccess): Promise<Secret> {
  const value =
    'vault' in reference ? await inVault(reference.vault, access) : await inOnePassword(reference.onePassword, access)
  return new Secret(value)
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
    const answer = await askServer(server, 'GET', place)
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
  const inside = `/v1/vaults/${encodedPath(await idOf('/v1/vaults', vault, 'name'))}/items`
  const body = await get(`${inside}/${encodedPath(await idOf(inside, item, 'title'))}`)
  const fields = (isRecord(body) && Array.isArray(body.fields) ? body.fields : []).filter(isRecord)
  const found = fields.filter(({ id, label }) => label === field || id === field)
  const value = found[0]?.value
  if (found.length === 1 && typeof value === 'string' && value !== '') return value
  throw new CliError(
    `${what} is ${found.length > 1 ? 'there more than once: write its id' : 'not there: correct its label'}.`,
  )
}
