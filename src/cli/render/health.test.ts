import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { Action, Plan } from '../../model/plan.ts'
import type { Condition, CroftEvent, ResourceRecord } from '../../model/record.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { clusterSpec, member, NOW, observedCluster } from '../../plan/clusters/testing/fixture.ts'
import { asSeenNow, groupedByCause, renderTrouble, troublesOf, votesOf } from './health.ts'
import { PLAIN } from './text.ts'

const KEY = 'Machine/web-1'
const planned = (action: Action, drift = false): Plan => ({
  entries: [{ key: KEY, uid: 'u', connection: 'c', type: 'vm', action, ...(drift ? { drift: true } : {}) }],
  notes: [],
  problems: [],
})
const record = (conditions: readonly Partial<Condition>[], more: Partial<ResourceRecord> = {}): ResourceRecord => ({
  key: KEY,
  uid: 'u',
  connection: 'c',
  type: 'vm',
  generation: 'g',
  policy: DEFAULT_POLICY,
  conditions: conditions.map(
    (one) => ({ type: 'Ready', status: 'True', reason: '', message: '', sinceMs: 0, ...one }) as Condition,
  ),
  createdMs: 0,
  status: 'Booting',
  ...more,
})
const told = (plan: Plan, records: readonly ResourceRecord[], events: readonly CroftEvent[] = []) =>
  groupedByCause(troublesOf({ plan, records, events }))
    .map((one) => renderTrouble(one, 600_000, PLAIN))
    .join('')

test('what is well is not told', () => {
  assert.equal(told(planned({ do: 'nothing' }), [record([{}])]), '')
})

test('each trouble says what, since when, why and what to do', () => {
  const update: Action = {
    do: 'update',
    externalId: '1',
    changes: [{ path: 'memory', from: 2048, to: 4096, effect: 'live' }],
    steps: [],
    reason: '',
  }
  const by = { user: 'anna@pam', task: 'qmset', atMs: 0 }
  assert.equal(
    told(planned(update, true), [record([{}], { driftSinceMs: 300_000, driftBy: by })]),
    `bad  Machine/web-1: is not as declared, though Git has not changed, since 5m
       memory is 2048, Git says 4096
       anna@pam did it by qmset
       → croft plan shows what would be done, croft apply does it
`,
  )
  const hold: Action = {
    do: 'hold',
    guard: 'deletions',
    held: update,
    reason: 'two machines at once',
    allow: 'approve it',
  }
  assert.match(
    told(planned(hold), []),
    /^bad {2}Machine\/web-1: held \[deletions\]\n +two machines at once\n +→ approve it\n$/,
  )
  const offline: Action = { do: 'wait', reason: 'HostOffline', message: 'host pve1 is offline', lookAgainMs: 1 }
  assert.match(told(planned(offline), []), /waits\n +host pve1 is offline\n +→ bring its host back\n/)
  const failing = record([{ status: 'False', sinceMs: 60_000, message: 'its agent does not answer' }])
  const warning = (atMs: number) =>
    ({ seq: atMs, atMs, key: KEY, type: 'Warning', reason: 'NoAgent', message: 'no answer' }) as CroftEvent
  const text = told(planned({ do: 'nothing' }), [failing], [warning(70_000), warning(80_000), warning(10)])
  assert.match(
    text,
    /^bad {2}Machine\/web-1: Booting, since 9m\n +NoAgent: no answer \(2 times\)\n +→ croft why Machine\/web-1\n$/,
  )
  assert.match(told(planned({ do: 'nothing' }), [failing]), /\n +its agent does not answer\n/)
  assert.match(
    told({ ...planned({ do: 'nothing' }), entries: [] }, [failing]),
    /Booting/,
    'what nobody declares any more',
  )
})

test('the votes of a cluster in the words of somebody who must decide whether to get up', () => {
  const members = (...up: readonly ('yes' | 'no')[]) =>
    ({ observed: { members: up.map((one) => ({ learner: false, up: one })) } }) as unknown as ClusterPlan
  assert.equal(votesOf(members('yes', 'yes', 'yes')), '3 of 3 votes, 1 may still be lost')
  assert.equal(votesOf(members('yes', 'yes', 'no')), '2 of 3 votes: if one more is lost the API stops')
  assert.equal(votesOf(members('yes', 'no', 'no')), '1 of 3 votes: the majority is lost and the API stands still')
  assert.equal(votesOf({ observed: { members: 'unknown' } } as ClusterPlan), 'its votes cannot be seen')
})

test('[R20-9] a cluster that this look finds well is well, whatever its last pass met', () => {
  const spec = clusterSpec('s1 s2 s3')
  const looked = (observed: ClusterPlan['observed']): ClusterPlan => ({
    declaration: { spec, key: 'Cluster/homelab' } as ClusterPlan['declaration'],
    observed,
    decision: coordinate(spec, observed, NOW),
  })
  const past = record(
    [
      { status: 'False', message: 's3 is Unknown' },
      { type: 'Stalled', status: 'True' },
    ],
    {
      key: 'Cluster/homelab',
      status: 'Degraded',
      failure: { reason: 'X', message: 'of the past', count: 3, sinceMs: 0 } as unknown as NonNullable<
        ResourceRecord['failure']
      >,
    },
  )
  const well = looked(observedCluster('s1 s2 s3'))
  const plan: Plan = { entries: [], notes: [], problems: [], clusters: [well] }
  assert.equal(told(plan, asSeenNow([past], [well])), '')
  const members = [member('s1'), member('s2'), member('s3', { up: 'unknown' })]
  const ill = looked(observedCluster('s1 s2 s3', { s3: { k3s: 'unknown' } }, { members }))
  assert.deepEqual(asSeenNow([past], [ill]), [past])
})

test('a cause is said once with what it touches, and what waits for a host at that host', () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `Machine/${name}`)
  const reason = 'host pve1 is offline: nothing on it can be seen or done until it is back'
  const waits: Action = { do: 'wait', reason: 'HostOffline', message: reason, lookAgainMs: 0 }
  const held = (name: string): Action => ({
    do: 'hold',
    guard: 'protect',
    reason: `${name} is protected`,
    allow: `remove protect of ${name}`,
    held: { do: 'delete', externalId: '1', host: 'pve1', steps: [] },
  })
  const thing = { uid: 'u', connection: 'c', type: 'vm', host: 'pve1' } as const
  const entries = [
    ...keys.map((key) => ({ ...thing, key, action: waits })),
    ...['x', 'y'].map((name) => ({ ...thing, key: `Machine/${name}`, action: held(name) })),
  ]
  const found = troublesOf({ plan: { entries, notes: [], problems: [] }, records: [], events: [] })
  const host = { key: 'host pve1', what: 'Host pve1 is offline', why: ['It does not answer.'], next: 'bring it back' }
  const text = (problems: Parameters<typeof groupedByCause>[0]) =>
    groupedByCause(problems)
      .map((one) => renderTrouble(one, 0, PLAIN))
      .join('')
  assert.equal(
    text([host, ...found]),
    `bad  host pve1: Host pve1 is offline
       It does not answer.
       6 things wait for it: Machine/a, Machine/b, Machine/c, Machine/d and 2 more
       → bring it back
bad  Machine/x, Machine/y: held [protect]
       x is protected
       → remove protect of x
`,
  )
  assert.match(text(found), /^bad {2}Machine\/a, Machine\/b, Machine\/c, Machine\/d and 2 more: waits$/m)
})
