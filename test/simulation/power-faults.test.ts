import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../src/engine/engine.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { formed, nothingLeft, order, orderOf, running, untilPhase } from './power-run.ts'

test('[A45] [A44] croft killed at chance on the way down and up: nothing torn, nothing of ours left', async () => {
  const { simulation, process, storage, hint, replicas } = await formed(12)
  process.kill()
  const random = seededRandom(99)
  for (let cycle = 0; cycle < 3; cycle++) {
    for (const [state, phase] of [
      ['off', 'Off'],
      ['on', 'On'],
    ] as const) {
      await order(simulation, orderOf(simulation, state))
      for (let kill = 0; ; kill++) {
        assert.ok(kill < 30, `it never ends; ${hint}`)
        const crashAt = kill < 6 ? 1 + Math.floor(random.next() * 60) : undefined
        const next = simulation.start(crashAt === undefined ? {} : { crashAt })
        const reached = await untilPhase(simulation, next, phase, { mostMs: 1_200_000 })
        next.kill()
        if (reached === 'reached') break
        assert.equal(reached, 'killed', `${state} of cycle ${cycle}; ${hint}`)
      }
    }
    assert.deepEqual(storage.torn, [], `cycle ${cycle}; ${hint}`)
    nothingLeft(simulation, replicas, `cycle ${cycle}; ${hint}`)
  }
})

test('[A50] a volume that never detaches: the power-off is given up and everything comes back', async () => {
  const { simulation, process, storage, hint, replicas } = await formed(
    13,
    '  deadlines: {detach: {after: 30s, choice: abort}}\n',
  )
  storage.stick('photos')
  await order(simulation, orderOf(simulation, 'off'))
  const told: string[] = []
  const onPass = (report: PassReport) => told.push(...report.events.map(({ message }) => message))
  assert.equal(await untilPhase(simulation, process, 'On', { onPass, mostMs: 900_000 }), 'reached', hint)
  assert.ok(
    told.some((message) => /gave up going off.*VolumeAttachment/.test(message)),
    told.slice(-20).join('\n'),
  )
  assert.equal(running(simulation.datacentre).length, 5, hint)
  assert.deepEqual(storage.torn, [], hint)
  nothingLeft(simulation, replicas, hint)
})
