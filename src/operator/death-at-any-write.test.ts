import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Wire } from '../lib/wire.ts'
import { conditionOf, createGround, type Ground, type RunningOperator, VMS } from './testing/harness.ts'

const SPEC = {
  deletionPolicy: 'Delete',
  forProvider: {
    nodeName: 'fun-bedbug',
    name: 'fresh',
    started: true,
    cpu: [{ cores: 1 }],
    memory: [{ dedicated: 512 }],
  },
}

/** So many points of death, spread over everything that is written. */
const LIVES = 8

interface Mortal {
  readonly operator: RunningOperator
  /** From now on its writes are counted, except Leases, which it renews all the time. */
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

/** Lets time pass until it holds, and no longer: whoever stands still for minutes costs the most. */
async function within(ground: Ground, ms: number, holds: () => Promise<boolean>): Promise<void> {
  for (let left = ms; left > 0 && !(await holds()); left -= 2_000) await ground.pass(2_000)
}

/** One life: a machine is made for an object. Answers how often it wrote. */
async function live(point: number, when: 'before' | 'after'): Promise<number> {
  const hint = `dead ${when} write ${point}`
  const ground = await createGround()
  const { operator, arm, writes } = await mortal(ground, point, when)
  await ground.pass(8_000)
  arm()
  await ground.call('POST', VMS, { metadata: { name: 'fresh' }, spec: SPEC })
  await within(ground, 60_000, async () => (Number.isFinite(point) ? writes() >= point : isReady(ground)))
  const next = await ground.start({ name: 'b' })
  await within(ground, 180_000, () => isReady(ground))
  await ground.pass(10_000)
  assert.equal(next.failure(), undefined, hint)
  assert.equal(made(ground), 1, hint)
  assert.equal(guests(ground).length, 1, hint)
  assert.ok(await isReady(ground), hint)
  await next.stop()
  await operator.die()
  return writes()
}

test('[F-01] while a machine is made, a replica that dies at any of its writes to the API server is followed by one that doubles and loses nothing', async (t) => {
  const calm = await live(Number.POSITIVE_INFINITY, 'after')
  t.diagnostic(`${calm} writes`)
  assert.ok(calm > 4, `${calm}`)
  const step = Math.ceil(calm / LIVES)
  for (let life = 0; life * step < calm; life++) await live(1 + life * step, life % 2 === 0 ? 'before' : 'after')
})
