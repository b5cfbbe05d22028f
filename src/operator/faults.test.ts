import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Wire, WireFailure, type WireRequest, type WireResponse } from '../lib/wire.ts'
import { conditionOf, type Ground, groundWith, VMS } from './testing/harness.ts'
import { providerVms } from './testing/made-by-crossplane.ts'

const [VM] = providerVms(1, ['fun-bedbug'])
const PATH = `${VMS}/${VM?.name}`

function groundWithOne(): Promise<Ground> {
  assert.ok(VM)
  return groundWith(VM)
}

const change = (ground: Ground, onBoot: boolean) => ground.call('PATCH', PATH, { spec: { forProvider: { onBoot } } })
const onBoot = ({ datacentre }: Ground) => datacentre.world.guests.get(VM?.vmid ?? 0)?.config.get('onboot') === '1'

/** The operator's own way to the API, with faults; the test's own calls go around it. */
function faulty(base: Wire, fault: (request: WireRequest) => WireResponse | WireFailure | undefined): Wire {
  return {
    async send(request, signal) {
      const wrong = fault(request)
      if (wrong instanceof WireFailure) throw wrong
      return wrong ?? base.send(request, signal)
    },
    async stream(request, onText, signal) {
      const wrong = fault(request)
      if (wrong instanceof WireFailure) throw wrong
      assert.ok(base.stream)
      return wrong ?? base.stream(request, onText, signal)
    },
    close: () => base.close(),
  }
}

const answer = (status: number, reason: string, message: string): WireResponse => ({
  status,
  reason,
  headers: {},
  body: JSON.stringify({ kind: 'Status', status: 'Failure', reason, message, code: status }),
})

test('[F-07] an API server that is away for minutes costs no write and no replica; what changed meanwhile is done after', async () => {
  const ground = await groundWithOne()
  let away = false
  const wire = faulty(ground.api.wire(), () =>
    away ? new WireFailure('no', 'ECONNREFUSED', 'connection refused') : undefined,
  )
  const operator = await ground.start({ wire })
  await ground.pass(60_000)
  away = true
  await change(ground, false)
  await ground.pass(300_000)
  assert.deepEqual(ground.datacentre.writes, [])
  away = false
  await ground.pass(60_000)
  assert.equal(operator.failure(), undefined)
  assert.equal(onBoot(ground), false)
  assert.equal(ground.datacentre.writes.length, 1)
  assert.equal(conditionOf(await ground.get(PATH), 'Synced'), 'True ReconcileSuccess')
  await operator.stop()
})

test('[F-07] while etcd takes no writes nothing is done to Proxmox, and it goes on when there is room again', async () => {
  const ground = await groundWithOne()
  let full = false
  const wire = faulty(ground.api.wire(), ({ method }) =>
    full && method !== 'GET' ? answer(500, 'InternalError', 'etcdserver: mvcc: database space exceeded') : undefined,
  )
  const operator = await ground.start({ wire })
  await ground.pass(60_000)
  full = true
  await change(ground, false)
  await ground.pass(300_000)
  assert.deepEqual(ground.datacentre.writes, [], 'no effect without an intention that is on disk')
  assert.match(operator.warnings.join('\n'), /database space exceeded/)
  full = false
  await ground.pass(60_000)
  assert.equal(operator.failure(), undefined)
  assert.equal(onBoot(ground), false)
  assert.equal(ground.datacentre.writes.length, 1)
  await operator.stop()
})

test('[F-04] writes whose answers are lost count once', async () => {
  const ground = await groundWithOne()
  const base = ground.api.wire()
  let lose = false
  let lost = 0
  const wire: Wire = {
    ...base,
    async send(request, signal) {
      const got = await base.send(request, signal)
      if (!lose || request.method === 'GET' || lost++ % 2 === 1) return got
      throw new WireFailure('maybe', 'ECONNRESET', 'the connection was reset')
    },
  }
  const operator = await ground.start({ wire })
  await ground.pass(60_000)
  lose = true
  for (const wanted of [false, true, false]) {
    await change(ground, wanted)
    await ground.pass(60_000)
  }
  assert.ok(lost > 4, `${lost}`)
  assert.equal(operator.failure(), undefined)
  assert.equal(onBoot(ground), false)
  assert.equal(ground.datacentre.writes.length, 3)
  await operator.stop()
})

test('somebody who writes the same objects at the same time keeps nothing from happening', async () => {
  const ground = await groundWithOne()
  const base = ground.api.wire()
  let rounds = 0
  const wire: Wire = {
    ...base,
    async send(request, signal) {
      // Just before each write of ours, another controller writes the object.
      if (request.method === 'PATCH' && request.path.startsWith(VMS) && rounds++ < 20)
        await ground.call('PATCH', PATH, { metadata: { annotations: { 'example.org/seen': `${rounds}` } } })
      return base.send(request, signal)
    },
  }
  const operator = await ground.start({ wire })
  await ground.pass(60_000)
  await change(ground, false)
  await ground.pass(120_000)
  assert.equal(operator.failure(), undefined)
  assert.equal(onBoot(ground), false)
  assert.equal(conditionOf(await ground.get(PATH), 'Synced'), 'True ReconcileSuccess')
  assert.equal(ground.datacentre.writes.length, 1)
  await operator.stop()
})
