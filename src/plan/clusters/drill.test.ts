import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClusterDecision, NO_REQUESTS, type ObservedCluster } from '../../model/observed-cluster.ts'
import { type DrillState, dueDrill } from './drill.ts'
import { clusterSpec, HOUR, NOW, observedCluster } from './testing/fixture.ts'

const BACKUP = { schedule: '0 */6 * * *', keep: 12, to: { directory: '/srv' } }
const SPEC = clusterSpec('s1', { backup: { ...BACKUP, drill: { schedule: '0 * * * *' } } })
const QUIET = { phase: 'Ready', steps: [], waits: [] } as const
const snapshot = (name: string, atMs: number, more: object = {}) => ({
  name,
  atMs,
  bytes: 10,
  tokenKept: 'yes' as const,
  location: `file:///srv/${name}`,
  node: 's1',
  ...more,
})
const SEEN = { snapshots: [snapshot('old', NOW - 9 * HOUR), snapshot('new', NOW - 2 * HOUR)] }
const LONG_AGO: DrillState = { lastMs: NOW - 48 * HOUR }

interface Turn {
  readonly spec?: typeof SPEC
  readonly observed?: Partial<ObservedCluster>
  readonly decision?: Pick<ClusterDecision, 'phase' | 'steps' | 'waits'>
  readonly state?: DrillState
}

const due = ({ spec = SPEC, observed = {}, decision = QUIET, state = LONG_AGO }: Turn = {}) =>
  dueDrill(spec, observedCluster('s1', {}, { ...SEEN, ...observed }), decision, state, NOW)

test('a drill that is due takes the newest backup that could be restored from a file of a server', () => {
  const run = due()
  assert.deepEqual([run?.snapshot, run?.path, run?.server], ['new', '/srv/new', 's1'])
  const withoutToken = [snapshot('old', NOW - 9 * HOUR), snapshot('new', NOW - HOUR, { tokenKept: 'no' })]
  assert.equal(due({ observed: { snapshots: withoutToken } })?.snapshot, 'old')
  const elsewhere = [snapshot('old', NOW - 9 * HOUR), snapshot('new', NOW - HOUR, { location: 's3://b/new' })]
  assert.equal(due({ observed: { snapshots: elsewhere } })?.snapshot, 'old')
})

const wait = { what: 's1', awaits: 'x' } as unknown as ClusterDecision['waits'][number]
const step = { verb: 'drain', node: 's1' } as unknown as ClusterDecision['steps'][number]
const NOT_DUE: readonly [string, Turn][] = [
  ['nobody declares one', { spec: clusterSpec('s1', { backup: BACKUP }) }],
  ['there are no backups at all', { spec: clusterSpec('s1') }],
  ['one is under way', { state: { ...LONG_AGO, run: {} as NonNullable<DrillState['run']> } }],
  ['the last one was within the hour', { state: { lastMs: NOW } }],
  ['a person holds the cluster', { observed: { requests: { ...NO_REQUESTS, hold: {} as never } } }],
  ['the cluster is not well', { decision: { ...QUIET, phase: 'Degraded' } }],
  ['something is to be done', { decision: { ...QUIET, steps: [step] } }],
  ['something is waited for', { decision: { ...QUIET, waits: [wait] } }],
  ['nobody knows the backups', { observed: { snapshots: 'unknown' } }],
  ['there is no backup', { observed: { snapshots: [] } }],
]
for (const [name, turn] of NOT_DUE) test(`no drill is due: ${name}`, () => assert.equal(due(turn), undefined))
