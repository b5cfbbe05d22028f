import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rolloutId } from '../../src/plan/clusters/rollout.ts'
import { follow, formed, guestOf, HASTE, NEXT, order, type Run, upgraded } from './cluster-lab.ts'
import { clusterAsDeclared, etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-halts.test.ts'

function cordoned(run: Run, hint: string): readonly string[] {
  const cluster = etcdOf(run, hint)
  assert.ok(cluster, hint)
  return nodesOf(cluster)
    .filter(({ spec }) => spec?.unschedulable === true)
    .map(({ metadata }) => metadata.name)
}

test('[A37] a rollout that is aborted midway: every node that we cordoned takes work again, and nothing more is changed', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { agents: ['a1'] })
  const estate = clusterEstate(clusterManifest({ spec: HASTE, agents: ['a1'], version: NEXT }))
  run.estate = estate
  const spec = estate.clusters?.[0]?.spec
  assert.ok(spec)
  let aborted: readonly string[] = []
  await follow(run, hint, {
    mostMs: 20 * 60_000,
    each: () => {
      if (aborted.length > 0 || cordoned(run, hint).length === 0) return
      aborted = cordoned(run, hint)
      order(run, { rolloutAborted: rolloutId(spec) })
    },
  })
  assert.equal(aborted.length, 1, `none was cordoned: nothing is proved; ${hint}`)
  assert.deepEqual(cordoned(run, hint), [], hint)
  const reached = upgraded(run, hint)
  assert.ok(reached.length <= 1, `${reached.join()} were still upgraded; ${hint}`)
  const { verbs } = await follow(run, hint, { mostMs: 10 * 60_000 })
  assert.deepEqual(
    verbs.filter((verb) => /^(cordon|drain|upgrade)/.test(verb)),
    [],
    hint,
  )
  assert.deepEqual(cordoned(run, hint), [], hint)
})

test('[F-29] a server that never comes back from its upgrade: one failure halts it, the others stay up, and it can go on', async () => {
  const hint = replay(FILE, 1)
  const spec = `${HASTE}  remediation: {enabled: false}\n`
  const run = await formed(1, hint, { spec })
  run.estate = clusterEstate(clusterManifest({ spec, version: NEXT }))
  let victim: string | undefined
  const { holds, verbs } = await follow(run, hint, {
    mostMs: 40 * 60_000,
    each: () => {
      if (victim !== undefined) return
      victim = cordoned(run, hint)[0]
      if (victim !== undefined) guestOf(run, victim)[1].trouble.neverStarts = true
    },
  })
  assert.ok(victim !== undefined, `none was upgraded; ${hint}`)
  const touched = new Set(verbs.filter((verb) => /^(cordon|upgrade)/.test(verb)).map((verb) => verb.split(' ')[1]))
  assert.deepEqual([...touched], [victim], `${verbs.join(', ')}; ${hint}`)
  assert.ok(
    holds.some((reason) => reason.includes(victim ?? '?')),
    `${holds.join('; ')}; ${hint}`,
  )
  delete guestOf(run, victim)[1].trouble.neverStarts
  order(run, { resumedMs: run.clock.now() })
  assert.equal((await follow(run, hint, { mostMs: 3_600_000 })).end, 'settled', hint)
  clusterAsDeclared(run, hint)
})
