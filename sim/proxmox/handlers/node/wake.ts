import { parseProperties } from '../../../world/properties.ts'
import { ApiError, badParameter, failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { findOperation } from '../../validate/index.ts'
import { shelf, textOf } from '../shelf.ts'

/** What one host does to another, and several calls in one. */
export const nodeWakeRoutes: Routes = {
  'POST /nodes/{node}/wakeonlan': (call) => {
    const name = param(call, 'node')
    const [local] = call.world.hosts.keys()
    if (name === 'localhost' || name === local) throw failed(`'${name}' is local node, cannot wake my self!`)
    if (!call.world.hosts.has(name)) throw failed(`no such cluster node '${name}'`)
    const written = textOf(shelf(call.world, `node/${name}`).get('config')?.wakeonlan)
    const mac = parseProperties(written, 'mac').main
    if (mac === '') throw failed(`No wake on LAN MAC address defined for '${name}'!`)
    return mac
  },
  'POST /nodes/{node}/execute': async (call) => {
    const results: unknown[] = []
    for (const command of commandsOf(call)) results.push(await execute(call, command))
    return results
  },
}

interface Command {
  readonly path: string
  readonly method: string
  readonly args: Readonly<Record<string, unknown>>
}

function commandsOf(call: Call): readonly Command[] {
  const given: unknown = JSON.parse(param(call, 'commands'))
  const list = Array.isArray(given) ? (given as Partial<Command>[]) : []
  return list.map(({ path = '', method = 'GET', args = {} }) => ({ path, method, args }))
}

/** One that fails does not stop the others: what became of each stands in its place. */
async function execute(call: Call, { path, method, args }: Command): Promise<unknown> {
  const whole = `nodes/${param(call, 'node')}/${path}`
  const twice = Object.keys(args).find((name) => findOperation(method, `/${whole}`)?.pathParams[name] !== undefined)
  try {
    if (twice !== undefined) throw badParameter(twice, 'duplicate parameter')
    return { status: 200, data: (await call.perform(method, `/${whole}`, args)) ?? null }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 501) return { status: 500, message: `no handler for '${whole}'\n` }
    return {
      status: error.status,
      message: `${error.message}\n`,
      ...(error.errors === undefined ? {} : { errors: error.errors }),
    }
  }
}
