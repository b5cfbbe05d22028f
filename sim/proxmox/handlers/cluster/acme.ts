import { startTask } from '../../../world/tasks.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions, list } from '../collection.ts'
import { shelf, type Thing } from '../shelf.ts'

/** What each type of plugin takes, and whether it can be left out. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, 'needed' | 'optional'>>>> = {
  standalone: { nodes: 'optional', disable: 'optional' },
  dns: { api: 'needed', data: 'optional', nodes: 'optional', disable: 'optional', 'validation-delay': 'optional' },
}

const PLUGINS: Collection = {
  at: '/cluster/acme/plugins',
  key: 'id',
  shelf: (call) => {
    // The standalone plugin exists even if the file does not list it.
    const plugins = shelf(call.world, 'acme/plugins')
    if (!plugins.has('standalone')) plugins.set('standalone', { type: 'standalone' })
    return 'acme/plugins'
  },
  setWins: true,
  exists: (id) => failed(`ACME plugin ID '${id}' already exists`),
  missing: (id, verb) =>
    verb === 'delete'
      ? undefined
      : failed(verb === 'read' ? `ACME plugin '${id}' not defined` : `ACME plugin ID '${id}' does not exist`),
  prepare: (call, thing, id, old) => {
    const options = OPTIONS[String(thing.type)] ?? {}
    for (const name of deletions(call)) {
      if (options[name] === undefined) throw failed(`no such option '${name}'`)
      if (options[name] === 'needed') throw failed(`unable to delete required option '${name}'`)
    }
    for (const name of Object.keys(thing))
      if (name !== 'type' && options[name] === undefined) throw failed(`unexpected property '${name}'`)
    for (const [name, use] of Object.entries(options))
      if (old === undefined && use === 'needed' && thing[name] === undefined)
        throw failed(`missing value for required option '${name}'`)
    return id === 'standalone' && thing.type === undefined ? { type: 'standalone' } : thing
  },
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
  'GET /cluster/acme/plugins': (call) =>
    list(PLUGINS, call).filter(({ type }) => call.params.type === undefined || type === call.params.type),
  'GET /cluster/acme': () =>
    ['account', 'tos', 'meta', 'directories', 'plugins', 'challenge-schema'].map((name) => ({ name })),
  'GET /cluster/acme/account': (call) => [...shelf(call.world, 'acme/accounts').keys()].map((name) => ({ name })),
  'POST /cluster/acme/account': (call) => {
    const name = call.params.name ?? 'default'
    if (shelf(call.world, 'acme/accounts').has(name))
      throw badParameter('name', `ACME account config file '${name}' already exists.`)
    return change(call, 'acmeregister', (log) => {
      log('Generating ACME account key..')
      log('Registering ACME account..')
      shelf(call.world, 'acme/accounts').set(name, {
        account: { contact: contactOf(call), status: 'valid' },
        directory: call.params.directory ?? DIRECTORY,
        location: `https://acme.invalid/acct/${name}`,
        tos: call.params.tos_url ?? null,
      })
      log(`Registration successful, account URL: 'https://acme.invalid/acct/${name}'`)
    })
  },
  'GET /cluster/acme/account/{name}': need,
  'PUT /cluster/acme/account/{name}': (call) => {
    const contact = contactOf(call)
    const account = need(call)
    // Without anything new the authority is asked for what it has.
    if (contact.length === 0) return change(call, 'acmerefresh', () => {})
    return change(call, 'acmeupdate', () => {
      account.account = { contact, status: 'valid' }
    })
  },
  'DELETE /cluster/acme/account/{name}': (call) => {
    need(call)
    return change(call, 'acmedeactivate', (log) => {
      const name = param(call, 'name')
      const gone = shelf(call.world, 'acme/deactivated')
      const at = `/etc/pve/priv/acme`
      log(`Renaming account file from '${at}/${name}' to '${at}/_deactivated_${name}_${gone.size}'`)
      gone.set(`${name}_${gone.size}`, {})
      shelf(call.world, 'acme/accounts').delete(name)
    })
  },
}

function contactOf(call: Call): readonly string[] {
  return param(call, 'contact')
    .split(/[,;\s]+/)
    .filter((address) => address !== '')
    .map((address) => `mailto:${address}`)
}

function need(call: Call): Thing {
  const name = call.params.name ?? 'default'
  const account = shelf(call.world, 'acme/accounts').get(name)
  if (account === undefined) throw badParameter('name', `ACME account config file '${name}' does not exist.`)
  return account
}

function change(call: Call, type: string, deed: (log: (line: string) => void) => void): string {
  const [host] = call.world.hosts.values()
  if (host === undefined) throw failed('there is no node')
  return startTask(call.world, host, type, '', call.who.id, async (work) => {
    await work.pass(call.world.timing.shortTaskMs)
    deed((line) => work.log(line))
  })
}
