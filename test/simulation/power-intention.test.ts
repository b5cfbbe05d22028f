import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formed, order, orderOf, untilPhase } from './power-run.ts'

test('the simulation notices when a step of a Power is begun before its intention is on disk', async () => {
  const { simulation, process, hint } = await formed(11)
  process.kill()
  // What would be written of a Power is lost on its way to the disk.
  const set = simulation.disk.intentions.set.bind(simulation.disk.intentions)
  simulation.disk.intentions.set = (id, intention) =>
    intention.step.about === 'power' ? simulation.disk.intentions : set(id, intention)
  await order(simulation, orderOf(simulation, 'off'))
  await assert.rejects(untilPhase(simulation, simulation.start(), 'Off'), /was begun without an intention/, hint)
})
