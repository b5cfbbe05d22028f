import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '../../sim/faults.ts'
import { estateOf, SIX } from './manifests.ts'
import { onKubernetes } from './on-kubernetes.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import type { Simulation } from './run.ts'
import { LONG, replay, seeds } from './volume.ts'

/* What the simulations of F-02 to F-11 say of the store in memory holds of the one in a Kubernetes API. */

const FILE = 'kubernetes-store-faults.test.ts'
const estate = estateOf(SIX)
const CREATE = '^POST /nodes/[^/]+/qemu$'

function creates({ datacentre }: Simulation): number {
  return datacentre.writes.filter(({ method, path }) => method === 'POST' && /^\/nodes\/[^/]+\/qemu$/.test(path)).length
}

test('[F-02] a crash during the restart after a crash, and [F-03] twenty crashes at the start, lose and double nothing', async () => {
  for (const seed of seeds(1, 20)) {
    for (const crashes of [[40, 12], [120, 30], Array.from({ length: 20 }, (_, index) => index + 1)]) {
      const hint = `${replay(FILE, seed)} (crashes at ${crashes.join()})`
      const { run, look } = await onKubernetes({ seed, estate })
      const strangers = strangersOf(run.datacentre)
      for (const crashAt of crashes) assert.equal(await run.untilSettled(run.start({ crashAt })), 'killed', hint)
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      await look()
      nothingDoubledOrLost(run, strangers, hint)
      asDeclared(run, hint)
    }
  }
})

const SLOW = { importBytesPerSecond: Math.ceil((3.5 * 2 ** 30) / 1800), callMs: [1, 8] as const }
const STORM_MS = 600_000
const storm: readonly Fault[] = [
  { kind: 'fail', status: 500, reason: 'got timeout' },
  { kind: 'fail', status: 595, reason: 'Connection refused' },
  { kind: 'drop-before', sent: 'maybe' },
  { kind: 'drop-after' },
  { kind: 'truncated' },
  { kind: 'html' },
]

const CASES: readonly {
  readonly rule: string
  readonly faults: readonly Fault[]
  readonly timing?: typeof SLOW
  readonly forMs?: number
}[] = [
  { rule: '[F-04] answers that are lost after a create', faults: [{ kind: 'drop-after', match: CREATE, count: 5 }] },
  {
    rule: '[F-04] answers that are lost after any write',
    faults: [{ kind: 'drop-after', match: '^(PUT|POST) ', count: 9 }],
  },
  {
    rule: '[F-05] requests that never arrive',
    faults: [{ kind: 'drop-before', match: CREATE, count: 6, sent: 'maybe' }],
  },
  { rule: '[F-06] a storage that takes half an hour', faults: [], timing: SLOW },
  {
    rule: '[F-07] a storm of errors',
    faults: storm.map((fault) => ({ ...fault, probability: 0.06 })),
    forMs: STORM_MS,
  },
  {
    rule: '[F-10] a token that is refused for a while',
    faults: [{ kind: 'fail', status: 401, reason: 'authentication failure' }],
    forMs: STORM_MS,
  },
]

for (const { rule, faults, timing, forMs } of CASES)
  test(`${rule}: on a store in Kubernetes each machine is made once`, async () => {
    for (const seed of seeds(1, 50)) {
      const hint = replay(FILE, seed)
      const { run, look } = await onKubernetes({ seed, estate, ...(timing === undefined ? {} : { timing }) })
      const strangers = strangersOf(run.datacentre)
      const untilMs = run.clock.now() + (forMs ?? 0)
      for (const fault of faults) run.datacentre.faults.add({ ...fault, ...(forMs === undefined ? {} : { untilMs }) })
      const process = run.start({ retryStalled: true })
      await run.untilSettled(process)
      while (run.clock.now() < untilMs) await run.passes(process, 1)
      await look()
      nothingDoubledOrLost(run, strangers, hint)
      assert.equal(await run.untilSettled(process), 'settled', hint)
      await look()
      nothingDoubledOrLost(run, strangers, hint)
      asDeclared(run, hint)
      assert.equal(creates(run), SIX.length, hint)
      await quietFor(run, LONG ? 20 : 3, hint)
    }
  })

test('[F-09] a token that sees less, also with a store that was lost, makes and deletes nothing', async () => {
  for (const seed of seeds(1, 50))
    for (const lost of [false, true]) {
      const hint = `${replay(FILE, seed)} (store ${lost ? 'lost' : 'kept'})`
      const { run, lose } = await onKubernetes({ seed, estate })
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      const before = run.datacentre.writes.length
      const ours = [...run.datacentre.world.guests.keys()].filter((id) => id >= 200).slice(0, 3)
      run.datacentre.hideGuests('root@pam!croft', (id) => ours.includes(id))
      if (lost) lose()
      await run.passes(run.start(), 10)
      assert.equal(run.datacentre.writes.length, before, `writes although guests were hidden; ${hint}`)
      run.datacentre.hideGuests('root@pam!croft', undefined)
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      assert.equal(run.datacentre.writes.length, before, `nothing was to do after all; ${hint}`)
    }
})

test('[F-11] a person who takes the id first keeps the guest, on a store in Kubernetes too', async () => {
  const chosen = estateOf(SIX.map(({ vmid: _, ...machine }) => machine))
  for (const seed of seeds(1, 50)) {
    const hint = replay(FILE, seed)
    const { run, look } = await onKubernetes({ seed, estate: chosen })
    const strangers = strangersOf(run.datacentre)
    const { handle } = run.datacentre
    let taken = 0
    const meddling = run.datacentre as { handle: typeof handle }
    meddling.handle = (request) => {
      const id = Number(/(?:^|&)vmid=(\d+)/.exec(String(request.body ?? ''))?.[1])
      const create = request.method === 'POST' && request.path.endsWith('/qemu')
      if (create && taken < 3 && !run.datacentre.world.guests.has(id)) {
        taken++
        run.datacentre.addGuest(id, 'still-fawn', { name: `person-${id}`, memory: '512' })
      }
      return handle(request)
    }
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    const persons = [...run.datacentre.world.guests.values()].filter(({ config }) =>
      config.get('name')?.startsWith('person-'),
    )
    assert.deepEqual([taken, persons.length], [3, 3], hint)
    await look()
    nothingDoubledOrLost(run, strangers, hint)
    asDeclared(run, hint)
  }
})

test('[F-08] a list that is seconds old starts no machine that runs, makes none twice, and no write overlooks a person', async () => {
  for (const seed of seeds(1, 20)) {
    const hint = replay(FILE, seed)
    const { run, look } = await onKubernetes({ seed, estate })
    const strangers = strangersOf(run.datacentre)
    const { handle } = run.datacentre
    const wrong: string[] = []
    let started = 0
    let compared = 0
    const watching = run.datacentre as { handle: typeof handle }
    watching.handle = (request) => {
      const id = Number(/\/qemu\/(\d+)\//.exec(request.path)?.[1])
      const guest = run.datacentre.world.guests.get(id)
      if (request.method === 'POST' && request.path.endsWith('/status/start')) {
        started++
        if (guest?.run.status === 'running') wrong.push(`${id} was started although it runs`)
      }
      if (/^(?:PUT|POST)$/.test(request.method) && request.path.endsWith('/config')) {
        compared++
        if (!/(?:^|&)digest=/.test(String(request.body ?? ''))) wrong.push(`${request.path} overlooks a person`)
      }
      return handle(request)
    }
    const process = run.start()
    assert.equal(await run.untilSettled(process), 'settled', hint)
    const [first = 0, second = 0, third = 0] = [...run.datacentre.world.guests.keys()].filter((id) => id >= 200)
    // Each is seen in the list seconds later than it happens.
    run.datacentre.patchGuest(first, { status: 'stopped' })
    run.datacentre.patchGuest(second, { status: 'stopped' })
    await run.passes(process, 1)
    run.datacentre.patchGuest(second, { status: 'running' })
    const from = run.datacentre.world.guests.get(third)?.node
    run.datacentre.patchGuest(third, { node: from === 'still-fawn' ? 'pumped-piglet' : 'still-fawn' })
    run.estate = estateOf(SIX.map((machine) => ({ ...machine, memory: (machine.memory ?? 2048) + 512 })))
    await run.passes(process, 3)
    assert.equal(await run.untilSettled(process), 'settled', hint)
    assert.deepEqual(wrong, [], hint)
    assert.ok(started > SIX.length && compared > 0, `${started} starts, ${compared} writes; ${hint}`)
    assert.equal(creates(run), SIX.length, hint)
    await look()
    nothingDoubledOrLost(run, strangers, hint)
  }
})
