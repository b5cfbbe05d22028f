import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import { DEFAULT_POLICY } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { Plan, PlanEntry } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ObservedDetails, ObservedResource, Resource, Survey } from '../model/resource.ts'
import { type ObservedFacts, type Quiet, type QuietGround, quietAfter, sameGround, sameLooks } from './quiet.ts'

const NOW = 1_760_000_000_000
const HOUR_MS = 3_600_000
const KEY = 'EnvironmentVM/web'

const close: ObservedDetails = { digest: 'd', config: { memory: 2048 }, pending: ['cores'], inForce: {}, atMs: NOW }
const guest: ObservedResource = {
  connection: 'pve',
  type: 'vm',
  externalId: '100',
  host: 'pve1',
  name: 'web',
  mark: { uid: 'u' },
  power: 'running',
  lock: 'backup',
  template: false,
  highlyAvailable: false,
  pool: 'p',
  uptimeSeconds: 7_200,
  memoryBytes: 1,
  diskBytes: 2,
  cpus: 3,
  load: 0.5,
  memoryUsedBytes: 4,
}
const file: ObservedResource = {
  connection: 'pve',
  type: 'file',
  list: 'local',
  externalId: 'a.img',
  host: 'pve1',
  close,
}
const survey: Survey = {
  connection: 'pve',
  atMs: NOW,
  hosts: [{ name: 'pve1', online: true, bridges: ['vmbr0'], memoryBytes: 1, memoryUsedBytes: 2, cpus: 3, load: 0.1 }],
  storages: [
    { host: 'pve1', name: 'local', content: ['iso'], available: true, shared: false, totalBytes: 9, usedBytes: 1 },
  ],
  resources: [guest],
  tasks: [{ id: 't', host: 'pve1', verb: 'backup', subject: '100', user: 'root', state: 'running', startedMs: NOW }],
}
const record: ResourceRecord = {
  key: KEY,
  uid: 'u',
  connection: 'pve',
  type: 'vm',
  generation: 'g',
  externalId: '100',
  policy: DEFAULT_POLICY,
  conditions: [{ type: 'Ready', status: 'True', reason: 'Running', message: '', sinceMs: NOW - HOUR_MS }],
  createdMs: NOW - HOUR_MS,
  status: 'Running',
}
const resource = {
  key: KEY,
  connection: 'pve',
  policy: DEFAULT_POLICY,
  desired: { type: 'file' },
} as unknown as Resource
const estate = { resources: [resource] } as unknown as Estate
const entry = { key: KEY, connection: 'pve', externalId: '100', action: { do: 'nothing' } } as unknown as PlanEntry
const plan: Plan = { entries: [entry], notes: [], problems: [] }

/** Builds all facts as new objects, as a second survey does. */
function facts(seen: Survey = survey, look: ObservedResource = { ...guest, close }, listed = file): ObservedFacts {
  return structuredClone({
    survey: seen,
    seen: new Map(seen.resources.map((one) => [one.externalId, one])),
    close: new Map([['100', look]]),
    asMade: new Map<string, ObservedResource>(),
    gone: new Set<string>(),
    lists: new Map([['local', [listed]]]),
    probes: new Map<string, 'free'>(),
    believed: new Set<string>(),
    failed: new Map<string, string>(),
  })
}

function standing(more: Partial<QuietGround> = {}, seen = facts()): QuietGround {
  const records = new Map([[KEY, structuredClone(record)]])
  return { estate, seen: new Map([['pve', seen]]), unseen: 0, records, inFlight: 0, ...more }
}

function quiet(): Quiet {
  return quietAfter(standing(), plan, 0) ?? assert.fail('it was not quiet')
}

const time = { nowMs: NOW, steadyMs: 1 }
const holds = (now: QuietGround, at = time) => sameGround(quiet(), now, at) && sameLooks(standing(), now)
const withRecord = (more: Partial<ResourceRecord>) => standing({ records: new Map([[KEY, { ...record, ...more }]]) })

/** Yields each field with another value, and without any. */
function variations<T extends object>(one: T): readonly (readonly [field: string, T])[] {
  return Object.keys(one).flatMap((field): (readonly [string, T])[] => {
    const { [field as keyof T]: value, ...without } = one
    const other = typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : { other: value }
    return [
      [field, { ...one, [field]: other } as T],
      [`no ${field}`, without as T],
    ]
  })
}

function changedFields<T extends object>(one: T, now: (changed: T) => QuietGround): readonly string[] {
  return variations(one).flatMap(([field, changed]) => (holds(now(changed)) ? [] : [field]))
}

const fieldsBut = (one: object, ...passing: readonly string[]) =>
  Object.keys(one).flatMap((field) => (passing.includes(field) ? [] : [field, `no ${field}`]))

test('a pass is quiet while nothing changes but what is measured all the time', () => {
  assert.equal(holds(standing()), true)
  const [host] = survey.hosts
  const [storage] = survey.storages
  const [task] = survey.tasks
  assert.ok(host !== undefined && storage !== undefined && task !== undefined)
  const seen = (more: Partial<Survey>) => standing({}, facts({ ...survey, ...more }))
  assert.deepEqual(
    changedFields(guest, (one) => seen({ resources: [one] })),
    // A missing uptime differs from a longer one.
    [...fieldsBut(guest, 'load', 'memoryUsedBytes', 'uptimeSeconds'), 'no uptimeSeconds'].sort(inOrderOf(guest)),
  )
  assert.deepEqual(
    changedFields(host, (one) => seen({ hosts: [one] })),
    fieldsBut(host, 'load', 'memoryUsedBytes'),
  )
  assert.deepEqual(
    changedFields(storage, (one) => seen({ storages: [one] })),
    fieldsBut(storage, 'usedBytes'),
  )
  assert.deepEqual(
    changedFields(task, (one) => seen({ tasks: [one] })),
    fieldsBut(task),
  )
  assert.equal(holds(seen({ served: ['cilium.io/v2 CiliumNode'] })), false)
  assert.equal(holds(seen({ resources: [] })), false)
  assert.equal(holds(seen({ resources: [guest, { ...guest, externalId: '101' }] })), false)
})

test('what was read closely, what stands in lists and what the store remembers count with every field', () => {
  assert.deepEqual(
    changedFields(close, (one) => standing({}, facts(survey, { ...guest, close: one }))),
    fieldsBut(close, 'atMs'),
  )
  assert.deepEqual(
    changedFields(file, (one) => standing({}, facts(survey, undefined, one))),
    fieldsBut(file),
  )
  assert.deepEqual(
    changedFields(close, (one) => standing({}, facts(survey, undefined, { ...file, close: one }))),
    fieldsBut(close, 'atMs'),
  )
  assert.deepEqual(
    changedFields(record, (one) => standing({ records: new Map([[KEY, one]]) })),
    fieldsBut(record),
  )
  assert.equal(holds(standing({}, facts(survey, { ...guest, close, mark: { uid: 'u', seed: 'x' } }))), false)
  assert.deepEqual(
    changedFields(guest, (one) => standing({}, facts(survey, { ...one, close }))),
    [...fieldsBut(guest, 'load', 'memoryUsedBytes', 'uptimeSeconds')],
    'a look is younger than its survey',
  )
  const twice = facts({ ...survey, resources: [guest, { ...guest, host: 'pve2' }] })
  assert.equal(
    sameGround({ ...quiet(), standing: standing({}, twice) }, standing({}, twice), time),
    false,
    'one id twice',
  )
  assert.equal(holds(standing({}, { ...facts(), close: new Map() })), false, 'not read')
  assert.equal(holds(standing({}, { ...facts(), failed: new Map([['x', 'no']]) })), false)
  assert.equal(holds(standing({ estate: { ...estate } })), false)
  assert.equal(holds(standing({ unseen: 1 })), false)
  assert.equal(holds(standing({ inFlight: 1 })), false)
  assert.equal(holds(standing({ records: new Map() })), false)
})

test('what only some looks ask for counts where both looks have it: a machine that still reads its first boot tells when it is done', () => {
  const seenWith = (more: Partial<ObservedDetails>) =>
    standing({}, facts(survey, { ...guest, close: { ...close, ...more } }))
  const table: readonly (readonly [Partial<ObservedDetails>, Partial<ObservedDetails>, boolean])[] = [
    [{}, { agent: 'up', addresses: ['10.0.0.1'], power: 'running' }, true],
    [{ agent: 'up', power: 'running' }, {}, true],
    [{ agent: 'down' }, { agent: 'up' }, false],
    [{ agent: 'up', addresses: [] }, { agent: 'up', addresses: ['10.0.0.1'] }, false],
    [{ power: 'running' }, { power: 'stopped' }, false],
    [{ agent: 'up', addresses: ['10.0.0.1'] }, { agent: 'up', addresses: ['10.0.0.1'] }, true],
  ]
  for (const [was, is, same] of table)
    assert.equal(sameLooks(seenWith(was), seenWith(is)), same, JSON.stringify([was, is]))
})

test('time alone ends it: after a while, when a machine was restarted, when the image of a first boot is due', () => {
  assert.equal(holds(standing(), { ...time, steadyMs: LIMITS.quietMs - 1 }), true)
  assert.equal(holds(standing(), { ...time, steadyMs: LIMITS.quietMs }), false)
  const restarted = facts({ ...survey, resources: [{ ...guest, uptimeSeconds: 60 }] })
  assert.equal(holds(standing({}, restarted)), false)
  const seeded = { ...resource, desired: { type: 'vm', vm: { seed: { removeAfterSeconds: 7_260 } } } } as Resource
  const untilMs = quietAfter(standing({ estate: { ...estate, resources: [seeded] } }), plan, 5)?.untilMs
  assert.equal(untilMs, 5 + 60_000)
})

test('what waits, is held or retried, and what hangs on the time, is planned in every pass', () => {
  const table: readonly (readonly [what: string, standing: QuietGround, plan?: Plan])[] = [
    ['a machine that waits', standing(), { ...plan, entries: [{ ...entry, action: { do: 'wait' } } as PlanEntry] }],
    ['a note', standing(), { ...plan, notes: [{ connection: 'pve', code: 'suspect', message: '', allow: '' }] }],
    ['no record', standing({ records: new Map() })],
    ['not Ready', withRecord({ conditions: [] })],
    ['a failure', withRecord({ failure: {} as NonNullable<ResourceRecord['failure']> })],
    ['stalled', withRecord({ stalledGeneration: 'g' })],
    ['a cluster', standing({ estate: { ...estate, clusters: [{}] } as unknown as Estate })],
    ['a Power', standing({ estate: { ...estate, powers: [{}] } as unknown as Estate })],
    ['a host that is left', standing({ estate: { ...estate, idleHosts: [{}] } as unknown as Estate })],
    [
      'readyWhen',
      standing({
        estate: { ...estate, resources: [{ ...resource, policy: { ...DEFAULT_POLICY, readyWhen: ['x'] } }] },
      }),
    ],
    ['an unseen connection', standing({ unseen: 1 })],
    ['an effect in flight', standing({ inFlight: 1 })],
    ['an id that was asked for', standing({}, { ...facts(), probes: new Map([['100', 'free']]) })],
    ['a guest that went meanwhile', standing({}, { ...facts(), gone: new Set(['100']) })],
    ['a look that failed', standing({}, { ...facts(), failed: new Map([['x', 'no']]) })],
    ['a guest that counts as made', standing({}, { ...facts(), asMade: new Map([['101', guest]]) })],
    ['an id that is believed free', standing({}, { ...facts(), believed: new Set(['100']) })],
  ]
  assert.ok(quietAfter(standing(), plan, 0))
  for (const [what, stands, planned = plan] of table) assert.equal(quietAfter(stands, planned, 0), undefined, what)
})

function inOrderOf(one: object): (a: string, b: string) => number {
  const order = Object.keys(one).flatMap((field) => [field, `no ${field}`])
  return (a, b) => order.indexOf(a) - order.indexOf(b)
}
