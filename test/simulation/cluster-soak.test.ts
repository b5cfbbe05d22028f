import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutOff, follow, formed, guestOf, keepFor, NEXT, upgraded } from './cluster-lab.ts'
import { clusterAsDeclared } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-soak.test.ts'

test('[A34] a node that turns NotReady six minutes after its upgrade: the next is not touched until it has soaked', async () => {
  const hint = replay(FILE, 1)
  const spec = '  upgrade: {soak: 10m}\n  remediation: {enabled: false}\n'
  const run = await formed(1, hint, { spec })
  run.estate = clusterEstate(clusterManifest({ spec, version: NEXT }))
  let silenced: string | undefined
  const silent = await follow(run, hint, {
    mostMs: 45 * 60_000,
    each: () => {
      const [first] = upgraded(run, hint)
      if (first === undefined || silenced !== undefined) return
      silenced = first
      run.clock.schedule(run.clock.now() + 6 * 60_000, () => cutOff(run, first, true))
    },
  })
  const [first = '', ...others] = upgraded(run, hint)
  assert.deepEqual(others, [], hint)
  assert.ok(guestOf(run, first)[1].trouble.noNetwork, `it never became silent; ${hint}`)
  assert.ok(
    silent.holds.some((reason) => reason.includes(first)),
    `nobody was told what it waits for: ${silent.holds.join('; ')}; ${hint}`,
  )
  cutOff(run, first, false)
  // Without a person: it is Ready again, soaks, and the others follow.
  await keepFor(run, 3 * 60_000)
  assert.equal((await follow(run, hint, { mostMs: 2 * 3_600_000 })).end, 'settled', hint)
  assert.deepEqual(upgraded(run, hint).toSorted(), ['s1', 's2', 's3'], hint)
  clusterAsDeclared(run, hint)
})
