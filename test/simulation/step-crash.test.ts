import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MemoryDisk } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { formed, HASTE, NEXT, type Run } from './cluster-lab.ts'
import { clusterAsDeclared, createQuorumWatch, etcdOf, noIntentionLeft } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { nothingDoubledOrLost, strangersOf } from './oracle.ts'
import { LONG, replay } from './volume.ts'

const FILE = 'step-crash.test.ts'

/** One change of a cluster that stands, from a copy of the same beginning each time. */
interface Chapter {
  readonly name: string
  readonly from: Parameters<typeof clusterManifest>[0]
  readonly to: Parameters<typeof clusterManifest>[0]
  /** Verbs that must be among the steps: without them nothing would be proved. */
  readonly verbs: readonly string[]
}

const CHAPTERS: readonly Chapter[] = [
  { name: 'an agent joins', from: {}, to: { agents: ['a1'] }, verbs: ['join-agent'] },
  { name: 'an agent leaves', from: { agents: ['a1'] }, to: {}, verbs: ['cordon', 'stop-k3s', 'delete-node'] },
  { name: 'an upgrade', from: {}, to: { version: NEXT }, verbs: ['snapshot', 'cordon', 'upgrade-k3s', 'uncordon'] },
]

/** At which effect points steps on a cluster were written down, by verb. */
function watchIntentions(disk: MemoryDisk, points: () => number): ReadonlyMap<string, readonly number[]> {
  const seen = new Map<string, number[]>()
  const set = disk.intentions.set.bind(disk.intentions)
  disk.intentions.set = (id, intention) => {
    const { step } = intention
    if (step.about !== undefined) seen.set(step.verb, [...(seen.get(step.verb) ?? []), points()])
    return set(id, intention)
  }
  return seen
}

/**
 * Where to be killed: after the intention and before the effect, and after the effect, of a step of each verb. In the long
 * run at every point from the first step on.
 */
function crashPoints(seen: ReadonlyMap<string, readonly number[]>, last: number): readonly number[] {
  if (LONG) {
    const first = Math.min(...[...seen.values()].flat())
    return Array.from({ length: last - first }, (_, index) => first + 1 + index)
  }
  return [...seen.values()].map((at, index) => (at[0] ?? 0) + 1 + (index % 3))
}

async function begin(chapter: Chapter, hint: string): Promise<Run> {
  const run = await formed(1, hint, chapter.from)
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, ...chapter.to }))
  return run
}

for (const chapter of CHAPTERS) {
  test(`[F-01] ${chapter.name}: a crash before or after any effect loses nothing, doubles nothing and leaves nothing open`, async (t) => {
    const calm = await begin(chapter, replay(FILE, 1))
    const whole = calm.start()
    const seen = watchIntentions(calm.disk, whole.points)
    assert.equal(await calm.untilSettled(whole), 'settled', chapter.name)
    for (const verb of chapter.verbs) assert.ok(seen.has(verb), `${verb} was not among ${[...seen.keys()].join(', ')}`)
    let found = 0
    for (const point of crashPoints(seen, whole.points())) {
      const hint = `${chapter.name}; ${replay(FILE, 1, point)}`
      const run = await begin(chapter, hint)
      const strangers = strangersOf(run.datacentre)
      const before = etcdOf(run, hint)?.id
      const watch = createQuorumWatch(run, hint)
      const onPass = () => watch.look()
      assert.equal(await run.untilSettled(run.start({ crashAt: point }), { onPass }), 'killed', hint)
      found += [...run.disk.intentions.values()].filter(({ step }) => step.about !== undefined).length
      assert.equal(await run.untilSettled(run.start(), { onPass }), 'settled', hint)
      nothingDoubledOrLost(run, strangers, hint)
      clusterAsDeclared(run, hint)
      noIntentionLeft(run, hint)
      assert.equal(etcdOf(run, hint)?.id, before, hint)
    }
    assert.ok(found > 0, 'no process was killed in the middle of a step: nothing would be proved')
    t.diagnostic(`${found} steps were open when a process was killed`)
  })
}

/** Plausible defects in the journal of steps, each with the message that must name it. */
const PLANTED: readonly { readonly bug: string; readonly store: (store: Store) => Store; readonly found: RegExp }[] = [
  {
    bug: 'a step on a cluster is begun before its intention is on disk',
    store: (store) => ({
      ...store,
      intend: async (epoch, intention) =>
        intention.step.about === undefined ? store.intend(epoch, intention) : undefined,
    }),
    found: /was begun without an intention/,
  },
  {
    bug: 'a step that is over is not settled',
    store: (store) => ({
      ...store,
      async settle(epoch, id) {
        const open = (await store.intentions()).find((one) => one.id === id)
        if (open?.step.about === undefined) await store.settle(epoch, id)
      },
    }),
    found: /intentions that nobody settled/,
  },
]

for (const { bug, store, found } of PLANTED) {
  test(`the simulation notices when ${bug}`, async () => {
    const estate = clusterEstate(clusterManifest({ servers: ['s1'] }))
    const run = simulateCluster({ seed: 1, estate, sabotage: { store } })
    await assert.rejects(async () => {
      assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled')
      clusterAsDeclared(run, bug)
    }, found)
  })
}
