import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all } from '../../sim/kubernetes/store.ts'
import { readBackups } from '../../src/engine/clusters/backups.ts'
import { LIMITS } from '../../src/lib/limits.ts'
import type { ClusterOperation } from '../../src/model/cluster-operation.ts'
import { planRestore } from '../../src/plan/cluster/restore.ts'
import { planRotation } from '../../src/plan/cluster/rotate.ts'
import { follow, formed, keepFor, keepSomething, nextDay, order, type Run } from './cluster-lab.ts'
import { type KillAt, lookNow, operated, ordersOf } from './cluster-operated.ts'
import { clusterAsDeclared, etcdOf } from './cluster-oracle.ts'
import { LONG, replay } from './volume.ts'

const FILE = 'operation-crash.test.ts'
const BACKED_UP =
  '  upgrade: {soak: 10s}\n  backup: {schedule: "0 3 * * *", to: {nfs: {server: nas.home.arpa, path: /srv/etcd}}}\n'

type Planned = (kept: readonly string[]) => Promise<ClusterOperation>

interface Chapter {
  readonly name: string
  readonly verbs: readonly string[]
  begin(hint: string): Promise<Run>
  plan(run: Run): Planned
  holds?(run: Run, hint: string): void
}

function specOf(run: Run) {
  const { spec } = run.estate.clusters?.[0] ?? {}
  assert.ok(spec)
  return spec
}

const CHAPTERS: readonly Chapter[] = [
  {
    name: 'a restore on the same servers',
    verbs: ['stop-k3s', 'restore-snapshot', 'start-k3s', 'forget-db'],
    async begin(hint) {
      const run = await formed(1, hint, { spec: BACKED_UP })
      keepSomething(run, hint, 'precious')
      await nextDay(run, 3.1)
      await keepFor(run, 60_000)
      keepSomething(run, hint, 'too-late')
      return run
    },
    plan: (run) => async (kept) => {
      const store = { getValue: async (name: string) => run.disk.values.get(name) }
      const [newest] = [...(await readBackups(store, 'homelab'))].sort((a, b) => b.atMs - a.atMs)
      assert.ok(newest)
      const request = { snapshot: newest.name, path: newest.location?.slice('file://'.length) ?? '', server: 's1' }
      const opened = newest.tokenHash === undefined ? {} : { tokenHash: newest.tokenHash }
      return planRestore(specOf(run), await lookNow(run), kept, { ...request, ...opened })
    },
    holds(run, hint) {
      const cluster = etcdOf(run, hint)
      assert.ok(cluster, hint)
      const kept = all(cluster.store, '/configmaps').map(({ metadata }) => metadata.name)
      assert.ok(kept.includes('precious') && !kept.includes('too-late'), `${kept.join(', ')}; ${hint}`)
    },
  },
  ...(['token', 'ca'] as const).map(
    (what): Chapter => ({
      name: `a rotation of the ${what}`,
      verbs: [what === 'token' ? 'rotate-token' : 'rotate-ca'],
      begin: (hint) => formed(1, hint, { spec: '  upgrade: {soak: 10s}\n' }),
      plan: (run) => async () => planRotation(what, specOf(run), await lookNow(run), run.clock.now()),
    }),
  ),
]

/** The chosen verbs, in turn before and after their effect; in the long run every effect, on both sides. */
function killPoints(verbs: readonly string[], chosen: readonly string[]): readonly KillAt[] {
  if (LONG) return verbs.flatMap((_, at) => (['before', 'after'] as const).map((side) => ({ effect: at + 1, side })))
  return chosen.map((verb, index) => ({
    effect: verbs.indexOf(verb) + 1,
    side: index % 2 === 0 ? ('after' as const) : ('before' as const),
  }))
}

for (const chapter of CHAPTERS) {
  test(`[F-01] ${chapter.name} by command: killed at any effect and run again it comes to its end`, async () => {
    const calm = await chapter.begin(replay(FILE, 1))
    const whole = await operated(calm, chapter.plan(calm))
    assert.deepEqual(whole.result, { is: 'done' }, whole.journal.join('; '))
    for (const verb of chapter.verbs) assert.ok(whole.verbs.includes(verb), `${verb} was not done`)
    for (const point of killPoints(whole.verbs, chapter.verbs)) {
      const hint = `${chapter.name}, killed ${point.side} effect ${point.effect}; ${replay(FILE, 1)}`
      const run = await chapter.begin(hint)
      const killed = await operated(run, chapter.plan(run), point)
      assert.deepEqual(killed.result, { is: 'killed' }, hint)
      assert.ok(ordersOf(run).hold?.effect, `nothing says what was under way; ${hint}`)
      const again = await operated(run, chapter.plan(run))
      assert.deepEqual(again.result, { is: 'done' }, `${again.plan.refusals.map(({ reason }) => reason)}; ${hint}`)
      assert.equal(ordersOf(run).hold, undefined, hint)
      assert.equal((await follow(run, hint)).end, 'settled', hint)
      clusterAsDeclared(run, hint)
      chapter.holds?.(run, hint)
    }
  })
}

test('what an earlier run sent and must not arrive late has its time before the operation begins again', async () => {
  const [restore] = CHAPTERS
  assert.ok(restore)
  const run = await restore.begin(replay(FILE, 1))
  const lost = { about: 'operation', do: 'forget-db', node: 's2', lane: 'ssh', summary: 's', awaits: 'a' } as const
  const atMs = run.clock.now()
  order(run, { hold: { reason: 'r', allow: 'a', effect: { step: lost, atMs } } })
  const started: number[] = []
  const plan = await operated(run, restore.plan(run), { effect: 1, side: 'before' })
  started.push(run.clock.now())
  assert.deepEqual(plan.result, { is: 'killed' })
  assert.ok((started[0] ?? 0) - atMs >= 40_000 - LIMITS.operationPollMs, 'it began before the late call had its time')
})
