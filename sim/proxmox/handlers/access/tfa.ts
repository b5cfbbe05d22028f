import { may } from '../../../world/access.ts'
import { hexDigits, uuid } from '../../../world/chance.ts'
import { parseProperties } from '../../../world/properties.ts'
import { ApiError, failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'
import { confirm } from './confirm.ts'
import {
  entriesOf,
  factorsOf,
  forgetFactors,
  locksOf,
  makeFactors,
  seconds,
  unlock,
  usersWithFactors,
} from './second-factor.ts'
import { isCodeOf, parseTotp } from './totp.ts'

/** Second factors. Recovery keys and numbers of the time can be set up: the others need a device at the other end. */
export const accessTfaRoutes: Routes = {
  'GET /access/tfa': (call) =>
    usersWithFactors(call.world)
      .filter((userid) => seesFactors(call, userid))
      .map((userid) => ({ userid, entries: listed(call, userid), ...locksOf(call.world, userid) })),
  'GET /access/tfa/{userid}': (call) => listed(call, param(call, 'userid')),
  'GET /access/tfa/{userid}/{id}': (call) => {
    const found = listed(call, param(call, 'userid')).find((entry) => entry.id === param(call, 'id'))
    if (found === undefined) throw new ApiError(404, `No such tfa entry '${param(call, 'id')}'`)
    return found
  },
  'POST /access/tfa/{userid}': add,
  'PUT /access/tfa/{userid}/{id}': (call) => {
    confirm(call)
    // Recovery keys have neither a description nor a switch.
    const entry = find(call)
    if (entry === undefined || entry.type === 'recovery') throw failed('no such entry')
    const { description, enable } = call.params
    if (description !== undefined) entry.description = description
    if (enable === '1') delete entry.enable
    else if (enable === '0') entry.enable = 0
    return null
  },
  'DELETE /access/tfa/{userid}/{id}': (call) => {
    confirm(call)
    const entry = find(call)
    const factors = factorsOf(call.world, param(call, 'userid'))
    if (entry === undefined || factors === undefined) throw failed('no such entry')
    factors.entries.splice(factors.entries.indexOf(entry), 1)
    factors.totp.delete(textOf(entry.id))
    if (entry.type === 'recovery') factors.recovery = []
    if (factors.entries.length > 0) return null
    forgetFactors(call.world, param(call, 'userid'))
    delete call.world.access.users.get(param(call, 'userid'))?.details.keys
    return null
  },
  'GET /access/users/{userid}/tfa': kinds,
  'PUT /access/users/{userid}/unlock-tfa': (call) => {
    const locked = unlock(call.world, param(call, 'userid'))
    if (locked === undefined) throw failed('no such user')
    return locked ? 1 : 0
  },
}

/** What has no description says nothing of one. */
function listed(call: Call, userid: string): Thing[] {
  return entriesOf(factorsOf(call.world, userid)).map(({ description, ...entry }) =>
    description === undefined || description === '' ? entry : { ...entry, description },
  )
}

function find(call: Call): Thing | undefined {
  return factorsOf(call.world, param(call, 'userid'))?.entries.find((entry) => entry.id === param(call, 'id'))
}

const OLD_NAMES: Readonly<Record<string, string>> = { u2f: 'u2f', totp: 'oath', yubico: 'yubico' }

/** One kind in the words of old, or all in those of now. Recovery keys are no list, and what counts them fails. */
function kinds(call: Call): Thing {
  const userid = param(call, 'userid')
  const realm = userid.replace(/^.*@/, '')
  const tfa = realmTfa(call, realm)
  const types = new Set(entriesOf(factorsOf(call.world, userid)).map((entry) => textOf(entry.type)))
  const ofRealm = tfa === undefined ? {} : { realm: tfa }
  if (call.params.multiple === '1') {
    if (types.has('recovery')) throw failed('Not an ARRAY reference at /usr/share/perl5/PVE/API2/User.pm line 640.')
    return { ...ofRealm, user: [...types] }
  }
  if (types.size === 0) return ofRealm
  const first = Object.keys(OLD_NAMES).find((type) => types.has(type))
  return { ...ofRealm, user: first === undefined ? 'incompatible' : OLD_NAMES[first] }
}

/** The kind that a realm asks of everybody. */
function realmTfa(call: Call, realm: string): string | undefined {
  const kept = shelf(call.world, 'realms').get(realm)
  if (kept === undefined && !/^(pam|pve)$/.test(realm)) throw failed(`auth domain '${realm}' does not exist`)
  return kept?.tfa === undefined ? undefined : parseProperties(textOf(kept.tfa)).named.get('type')
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

function add(call: Call): Thing {
  confirm(call)
  const userid = param(call, 'userid')
  const { totp, value, challenge, description } = call.params
  const type = param(call, 'type')
  if (type === 'yubico') refuseYubico(call, userid.replace(/^.*@/, ''))
  // That there is a second factor is noted down before it is known whether there is one.
  const user = call.world.access.users.get(userid)
  if (user !== undefined) user.details.keys = 'x'
  if (type === 'recovery') {
    if ((totp ?? value ?? challenge) !== undefined)
      throw failed('generating recovery tokens does not allow additional parameters')
    return addRecovery(call)
  }
  if (type === 'totp') {
    if (challenge !== undefined) throw failed("'challenge' parameter is invalid for 'totp' entries")
    return addTotp(call, needDescription(description))
  }
  if (totp !== undefined) throw failed(`'totp' parameter is invalid for '${type}' entries`)
  if (challenge === undefined) needDescription(description)
  else if (value === undefined) throw failed(`missing 'value' parameter (${type} challenge response missing)`)
  const settings = textOf(shelf(call.world, 'options').get('datacenter')?.[type])
  if (settings === '') throw failed(`no ${type} configuration available`)
  if (challenge !== undefined) throw failed(complaintOfResponse(type, textOf(value)))
  makeFactors(call.world, userid)
  const text = JSON.stringify(type === 'u2f' ? u2fChallenge(call, settings) : keyChallenge(call, userid, settings))
  return { id: null, challenge: text }
}

function needDescription(description: string | undefined): string {
  if (description === undefined) throw failed("'description' is required for new entries")
  return description
}

/** There is no device that could have answered. */
function complaintOfResponse(type: string, value: string): string {
  if (type === 'u2f') return 'no such challenge'
  try {
    const response: unknown = JSON.parse(value)
    const id = typeof response === 'object' && response !== null && 'id' in response
    return id ? 'no such challenge' : 'error parsing challenge response: missing field `id` at line 1 column 2'
  } catch {
    return 'error parsing challenge response: expected value at line 1 column 1'
  }
}

const base64url = (call: Call) => Buffer.from(hexDigits(call.world.random, 64), 'hex').toString('base64url')

function u2fChallenge(call: Call, settings: string): Thing {
  return { challenge: base64url(call), version: 'U2F_V2', appId: parseProperties(settings).named.get('appid') ?? '' }
}

/** What a browser asks a key for. */
function keyChallenge(call: Call, userid: string, settings: string): Thing {
  const { named } = parseProperties(settings)
  return {
    publicKey: {
      rp: { name: named.get('rp') ?? '', id: named.get('id') ?? '' },
      user: { id: Buffer.from(userid).toString('base64url'), name: userid, displayName: userid },
      challenge: base64url(call),
      pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
      timeout: 60_000,
      attestation: 'none',
    },
  }
}

/** Keys of this maker are looked up where the realm says, and nobody can be asked from here. */
function refuseYubico(call: Call, realm: string): never {
  const tfa = realmTfa(call, realm)
  if (tfa === undefined) throw failed(`no yubico otp configuration available for realm ${realm}`)
  if (tfa !== 'yubico') throw failed('realm is not setup for Yubico OTP')
  throw failed("Invalid response from server: 500 Can't connect to api.yubico.com:443 (Connection refused)")
}

function addTotp(call: Call, description: string): Thing {
  const { world, params } = call
  if (params.totp === undefined || params.value === undefined)
    throw failed("'totp' type requires both 'totp' and 'value' parameters")
  const totp = parseTotp(params.totp)
  if (typeof totp === 'string') throw failed(totp)
  if (!isCodeOf(totp, params.value, world.clock.now())) throw failed('failed to verify TOTP challenge')
  const id = uuid(world.random)
  const factors = makeFactors(world, param(call, 'userid'))
  factors.entries.push({ id, type: 'totp', description, created: seconds(call.world) })
  factors.totp.set(id, params.totp)
  return { id }
}

const RECOVERY_KEYS = 10

function addRecovery(call: Call): Thing {
  const { world } = call
  const userid = param(call, 'userid')
  if (entriesOf(factorsOf(world, userid)).some((entry) => entry.type === 'recovery'))
    throw failed('user already has recovery keys')
  const factors = makeFactors(world, userid)
  factors.entries.push({ id: 'recovery', type: 'recovery', created: seconds(call.world) })
  const key = () => hexDigits(world.random, 16).replace(/(....)(?=.)/g, '$1-')
  factors.recovery = Array.from({ length: RECOVERY_KEYS }, key)
  return { id: 'recovery', recovery: [...factors.recovery] }
}
