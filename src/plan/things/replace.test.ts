import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Consent } from '../../model/consent.ts'
import type { Estate } from '../../model/estate.ts'
import { NO_USAGE } from '../../model/grant.ts'
import type { Action } from '../../model/plan.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { plan } from '../plan.ts'
import { estateOf, FAKE_RULES, guest, ledgerWith, machine, NOW, recordOf, worldWith } from '../testing/fixture.ts'
import type { DestroyedSoFar } from './world.ts'

/** Only a new thing can match the declaration: see the fixture's rules. */
function replaced(
  name: string,
  more: { vmid?: number; needs?: string[]; host?: string; drift?: 'report' } = {},
): Resource {
  const { host = 'alpha', drift, ...rest } = more
  const policy = { replace: 'allowed' as const, ...(drift === undefined ? {} : { drift }) }
  const one = machine(name, { memory: 2048, policy, ...rest })
  assert.ok(one.desired.type === 'vm')
  return { ...one, desired: { type: 'vm', vm: { ...one.desired.vm, name: 'replace-me', host } } }
}

function planned(
  resources: readonly Resource[],
  seen: Parameters<typeof worldWith>[0],
  more: {
    probes?: Record<string, 'free' | 'taken'>
    records?: readonly ResourceRecord[]
    destroyed?: DestroyedSoFar
    rules?: Partial<Rules>
    estate?: Partial<Estate>
  } = {},
): ReadonlyMap<string, Action> {
  const records = resources.map((one, at) => recordOf(one, { externalId: String(101 + at), seenMs: 1, made: true }))
  const { entries } = plan({
    estate: estateOf(resources, more.estate),
    worlds: new Map([['default', worldWith(seen, more.probes ?? {})]]),
    ledger: ledgerWith({
      known: more.records ?? records,
      ...(more.destroyed === undefined ? {} : { destroyed: more.destroyed }),
    }),
    rules: new Map([['fake', { ...FAKE_RULES, ...more.rules }]]),
    nowMs: NOW,
  })
  return new Map(entries.map(({ key, action }) => [key, action]))
}

function shown(action: Action | undefined): string {
  if (action === undefined) return 'none'
  if ('guard' in action) return `${action.do} ${action.guard}`
  if (action.do === 'wait') return `wait ${action.reason}`
  return 'steps' in action ? `${action.do}: ${action.steps.map(({ summary }) => summary).join(', ')}` : action.do
}

test('what stands against the new one comes before the deletion of the old one', () => {
  const old = guest(101, { of: 'Machine/m1', memory: 1024 })
  const table: [string, Resource, Parameters<typeof planned>[2], readonly unknown[], string][] = [
    ['nothing', replaced('m1'), {}, [], 'replace: delete 101, create 101, start 101'],
    ['no such host', replaced('m1', { host: 'nowhere' }), {}, [], 'refuse placement'],
    ['a need that is not Ready', replaced('m1', { needs: ['Machine/image'] }), {}, [], 'wait NeedsNotReady'],
    ['the new id is a stranger’s', replaced('m1', { vmid: 102 }), {}, [guest(102)], 'refuse identity'],
    [
      'the new id is free',
      replaced('m1', { vmid: 102 }),
      { probes: { '102': 'free' } },
      [],
      'replace: delete 101, create 102, start 102',
    ],
    ['the new id is hidden', replaced('m1', { vmid: 102 }), { probes: { '102': 'taken' } }, [], 'refuse identity'],
    ['the new id was not asked for', replaced('m1', { vmid: 102 }), {}, [], 'wait IdNotProbed'],
  ]
  for (const [what, resource, more, others, expected] of table) {
    const found = planned([resource, machine('image')], [old, ...(others as never[])], {
      records: [recordOf(resource, { externalId: '101', seenMs: 1, made: true })],
      ...more,
    })
    assert.equal(shown(found.get('Machine/m1')), expected, what)
  }
})

test('a replacement asks for the obstacles of a world in which the old one is gone', () => {
  const rules: Partial<Rules> = {
    obstacles: (_resource, { resources }) =>
      resources.some(({ externalId }) => externalId === '101') ? [{ message: 'in the way', allow: '' }] : [],
  }
  const found = planned([replaced('m1')], [guest(101, { of: 'Machine/m1', memory: 1024 })], { rules })
  assert.equal(found.get('Machine/m1')?.do, 'replace')
})

test('a consent to a replacement holds to its end: while the old one is shut down for it, and when it is gone', () => {
  const [one, two] = [replaced('m1', { drift: 'report' }), replaced('m2')]
  const record = recordOf(one, { externalId: '101', seenMs: 1, made: true, syncedGeneration: one.generation })
  const records = [record, recordOf(two, { externalId: '102', seenMs: 1 })]
  const seen = (power: 'running' | 'stopped') => [
    guest(101, { of: one.key, memory: 1024, power }),
    guest(102, { of: two.key, memory: 1024 }),
  ]
  const held = (consents: readonly Consent[]) =>
    planned([one, two], seen('running'), { records, estate: { consents } }).get(one.key)
  const consents: Consent[] = []
  for (const guard of ['drift', 'blast-radius']) {
    const action = held(consents)
    assert.ok(action?.do === 'hold' && action.guard === guard, JSON.stringify(action))
    consents.push({ by: 'page:anna', key: one.key, guard, shown: action.shows })
  }
  const later = (opened: boolean, all: Parameters<typeof worldWith>[0]) =>
    planned([one, two], all, {
      records,
      probes: { '101': 'free' },
      estate: { consents: consents.map((each) => ({ ...each, opened })) },
    }).get(one.key)?.do
  assert.equal(later(false, seen('running')), 'replace')
  assert.equal(later(true, seen('stopped')), 'replace', 'shut down by its own first call')
  assert.equal(later(true, seen('running').slice(1)), 'create')
  assert.equal(later(false, seen('running').slice(1)), 'hold', 'gone before the consent was used')
  const other = seen('stopped').map((each) => ({ ...each, connection: 'default', externalId: `${each.externalId}9` }))
  assert.equal(later(true, other), 'hold', 'another thing than the one that was shown')
})

test('a replacement that a quota would hold half-way destroys nothing', () => {
  const one = replaced('m1')
  const quota = { machines: 0, cores: 0, memoryMb: 0, diskGb: 0, namespaces: 0, objects: 0, addresses: 0 }
  const quotas = [{ source: 's', names: ['m1'], quota, used: NO_USAGE, keys: new Set([one.key]), exceeded: true }]
  const found = planned([one], [guest(101, { of: one.key, memory: 1024 })], { estate: { quotas } as never })
  assert.equal(shown(found.get(one.key)), 'hold quota')
})

const FOUR = ['m1', 'm2', 'm3', 'm4'].map((name) => replaced(name))

function guests(locked: readonly string[] = [], gone: readonly string[] = []) {
  return FOUR.flatMap(({ key, name }, at) =>
    gone.includes(name)
      ? []
      : [guest(101 + at, { of: key, memory: 1024, ...(locked.includes(name) ? { lock: 'backup' } : {}) })],
  )
}

const done = (name: string, revision = 'r1'): DestroyedSoFar => ({
  revision,
  things: [{ key: `Machine/${name}`, connection: 'default', type: 'vm' }],
})

test('the blast radius counts what a revision destroys over all its passes', () => {
  const words = (more: Parameters<typeof planned>[2], seen = guests()) =>
    [...planned(FOUR, seen, more).values()].map(shown)
  assert.deepEqual(new Set(words({})), new Set(['hold blast-radius']))
  const rest = ['m2', 'm3', 'm4']
  assert.match(words({}, guests(rest))[0] ?? '', /^replace: /, 'one is within the limit')
  // The first is replaced, and a backup of the second has ended.
  const records = [
    recordOf(FOUR[0] as Resource, { made: true }),
    ...FOUR.slice(1).map((one, at) => recordOf(one, { externalId: String(102 + at), seenMs: 1 })),
  ]
  const later = guests(['m3', 'm4'], ['m1'])
  assert.equal(words({ records, destroyed: done('m1') }, later)[1], 'hold blast-radius')
  assert.match(words({ records, destroyed: done('m1', 'r0') }, later)[1] ?? '', /^replace: /, 'of another revision')
})

test('what waits for its turn counts as well: needs that are not Ready, and what is gone altogether', () => {
  const waiting = replaced('m2', { needs: ['Machine/image'] })
  const two = [replaced('m1'), waiting]
  const seen = two.map(({ key }, at) => guest(101 + at, { of: key, memory: 1024 }))
  assert.equal(shown(planned([...two, machine('image')], seen).get('Machine/m1')), 'hold blast-radius')
  const [one] = [replaced('m1')]
  assert.ok(one)
  const alone = [guest(101, { of: one.key, memory: 1024 })]
  assert.equal(
    shown(planned([one], alone, { destroyed: done('no-longer-declared') }).get('Machine/m1')),
    'hold blast-radius',
  )
})

test('a clock that goes back by a day does not make a pause a day longer', () => {
  const one = machine('m1', { vmid: 101 })
  const failure = {
    kind: 'failing' as const,
    reason: 'X',
    message: 'x',
    count: 1,
    firstMs: NOW,
    lastMs: NOW,
    nextAttemptMs: NOW + 2_000,
  }
  for (const [movedMs, expected] of [
    [0, 'wait X'],
    [-1_000, 'wait X'],
    [1_999, 'wait X'],
    [2_000, 'create'],
    [-24 * 3_600_000, 'create'],
    [365 * 24 * 3_600_000, 'create'],
  ] as const) {
    const { entries } = plan({
      estate: estateOf([one]),
      worlds: new Map([['default', worldWith([], { '101': 'free' })]]),
      ledger: ledgerWith({ known: [recordOf(one, { failure })] }),
      rules: new Map([['fake', FAKE_RULES]]),
      nowMs: NOW + movedMs,
    })
    const action = entries[0]?.action
    assert.equal(action?.do === 'wait' ? `wait ${action.reason}` : action?.do, expected, String(movedMs))
    if (action?.do === 'wait') assert.ok(action.lookAgainMs <= 2_000)
  }
})
