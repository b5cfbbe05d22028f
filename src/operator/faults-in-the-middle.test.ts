import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at } from '../kubernetes/objects.ts'
import { type Wire, WireFailure } from '../lib/wire.ts'
import { conditionOf, createGround, type Ground, type RunningOperator, VMS } from './testing/harness.ts'
import { FINALIZER } from './testing/made-by-crossplane.ts'

/** The finalizer of another controller. */
const THEIRS = 'example.org/keep'

const SPEC = {
  deletionPolicy: 'Delete',
  forProvider: {
    nodeName: 'fun-bedbug',
    name: 'fresh',
    started: true,
    onBoot: true,
    cpu: [{ cores: 1 }],
    memory: [{ dedicated: 512 }],
  },
}

const made = ({ datacentre }: Ground) => datacentre.writes.filter(({ path }) => path.endsWith('/qemu')).length
const guests = ({ datacentre }: Ground) =>
  [...datacentre.world.guests.values()].filter(({ config }) => config.get('name') === 'fresh')

/** The object is applied, and the operator has just sent the creation to Proxmox: what comes now comes in the middle. */
async function begun(start: (ground: Ground) => Promise<RunningOperator>): Promise<[Ground, RunningOperator]> {
  const ground = await createGround()
  const operator = await start(ground)
  await ground.pass(30_000)
  await ground.call('POST', VMS, { metadata: { name: 'fresh' }, spec: SPEC })
  await ground.until(() => made(ground) > 0, 900_000)
  return [ground, operator]
}

async function isWhole(ground: Ground): Promise<void> {
  assert.equal(made(ground), 1, 'one creation')
  assert.equal(guests(ground).length, 1)
  const object = await ground.get(`${VMS}/fresh`)
  assert.deepEqual(
    [conditionOf(object, 'Synced'), conditionOf(object, 'Ready')],
    ['True ReconcileSuccess', 'True Available'],
  )
}

test('[F-07] watches that are lost in the middle of an apply, and whose place the server has forgotten (410), cost no second machine', async () => {
  const open = new Set<AbortController>()
  let forgotten = false
  let refused = 0
  const losing = (base: Wire): Wire => ({
    ...base,
    async stream(request, onText, signal) {
      if (forgotten && request.path.includes('watch=')) {
        refused++
        const body = {
          kind: 'Status',
          status: 'Failure',
          reason: 'Expired',
          message: 'too old resource version',
          code: 410,
        }
        return { status: 410, reason: 'Gone', headers: {}, body: JSON.stringify(body) }
      }
      assert.ok(base.stream)
      const cut = new AbortController()
      open.add(cut)
      try {
        const both = signal === undefined ? cut.signal : AbortSignal.any([signal, cut.signal])
        return await base.stream(request, onText, both)
      } catch (error) {
        throw cut.signal.aborted ? new WireFailure('maybe', 'ECONNRESET', 'the connection was reset') : error
      } finally {
        open.delete(cut)
      }
    },
  })
  const [ground, operator] = await begun((one) => one.start({ wire: losing(one.api.wire()) }))
  forgotten = true
  for (const cut of open) cut.abort()
  await ground.pass(120_000)
  assert.ok(refused > 1, `${refused} watches were refused`)
  await isWhole(ground)
  // Without watches, only lists report changes.
  await ground.call('PATCH', `${VMS}/fresh`, { spec: { forProvider: { onBoot: false } } })
  await ground.pass(120_000)
  assert.equal(guests(ground)[0]?.config.get('onboot'), '0')
  forgotten = false
  await ground.call('PATCH', `${VMS}/fresh`, { spec: { forProvider: { onBoot: true } } })
  await ground.pass(120_000)
  assert.equal(guests(ground)[0]?.config.get('onboot'), '1')
  assert.equal(operator.failure(), undefined)
  await isWhole(ground)
  await operator.stop()
})

for (const [first, second] of [
  [600_000, -600_000],
  [-600_000, 600_000],
] as const)
  test(`[F-01] a replica whose clock is off by ${first / 60_000} min dies in the middle of a creation; one that is off by ${second / 60_000} min finishes it`, async () => {
    const [ground, dying] = await begun((one) => one.start({ name: 'a', skewMs: first }))
    await dying.die()
    const next = await ground.start({ name: 'b', skewMs: second })
    await ground.pass(300_000)
    assert.equal(next.failure(), undefined)
    await isWhole(ground)
    await next.stop()
  })

// If Leases can still be written, as under a quota for large objects, only the store stops croft.
for (const [what, refuses] of [
  ['everything', () => true],
  ['what croft remembers', (path: string) => path.includes('/configmaps')],
] as const)
  test(`[F-07] etcd that is full from the middle of a creation on, for ${what}: nothing more begins, and nothing is made twice after`, async () => {
    let full = false
    const filling = (base: Wire): Wire => ({
      ...base,
      async send(request, signal) {
        if (!full || request.method === 'GET' || !refuses(request.path)) return base.send(request, signal)
        const message = 'etcdserver: mvcc: database space exceeded'
        const body = { kind: 'Status', status: 'Failure', reason: 'InternalError', message, code: 500 }
        return { status: 500, reason: 'Internal Server Error', headers: {}, body: JSON.stringify(body) }
      },
    })
    const [ground, operator] = await begun((one) => one.start({ wire: filling(one.api.wire()) }))
    full = true
    await ground.pass(600_000)
    assert.deepEqual([made(ground), ground.datacentre.writes.length], [1, 1], 'it is neither made again nor started')
    full = false
    await ground.pass(300_000)
    assert.equal(operator.failure(), undefined)
    await isWhole(ground)
    await operator.stop()
  })

test('[F-04] somebody who writes the same object before each write of ours keeps no creation from its end, and none is doubled', async () => {
  let rounds = 0
  const [ground, operator] = await begun((one) => {
    const base = one.api.wire()
    const meddling: Wire = {
      ...base,
      async send(request, signal) {
        if (request.method === 'PATCH' && request.path.startsWith(`${VMS}/fresh`) && rounds++ < 30) {
          const annotations = { 'example.org/seen': `${rounds}` }
          const finalizers = rounds === 1 ? { finalizers: [THEIRS] } : {}
          await one.call('PATCH', `${VMS}/fresh`, { metadata: { annotations, ...finalizers } })
        }
        return base.send(request, signal)
      },
    }
    return one.start({ wire: meddling })
  })
  await ground.pass(300_000)
  assert.ok(rounds > 2, `${rounds}`)
  assert.equal(operator.failure(), undefined)
  await isWhole(ground)
  const finalizers = at(await ground.get(`${VMS}/fresh`), 'metadata', 'finalizers')
  assert.deepEqual(finalizers, [THEIRS, FINALIZER], 'what they put there in between stays')
  await operator.stop()
})

for (const [first, second] of [
  [600_000, -600_000],
  [-600_000, 600_000],
] as const)
  test(`[F-01] a deletion that got no answer may still arrive: a replica whose clock is off by ${(second - first) / 60_000} min waits for it too`, async () => {
    const ground = await createGround()
    const { datacentre, api } = ground
    const dying = await ground.start({ name: 'a', skewMs: first })
    await ground.call('POST', VMS, {
      metadata: { name: 'fresh' },
      spec: { ...SPEC, forProvider: { ...SPEC.forProvider, started: false } },
    })
    await ground.until(() => guests(ground).length === 1, 900_000)
    await ground.pass(60_000)
    datacentre.faults.add({ kind: 'drop-before', sent: 'maybe', match: '^DELETE /nodes/[^/]+/qemu/', count: 1 })
    await ground.call('DELETE', `${VMS}/fresh`)
    await ground.until(() => struck(ground), 900_000)
    const lostMs = api.lab.clock.now()
    await dying.die()
    const next = await ground.start({ name: 'b', skewMs: second })
    await ground.until(() => guests(ground).length === 0, 900_000)
    const waitedMs = api.lab.clock.now() - lostMs
    assert.ok(waitedMs > 50_000, `it was deleted again after ${waitedMs} ms`)
    assert.equal(next.failure(), undefined)
    await next.stop()
  })

/** Reports whether the single fault has happened. */
function struck({ datacentre }: Ground): boolean {
  return datacentre.faults.list().length === 0
}
