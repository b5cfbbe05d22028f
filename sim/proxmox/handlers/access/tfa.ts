import { may } from '../../../world/access.ts'
import { hexDigits, uuid } from '../../../world/chance.ts'
import { ApiError, failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'
import { confirm } from './confirm.ts'
import { isCodeOf, parseTotp } from './totp.ts'

/** Second factors. Recovery keys and numbers of the time can be set up: the others need a device at the other end. */
export const accessTfaRoutes: Routes = {
  'GET /access/tfa': (call) =>
    [...shelf(call.world, 'tfa')]
      .filter(([userid, user]) => entriesOf(user).length > 0 && seesFactors(call, userid))
      .map(([userid, user]) => ({ userid, entries: entriesOf(user) })),
  'GET /access/tfa/{userid}': (call) => entriesOf(shelf(call.world, 'tfa').get(param(call, 'userid'))),
  'GET /access/tfa/{userid}/{id}': need,
  'POST /access/tfa/{userid}': add,
  'PUT /access/tfa/{userid}/{id}': (call) => {
    confirm(call)
    const entry = find(call) ?? noSuchEntry()
    const { description, enable } = call.params
    if (description !== undefined) entry.description = description
    if (enable === '1') delete entry.enable
    else if (enable === '0') entry.enable = 0
    return null
  },
  'DELETE /access/tfa/{userid}/{id}': (call) => {
    confirm(call)
    const entry = find(call) ?? noSuchEntry()
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

function find(call: Call): Thing | undefined {
  const id = param(call, 'id')
  return entriesOf(shelf(call.world, 'tfa').get(param(call, 'userid'))).find((entry) => entry.id === id)
}

function need(call: Call): Thing {
  const found = find(call)
  if (found === undefined) throw new ApiError(404, `No such tfa entry '${param(call, 'id')}'`)
  return found
}

function noSuchEntry(): never {
  throw failed('no such entry')
}

/** One's own, and those of users in groups that one may look after. */
function seesFactors(call: Call, userid: string): boolean {
  const { world, who } = call
  if (userid === who.id) return true
  const groups = [...world.access.groups].filter(([, { users }]) => users.has(userid)).map(([name]) => `/${name}`)
  return ['', ...groups].some((group) =>
    ['User.Modify', 'Sys.Audit'].some((privilege) => may(world, who, `/access/groups${group}`, privilege)),
  )
}

const RECOVERY_KEYS = 10

function add(call: Call): Thing {
  confirm(call)
  const { totp, value, challenge, description } = call.params
  const type = param(call, 'type')
  if (type === 'recovery') {
    if ((totp ?? value ?? challenge) !== undefined)
      throw failed('generating recovery tokens does not allow additional parameters')
    return addRecovery(call)
  }
  if (type === 'totp') {
    if (challenge !== undefined) throw failed("'challenge' parameter is invalid for 'totp' entries")
    if (description === undefined) throw failed("'description' is required for new entries")
    return addTotp(call, description)
  }
  if (totp !== undefined && type !== 'yubico') throw failed(`'totp' parameter is invalid for '${type}' entries`)
  if (type === 'webauthn' || type === 'u2f') throw failed(`no ${type} configuration available`)
  if (description === undefined) throw failed("'description' is required for new entries")
  throw failed(`a second factor of type '${type}' is not simulated`)
}

function addTotp(call: Call, description: string): Thing {
  const { world, params } = call
  if (params.totp === undefined || params.value === undefined)
    throw failed("'totp' type requires both 'totp' and 'value' parameters")
  const totp = parseTotp(params.totp)
  if (typeof totp === 'string') throw failed(totp)
  if (!isCodeOf(totp, params.value, world.clock.now())) throw failed('failed to verify TOTP challenge')
  const id = uuid(world.random)
  keep(call, { id, type: 'totp', description })
  return { id }
}

function addRecovery(call: Call): Thing {
  const { world } = call
  const entries = entriesOf(shelf(world, 'tfa').get(param(call, 'userid')))
  if (entries.some((entry) => entry.id === 'recovery')) throw failed('user already has recovery keys')
  keep(call, { id: 'recovery', type: 'recovery' })
  const key = () => hexDigits(world.random, 16).replace(/(....)(?=.)/g, '$1-')
  return { id: 'recovery', recovery: Array.from({ length: RECOVERY_KEYS }, key) }
}

function keep({ world, params }: Call, entry: Thing): void {
  const users = shelf(world, 'tfa')
  const userid = params.userid ?? ''
  const created = Math.floor(world.clock.now() / 1000)
  users.set(userid, { entries: [...entriesOf(users.get(userid)), { ...entry, created }] })
}
