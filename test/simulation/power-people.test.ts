import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computerOf } from '../../sim/guest/life.ts'
import type { Login } from '../../sim/guest/types.ts'
import { formed, order, orderOf, replicasOf, running, until, untilPhase } from './power-run.ts'

const MINUTE = 60_000

test('[A42] [F-22] somebody who is logged in holds the power-off, by name and since when; a stale hold expires', async () => {
  const lab = await formed(14, '  holds: {peopleIdle: 30m}\n', { agents: ['a1'] })
  const { simulation, cluster, replicas, hint } = lab
  lab.process.kill()
  const { clock, datacentre } = simulation
  const guest = [...datacentre.world.guests.values()].find((one) => one.config.get('name') === 'a1')
  assert.ok(guest)
  const nowMs = clock.now()
  const ana: Login = { user: 'ana', tty: 'pts/0', from: '192.168.4.30', sinceMs: nowMs - 10 * MINUTE, keyMs: nowMs }
  computerOf(datacentre.world, guest).machine.logins.push(ana)

  let wallOffMs = 0
  const process = simulation.start({ wallOffMs: () => wallOffMs })
  const hold = { by: 'bo', why: 'demo', sinceMs: nowMs, untilMs: nowMs + 20 * MINUTE }
  await order(simulation, { ...orderOf(simulation, 'off'), holds: [hold] })
  const reasons = async () => {
    const report = await until(simulation, process, () => true, MINUTE)
    const decision = report?.powers?.[0]?.decision
    assert.equal(decision?.phase, 'Held', hint)
    return decision.holds.map(({ reason }) => reason)
  }
  const since = new Date(ana.sinceMs).toISOString().slice(0, 16).replace('T', ' ')
  const person = `ana (from 192.168.4.30) is logged in on a1 since ${since} UTC`
  const [set, seen] = await reasons()
  assert.match(set ?? '', /^bo holds it since .* until .*: demo$/)
  assert.equal(seen, person)
  assert.deepEqual(replicasOf(cluster), replicas, `something was put down all the same; ${hint}`)

  // A local clock an hour ahead or behind lets no hold expire.
  wallOffMs = 60 * MINUTE
  assert.equal((await reasons()).length, 2, hint)
  wallOffMs = -60 * MINUTE
  assert.equal((await reasons()).length, 2, hint)
  wallOffMs = 0
  // Twenty minutes later only the person is left, who still types.
  await clock.advanceTo(nowMs + 21 * MINUTE)
  ana.keyMs = clock.now()
  await until(simulation, process, () => false, 10_000)
  assert.deepEqual(await reasons(), [person], hint)
  assert.deepEqual(replicasOf(cluster), replicas, hint)
  // And half an hour after the last key she has gone home.
  await clock.advanceTo(clock.now() + 31 * MINUTE)
  assert.equal(await untilPhase(simulation, process, 'Off', { mostMs: 900_000 }), 'reached', hint)
  assert.deepEqual(running(datacentre), [], hint)
})
