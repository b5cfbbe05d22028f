import assert from 'node:assert/strict'
import { test } from 'node:test'
import { destroyed, follow, formed, HASTE, order, type Run } from './cluster-lab.ts'
import { clusterAsDeclared, etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'cluster-lifecycle.test.ts'

/** Lets it run under watch until it is settled; gives the verbs that were performed, in order, each once in a row. */
async function settle(run: Run, hint: string): Promise<readonly string[]> {
  const { end, verbs } = await follow(run, hint, { mostMs: 2 * 3_600_000 })
  assert.equal(end, 'settled', hint)
  return verbs
}

test('[A9] the machine of the first server is lost: it joins the others, and no second cluster begins', async () => {
  for (const seed of seeds(1, 50)) {
    const hint = replay(FILE, seed)
    const run = await formed(seed, hint)
    const strangers = strangersOf(run.datacentre)
    const first = [...run.vault.kept.values()][0]?.firstServer
    assert.ok(first !== undefined)
    await destroyed(run, first)
    const before = etcdOf(run, hint)?.id
    const verbs = await settle(run, hint)
    assert.ok(!verbs.some((verb) => verb.startsWith('init-cluster')), `cluster-init was used again; ${hint}`)
    assert.ok(verbs.includes(`join-server ${first}`), `${verbs.join(', ')}; ${hint}`)
    assert.equal(etcdOf(run, hint)?.id, before, hint)
    nothingDoubledOrLost(run, strangers, hint)
    clusterAsDeclared(run, hint)
  }
})

test('[A10] [R7] a worker is replaced under its name by one order, and another is added by one line', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { agents: ['a1'] })
  const atMs = run.clock.now()
  order(run, { replace: [{ node: 'a1', atMs, goes: 'unseen' }] })
  const verbs = await settle(run, hint)
  assert.ok(verbs.includes('destroy-machine a1') && verbs.includes('join-agent a1'), `${verbs.join(', ')}; ${hint}`)
  clusterAsDeclared(run, hint)
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, agents: ['a1', 'a2'] }))
  const more = await settle(run, hint)
  assert.ok(!more.some((verb) => verb.endsWith('a1') || / s\d$/.test(verb)), `others were touched: ${more.join(', ')}`)
  clusterAsDeclared(run, hint)
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, agents: ['a2'] }))
  const less = await settle(run, hint)
  assert.ok(less.includes('delete-node a1') && less.includes('destroy-machine a1'), `${less.join(', ')}; ${hint}`)
  clusterAsDeclared(run, hint)
  await quietFor(run, 5, hint)
})

test('[R40] a new pin goes round: fetched everywhere, a snapshot, one server after another, then the agents, quorum kept', async () => {
  for (const seed of seeds(1, 50)) {
    const hint = replay(FILE, seed)
    const run = await formed(seed, hint, { agents: ['a1'] })
    run.estate = clusterEstate(clusterManifest({ spec: HASTE, agents: ['a1'], version: 'v1.34.4+k3s1' }))
    const verbs = await settle(run, hint)
    const order = verbs.filter((verb) => verb.startsWith('upgrade-k3s')).map((verb) => verb.slice(-2))
    assert.deepEqual([...new Set(order)].slice(-1), ['a1'], `agents come last: ${order.join(' ')}; ${hint}`)
    assert.equal(new Set(order).size, 4, `${order.join(' ')}; ${hint}`)
    const first = verbs.find((verb) => !verb.startsWith('prepare-k3s'))
    assert.ok(first?.startsWith('snapshot'), `after the release is fetched, the first step is ${first}; ${hint}`)
    clusterAsDeclared(run, hint)
    await quietFor(run, 3, hint)
  }
})

test('[A24] more memory for the servers: each is cordoned and drained before its machine restarts, one at a time', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  const manifest = clusterManifest({ spec: HASTE }).replaceAll(/\{name: (s\d), /g, '{name: $1, memory: 6Gi, ')
  run.estate = clusterEstate(manifest)
  const verbs = await settle(run, hint)
  for (const name of ['s1', 's2', 's3']) {
    const mine = verbs.filter((verb) => verb.endsWith(name)).map((verb) => verb.split(' ')[0])
    assert.ok(mine.indexOf('cordon') < mine.indexOf('restart-machine'), `${name}: ${mine.join(', ')}; ${hint}`)
    assert.ok(mine.includes('uncordon'), `${name}: ${mine.join(', ')}; ${hint}`)
  }
  for (const guest of run.datacentre.world.guests.values()) {
    if (/^s\d$/.test(guest.config.get('name') ?? '')) assert.equal(guest.config.get('memory'), '6144', hint)
  }
  clusterAsDeclared(run, hint)
})

test('[A31] three servers to two is refused with what it would cost; with allow.degraded it is done', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, servers: ['s1', 's2'] }))
  const refused = await run.passes(run.start(), 3)
  const told =
    refused
      .at(-1)
      ?.clusters?.[0]?.decision.refusals.map(({ reason }) => reason)
      .join() ?? ''
  assert.match(told, /fault tolerance/, hint)
  const cluster = etcdOf(run, hint)
  assert.equal(cluster === undefined ? 0 : nodesOf(cluster).length, 3, `nobody left; ${hint}`)
  assert.equal(run.datacentre.world.guests.size >= 3, true, hint)
  run.estate = clusterEstate(clusterManifest({ spec: `${HASTE}  allow: {degraded: true}\n`, servers: ['s1', 's2'] }))
  const verbs = await settle(run, hint)
  assert.ok(verbs.indexOf('remove-member s3') < verbs.indexOf('destroy-machine s3'), `${verbs.join(', ')}; ${hint}`)
  clusterAsDeclared(run, hint)
})
