import { hexDigits } from '../../../world/chance.ts'
import { ApiError, failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'

/** Second factors. Only recovery keys can be set up: the others need a device at the other end. */
export const accessTfaRoutes: Routes = {
  'GET /access/tfa': (call) =>
    [...shelf(call.world, 'tfa')]
      .filter(([, user]) => entriesOf(user).length > 0)
      .map(([userid, user]) => ({ userid, entries: entriesOf(user) })),
  'GET /access/tfa/{userid}': (call) => entriesOf(shelf(call.world, 'tfa').get(param(call, 'userid'))),
  'GET /access/tfa/{userid}/{id}': need,
  'POST /access/tfa/{userid}': add,
  'PUT /access/tfa/{userid}/{id}': (call) => {
    const entry = need(call)
    const { description, enable } = call.params
    if (description !== undefined) entry.description = description
    if (enable === '1') delete entry.enable
    else if (enable === '0') entry.enable = 0
    return null
  },
  'DELETE /access/tfa/{userid}/{id}': (call) => {
    const entry = need(call)
    const user = shelf(call.world, 'tfa').get(param(call, 'userid'))
    if (user !== undefined) user.entries = entriesOf(user).filter((one) => one !== entry)
    return null
  },
  'GET /access/users/{userid}/tfa': (call) => {
    const types = [...new Set(entriesOf(shelf(call.world, 'tfa').get(param(call, 'userid'))).map((one) => one.type))]
    if (call.params.multiple === '1') return { user: types }
    return types.length === 0 ? {} : { user: types[0] }
  },
  'PUT /access/users/{userid}/unlock-tfa': () => 0,
}

export function entriesOf(user: Thing | undefined): Thing[] {
  return Array.isArray(user?.entries) ? (user.entries as Thing[]) : []
}

function need(call: Call): Thing {
  const id = param(call, 'id')
  const found = entriesOf(shelf(call.world, 'tfa').get(param(call, 'userid'))).find((entry) => entry.id === id)
  if (found === undefined) throw new ApiError(404, `No such tfa entry '${id}'`)
  return found
}

const RECOVERY_KEYS = 10

function add(call: Call): Thing {
  const { world } = call
  const userid = param(call, 'userid')
  const type = param(call, 'type')
  if (type !== 'recovery') {
    if (call.params.description === undefined) throw failed("'description' is required for new entries")
    throw failed(`a second factor of type '${type}' is not simulated`)
  }
  const users = shelf(world, 'tfa')
  const entries = entriesOf(users.get(userid))
  if (entries.some((entry) => entry.id === 'recovery')) throw failed('user already has recovery keys')
  const created = Math.floor(world.clock.now() / 1000)
  users.set(userid, { entries: [...entries, { id: 'recovery', type: 'recovery', created }] })
  const key = () => hexDigits(world.random, 16).replace(/(....)(?=.)/g, '$1-')
  return { id: 'recovery', recovery: Array.from({ length: RECOVERY_KEYS }, key) }
}
