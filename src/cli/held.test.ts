import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settlement } from '../engine/engine.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { Plan } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import { coordinate } from '../plan/clusters/coordinate.ts'
import { clusterSpec, NOW, observedCluster } from '../plan/clusters/testing/fixture.ts'
import { applyEnd, applyExit, heldIn, renderHeld } from './render/apply-end.ts'
import { beginProgress } from './render/progress.ts'

type Hold = NonNullable<ClusterPlan['observed']['requests']['hold']>

function planOf(hold?: Hold, notes: Plan['notes'] = []): Plan {
  const spec = clusterSpec('s1 s2 s3')
  const seen = observedCluster('s1 s2 s3')
  const observed = hold === undefined ? seen : { ...seen, requests: { ...seen.requests, hold } }
  const declaration = { spec, key: 'Cluster/homelab', name: 'homelab' } as ClusterPlan['declaration']
  const clusters = [{ declaration, observed, decision: coordinate(spec, observed, NOW) }]
  return { entries: [], notes, problems: [], clusters }
}

const settled = (plan: Plan): Settlement => ({
  outcome: 'settled',
  last: { plan, records: [], events: [], effects: 0, settled: true, lookAgainMs: 0 },
  passes: 1,
  effects: 0,
})

test('an apply that leaves a cluster held does not end with 0, and says what, why and what would allow it', () => {
  const held = planOf({ reason: 'its record cannot be opened', allow: 'bring the key' })
  assert.equal(applyExit(settled(held), []), 3)
  assert.equal(
    renderHeld(heldIn(held)),
    '  held: Cluster/homelab: its record cannot be opened\n      to allow: bring the key\n',
  )
})

test('the silent API of a cluster that is held is no other failure; any other silence is', () => {
  const hold = { reason: 'etcd has lost its majority', allow: 'restore it' }
  const silent = (connection: string, code: 'unreachable' | 'refused' = 'unreachable') => [
    { connection, code, message: 'nobody answers', allow: 'look' },
  ]
  assert.equal(applyExit(settled(planOf(hold, silent('cluster/homelab'))), []), 3)
  assert.equal(applyExit(settled(planOf(undefined, silent('cluster/homelab'))), []), 1)
  assert.equal(applyExit(settled(planOf(hold, silent('cluster/other'))), []), 1)
  assert.equal(applyExit(settled(planOf(hold, silent('cluster/homelab', 'refused'))), []), 4)
})

test('a cluster that is as declared, or off because somebody ordered it, is not held', () => {
  assert.equal(applyExit(settled(planOf()), []), 0)
  assert.equal(applyExit(settled(planOf({ reason: 'off', allow: 'croft power on', power: 'off' })), []), 0)
})

test('a long list of what is held is cut, and says so', () => {
  const many = Array.from({ length: 7 }, (_, at) => ({ what: `Machine/${at}`, reason: `r${at}r`, allow: 'a' }))
  assert.match(renderHeld(many), /Machine\/4: r4r\n {6}to allow: a\n {2}and 2 more: croft plan shows them\n$/)
})

test('what one cause holds is one line: the same sentence is not read twice', () => {
  const three = ['web-1', 'web-2', 'web-3'].map((name) => {
    return { what: `Machine/${name}`, reason: `${name} is protected`, allow: `run croft delete Machine/${name}` }
  })
  const other = { what: 'Cluster/home', reason: 'its API is away', allow: 'wait' }
  const text = `  held: Machine/web-1, Machine/web-2, Machine/web-3: web-1 is protected
      to allow: run croft delete Machine/web-1
  held: Cluster/home: its API is away
      to allow: wait
`
  assert.equal(renderHeld([...three, other]), text)
})

test('a cluster that refuses what is declared fails the apply', () => {
  const [look] = planOf().clusters ?? []
  assert.ok(look !== undefined)
  const refusals = [{ guard: 'quorum', reason: 'two servers survive nothing', allow: 'declare three' }]
  const refused = { ...planOf(), clusters: [{ ...look, decision: { ...look.decision, refusals } }] }
  assert.equal(applyExit(settled(refused), []), 1)
})

test('the last line of an apply that did not get there names one thing with a command that takes it', () => {
  const failed = {
    key: 'Machine/web-1',
    conditions: [{ type: 'Stalled', status: 'True' }],
  } as unknown as ResourceRecord
  const one = settled(planOf())
  const over = { ...one, last: { ...one.last, records: [failed] } }
  const end = {
    progress: beginProgress(0),
    style: { paint: (_: string, text: string) => text },
    clusters: [],
    declared: [],
  }
  assert.match(
    applyEnd(over, { ...end, code: 1, directory: 'my infra' }),
    /Run croft describe Machine\/web-1 --dir 'my infra' to see why, then mend it and run croft apply 'my infra' again\.\n$/,
  )
})
