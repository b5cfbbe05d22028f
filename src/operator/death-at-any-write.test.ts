import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Wire } from '../lib/wire.ts'
import { conditionOf, createGround, type Ground, type RunningOperator, VMS } from './testing/harness.ts'

const SPEC = {
  deletionPolicy: 'Delete',
  forProvider: {
    nodeName: 'fun-bedbug',
    name: 'fresh',
    cpu: [{ cores: 1 }],
    memory: [{ dedicated: 512 }],
  },
}

/** Points of death per sort, spread over all writes. */
const LIVES = 8

interface Mortal {
  readonly operator: RunningOperator
  /** Counts its writes from now on, except those of Leases, which it renews all the time. */
  arm(): void
  writes(): number
}

/** Loses its power at the given write to the API server: before it arrives, or before its answer does. */
async function mortal(ground: Ground, point: number, when: 'before' | 'after'): Promise<Mortal> {
  const base = ground.api.wire()
  let operator: RunningOperator | undefined
  let armed = false
  let writes = 0
  const wire: Wire = {
    ...base,
    async send(request, signal) {
      if (!armed || request.method === 'GET' || request.path.includes('/leases')) return base.send(request, signal)
      if (++writes < point) return base.send(request, signal)
      operator?.pause()
      if (when === 'before') return { status: 503, reason: 'Gone', headers: {}, body: '' }
      return base.send(request, signal)
    },
  }
  operator = await ground.start({ name: 'a', wire })
  return {
    operator,
    arm() {
      armed = true
    },
    writes: () => writes,
  }
}

const made = ({ datacentre }: Ground) => datacentre.writes.filter(({ path }) => path.endsWith('/qemu')).length
const guests = ({ datacentre }: Ground) =>
  [...datacentre.world.guests.values()].filter(({ config }) => config.get('name') === 'fresh')

const isReady = async (ground: Ground) => {
  const object = await ground.get(`${VMS}/fresh`)
  return [conditionOf(object, 'Synced'), conditionOf(object, 'Ready')].join() === 'True ReconcileSuccess,True Available'
}

const isGone = async (ground: Ground) => guests(ground).length === 0 && (await ground.get(`${VMS}/fresh`)) === undefined

/** Lets time pass until it holds, and no longer: idle minutes cost the most. */
async function within(ground: Ground, ms: number, holds: () => Promise<boolean>): Promise<void> {
  for (let left = ms; left > 0 && !(await holds()); left -= 2_000) await ground.pass(2_000)
}

/** A running machine takes a minute to shut down before it is deleted. */
const apply = (ground: Ground, started: boolean) =>
  ground.call('POST', VMS, {
    metadata: { name: 'fresh' },
    spec: { ...SPEC, forProvider: { ...SPEC.forProvider, started } },
  })

/** Runs one life: creating the object, or deleting it. Returns the number of writes. */
async function live(what: 'made' | 'deleted', point: number, when: 'before' | 'after'): Promise<number> {
  const hint = `${what}, dead ${when} write ${point}`
  const ground = await createGround()
  const { operator, arm, writes } = await mortal(ground, point, when)
  await ground.pass(8_000)
  if (what === 'deleted') {
    await apply(ground, false)
    await within(ground, 60_000, () => isReady(ground))
    assert.ok(await isReady(ground), hint)
  }
  arm()
  if (what === 'made') await apply(ground, true)
  else await ground.call('DELETE', `${VMS}/fresh`)
  const over = () => (what === 'made' ? isReady(ground) : isGone(ground))
  await within(ground, 60_000, async () => (Number.isFinite(point) ? writes() >= point : over()))
  const next = await ground.start({ name: 'b' })
  await within(ground, 180_000, over)
  await ground.pass(10_000)
  assert.equal(next.failure(), undefined, hint)
  assert.equal(made(ground), 1, hint)
  if (what === 'made') {
    assert.equal(guests(ground).length, 1, hint)
    assert.ok(await isReady(ground), hint)
  } else assert.ok(await isGone(ground), hint)
  await next.stop()
  await operator.die()
  return writes()
}

for (const what of ['made', 'deleted'] as const)
  test(`[F-01] while a machine is ${what}, a replica that dies at any of its writes to the API server is followed by one that doubles and loses nothing`, async (t) => {
    const calm = await live(what, Number.POSITIVE_INFINITY, 'after')
    t.diagnostic(`${calm} writes`)
    assert.ok(calm > 4, `${calm}`)
    const step = Math.ceil(calm / LIVES)
    for (let life = 0; life * step < calm; life++)
      await live(what, 1 + life * step, life % 2 === 0 ? 'before' : 'after')
  })
