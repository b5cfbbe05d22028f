import { startTask } from '../../world/tasks.ts'
import { ApiError, badParameter, failed } from '../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../call.ts'
import { type Collection, collectionRoutes } from './collection.ts'
import { shelf } from './shelf.ts'

const PLUGINS: Collection = {
  at: '/cluster/acme/plugins',
  key: 'id',
  shelf: 'acme/plugins',
  exists: (id) => failed(`ACME plugin ID '${id}' already defined`),
  missing: (id, verb) => failed(verb === 'read' ? `ACME plugin '${id}' not found` : `no such ACME plugin '${id}'`),
  row: (_, thing, plugin) => ({ ...readable(thing), plugin }),
  listed: (_, thing, _id, digest) => ({ ...thing, digest }),
}

/** `data` is sent in base64 and shown as the lines that it holds. */
function readable<T extends Readonly<Record<string, unknown>>>(thing: T): T {
  return typeof thing.data === 'string' ? { ...thing, data: Buffer.from(thing.data, 'base64').toString('utf8') } : thing
}

const DIRECTORY = 'https://acme-v02.api.letsencrypt.org/directory'

/** Accounts at an authority that gives out certificates. No authority is asked. */
export const acmeRoutes: Routes = {
  ...collectionRoutes(PLUGINS),
  'GET /cluster/acme': () =>
    ['account', 'plugins', 'tos', 'meta', 'directories', 'challenge-schema'].map((name) => ({ name })),
  'GET /cluster/acme/directories': () => [{ name: "Let's Encrypt V2", url: DIRECTORY }],
  'GET /cluster/acme/account': (call) => [...shelf(call.world, 'acme/accounts').keys()].map((name) => ({ name })),
  'POST /cluster/acme/account': (call) => {
    const name = call.params.name ?? 'default'
    if (shelf(call.world, 'acme/accounts').has(name))
      throw badParameter('name', `ACME account config file '${name}' already exists.`)
    return change(call, 'acmeregister', name, () => {
      const contact = param(call, 'contact')
        .split(/[,;\s]+/)
        .map((address) => `mailto:${address}`)
      shelf(call.world, 'acme/accounts').set(name, {
        account: { contact, status: 'valid' },
        directory: call.params.directory ?? DIRECTORY,
        location: `https://acme.invalid/acct/${name}`,
        tos: call.params.tos_url ?? null,
      })
    })
  },
  'GET /cluster/acme/account/{name}': need,
  'PUT /cluster/acme/account/{name}': (call) => {
    const account = need(call)
    return change(call, 'acmeupdate', param(call, 'name'), () => {
      const contact = param(call, 'contact')
        .split(/[,;\s]+/)
        .map((address) => `mailto:${address}`)
      account.account = { contact, status: 'valid' }
    })
  },
  'DELETE /cluster/acme/account/{name}': (call) => {
    need(call)
    return change(call, 'acmedeactivate', param(call, 'name'), () => {
      shelf(call.world, 'acme/accounts').delete(param(call, 'name'))
    })
  },
  'POST /nodes/{node}/certificates/custom': (call) => {
    const things = shelf(call.world, `node/${hostOf(call).name}`)
    const before = things.get('certificate')
    if (call.params.key === undefined && before === undefined)
      throw badParameter('key', 'Attempted to upload custom certificate without (existing) key.')
    if (before !== undefined && call.params.force !== '1')
      throw failed('Custom certificate file exists but force flag is not set.')
    const own = { filename: 'pveproxy-ssl.pem', pem: param(call, 'certificates') }
    things.set('certificate', own)
    return own
  },
  'POST /nodes/{node}/certificates/acme/certificate': (call) => {
    if (shelf(call.world, `node/${hostOf(call).name}`).has('certificate') && call.params.force !== '1')
      throw badParameter('force', "Custom certificate exists but 'force' is not set.")
    return order(call)
  },
  'PUT /nodes/{node}/certificates/acme/certificate': (call) => {
    if (!shelf(call.world, `node/${hostOf(call).name}`).has('certificate'))
      throw failed('No current (custom) certificate found, please order a new certificate!')
    return order(call)
  },
  'DELETE /nodes/{node}/certificates/acme/certificate': order,
  'DELETE /nodes/{node}/certificates/custom': (call) => {
    shelf(call.world, `node/${hostOf(call).name}`).delete('certificate')
    return null
  },
}

/** No authority is asked: what is missing on the way there is all that can be told. */
function order(call: Call): never {
  const config = shelf(call.world, `node/${hostOf(call).name}`).get('config') ?? {}
  if (!Object.keys(config).some((name) => name.startsWith('acme')))
    throw new ApiError(400, 'ACME domain list in node configuration is missing!')
  throw failed("ACME account config file 'default' does not exist.")
}

function need(call: Call) {
  const name = call.params.name ?? 'default'
  const account = shelf(call.world, 'acme/accounts').get(name)
  if (account === undefined) throw badParameter('name', `ACME account config file '${name}' does not exist.`)
  return account
}

function change(call: Call, type: string, name: string, deed: () => void): string {
  const [host] = call.world.hosts.values()
  if (host === undefined) throw failed('there is no node')
  return startTask(call.world, host, type, name, call.who.id, async (work) => {
    await work.pass(call.world.timing.shortTaskMs)
    deed()
  })
}
