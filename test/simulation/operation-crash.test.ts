import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all } from '../../sim/kubernetes/store.ts'
import { readBackups } from '../../src/engine/clusters/backups.ts'
import type { ClusterOperation } from '../../src/model/observed-cluster.ts'
import { planRestore } from '../../src/plan/clusters/restore.ts'
import { planRotation } from '../../src/plan/clusters/rotate.ts'
import { follow, formed, keepFor, keepSomething, nextDay, type Run } from './cluster-lab.ts'
import { type KillAt, keptBy, lookNow, operated, ordersOf } from './cluster-operated.ts'
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
    verbs: ['restore-snapshot', 'forget-db'],
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
  ...(LONG ? (['token', 'ca'] as const) : (['ca'] as const)).map(
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
    const drawn = await chapter.begin(replay(FILE, 1))
    const verbs: readonly string[] = (await chapter.plan(drawn)(keptBy(drawn))).steps.map(({ verb }) => verb)
    const effects = verbs.filter((verb) => verb !== 'hold' && verb !== 'release')
    for (const verb of chapter.verbs) assert.ok(effects.includes(verb), `${verb} is not among ${effects.join(', ')}`)
    let fresh = true
    for (const point of killPoints(effects, chapter.verbs)) {
      const hint = `${chapter.name}, killed ${point.side} effect ${point.effect}; ${replay(FILE, 1)}`
      // The first needs no other ground than the one that the list was made on.
      const run: Run = fresh ? drawn : await chapter.begin(hint)
      fresh = false
      const killed = await operated(run, chapter.plan(run), point)
      assert.deepEqual(killed.result, { is: 'killed' }, hint)
      assert.ok(ordersOf(run).hold?.effect, `nothing says what was under way; ${hint}`)
      const again = await operated(run, chapter.plan(run))
      assert.deepEqual(
        again.result,
        { is: 'done' },
        `${again.plan.refusals.map(({ reason }) => reason).join(', ')}; ${hint}`,
      )
      assert.equal(ordersOf(run).hold, undefined, hint)
      assert.equal((await follow(run, hint)).end, 'settled', hint)
      clusterAsDeclared(run, hint)
      chapter.holds?.(run, hint)
    }
  })
}
