import { defined } from '../../../../src/lib/defined.ts'
import { may } from '../../../world/access.ts'
import { ApiError } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, refuseStale, STALE, things } from '../collection.ts'
import { listOf, shelf, type Thing } from '../shelf.ts'
import { digestOfFile, refuseUnwritable } from './notification-file.ts'
import { checkMatcher, readMatcher } from './notification-matchers.ts'
import { sendTest } from './notification-test.ts'
import { refusePort, refuseUndeletable, refuseUnreadableDigest, withNamedValues } from './notification-values.ts'

/** Where messages go (endpoints of four kinds) and which go where (matchers). One name stands for one thing of any kind. */
const KINDS = ['gotify', 'sendmail', 'smtp', 'webhook'] as const
const ENDPOINTS = '/cluster/notifications/endpoints'

/** What every Proxmox has by itself. It can be changed; removing it brings the first state back. */
const BUILT_IN: Readonly<Record<string, readonly (readonly [string, Thing])[]>> = {
  'notify/sendmail': [
    ['mail-to-root', { 'mailto-user': ['root@pam'], comment: "Send mails to root@pam's email address" }],
  ],
  'notify/matchers': [
    ['default-matcher', { mode: 'all', target: ['mail-to-root'], comment: 'Route all notifications to mail-to-root' }],
  ],
}

const SECRETS = new Set(['token', 'password', 'secret'])

function collection(kind: string, at: string): Collection {
  const name = `notify/${kind}`
  const builtIn = new Map(BUILT_IN[name] ?? [])
  const what = kind === 'matchers' ? 'matcher' : 'endpoint'
  const stale = new ApiError(400, STALE)
  const read = (call: Call) => (kind === 'matchers' ? readMatcher(call.raw) : refusePort(call))
  const checked = (call: Call, thing: Thing, old: Thing | undefined) => {
    if (kind === 'matchers') return checkMatcher(thing, (target) => kindOf(call, target) !== undefined)
    needRecipient(kind, thing)
    return kind === 'webhook' ? withNamedValues(call, thing, old) : thing
  }
  const spec: Collection = {
    at,
    key: 'name',
    digest,
    setWins: true,
    shelf: (call) => {
      const kept = shelf(call.world, name)
      for (const [id, thing] of builtIn) if (!kept.has(id)) kept.set(id, { ...thing })
      return name
    },
    exists: sameName,
    missing: (id) => new ApiError(404, `${what} '${id}' not found`),
    stale,
    refuseNew: read,
    refuseChange: (call) => {
      read(call)
      refuseUndeletable(call, kind)
      refuseUnreadableDigest(call)
      refuseStale(call, digest(call), stale)
    },
    prepare: (call, thing, id, old) => {
      if (old === undefined && isTaken(call, id)) throw sameName(id)
      const kept = checked(call, thing, old)
      refuseUnwritable(id, kept)
      return kept
    },
    refuseRemoval: (call, id) => {
      const users = [...things(MATCHERS, call)].filter(([, matcher]) => listOf(matcher.target).includes(id))
      if (kind !== 'matchers' && users.length > 0 && !builtIn.has(id)) {
        const names = users.map(([user]) => user).join(', ')
        throw new ApiError(400, `cannot delete '${id}', referenced by: ${names}`)
      }
    },
    row: (_, thing, id) => {
      const first = builtIn.get(id)
      const same = first !== undefined && JSON.stringify(first) === JSON.stringify(thing)
      const origin = first === undefined ? 'user-created' : same ? 'builtin' : 'modified-builtin'
      return { ...withoutSecrets(thing), name: id, origin }
    },
    listed: (_, thing) => thing,
  }
  return spec
}

const MATCHERS = collection('matchers', '/cluster/notifications/matchers')
const TARGETS = KINDS.map((kind) => ({ kind, spec: collection(kind, `${ENDPOINTS}/${kind}`) }))

const PARTS = ['endpoints', 'matchers', 'targets', 'matcher-fields', 'matcher-field-values']
const MESSAGE_TYPES = ['package-updates', 'fencing', 'replication', 'vzdump', 'system-mail']

export const notificationRoutes: Routes = Object.assign(
  {
    'GET /cluster/notifications': () => PARTS.map((name) => ({ name })),
    [`GET ${ENDPOINTS}`]: () => KINDS.map((name) => ({ name })),
    'GET /cluster/notifications/targets': targets,
    'POST /cluster/notifications/targets/{name}/test': (call: Call) => {
      const id = param(call, 'name')
      const found = TARGETS.find(({ spec }) => things(spec, call).has(id))
      const thing = found && things(found.spec, call).get(id)
      if (found === undefined || thing === undefined) throw noEndpoint(id)
      return sendTest(call, found.kind, id, thing)
    },
    'GET /cluster/notifications/matcher-fields': () => ['type', 'hostname', 'job-id'].map((name) => ({ name })),
    'GET /cluster/notifications/matcher-field-values': (call: Call) => [
      ...MESSAGE_TYPES.map((value) => ({ field: 'type', value })),
      ...jobs(call),
      ...[...call.world.hosts.keys()].map((value) => ({ field: 'hostname', value })),
    ],
  } satisfies Routes,
  collectionRoutes(MATCHERS),
  ...TARGETS.map(({ spec }) => collectionRoutes(spec)),
)

/** Backups and replications that the caller sees. One without a comment says so. */
function jobs(call: Call): Thing[] {
  const backups = may(call.world, call.who, '/', 'Sys.Audit') ? call.perform('GET', '/cluster/backup', {}) : []
  return [backups, call.perform('GET', '/cluster/replication', {})].flatMap((rows) =>
    (rows as readonly Thing[]).map(({ id, comment = null }) => ({ field: 'job-id', value: id, comment })),
  )
}

function targets(call: Call): Thing[] {
  return TARGETS.flatMap(({ kind, spec }) =>
    [...things(spec, call)].map(([id, thing]) => {
      const { origin, comment, disable } = spec.row?.(call, thing, id) ?? {}
      return {
        name: id,
        type: kind,
        origin,
        ...defined({ comment, disable }),
      }
    }),
  )
}

function kindOf(call: Call, id: string): string | undefined {
  return TARGETS.find(({ spec }) => things(spec, call).has(id))?.kind
}

function sameName(id: string): ApiError {
  return new ApiError(400, `Cannot create '${id}', an entity with the same name already exists`)
}

export function noEndpoint(id: string): ApiError {
  return new ApiError(404, `endpoint '${id}' does not exist`)
}

function needRecipient(kind: string, thing: Thing): void {
  const mails = kind === 'sendmail' || kind === 'smtp'
  if (mails && listOf(thing.mailto).length + listOf(thing['mailto-user']).length === 0) {
    throw new ApiError(400, 'must at least provide one recipient, either in mailto or in mailto-user')
  }
}

/** Endpoints and matchers share their names. */
function isTaken(call: Call, id: string): boolean {
  return ALL().some((spec) => things(spec, call).has(id))
}

function digest(call: Call): string {
  const sections = ALL().flatMap((spec) => [...things(spec, call)])
  return digestOfFile(sections, JSON.stringify(sections) === JSON.stringify(Object.values(BUILT_IN).flat()))
}

const ALL = () => [...TARGETS.map(({ spec }) => spec), MATCHERS]

/** Secrets are never shown; of a list of named secrets the names are. */
function withoutSecrets(thing: Thing): Thing {
  const shown: Thing = {}
  for (const [key, value] of Object.entries(thing)) {
    if (!SECRETS.has(key)) shown[key] = value
    else if (Array.isArray(value)) shown[key] = value.map((one) => String(one).replace(/,value=.*$/, ''))
  }
  return shown
}
