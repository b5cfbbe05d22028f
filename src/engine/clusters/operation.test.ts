import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import type { ClusterOperator } from '../../drivers/cluster-port.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { OperationEffect } from '../../model/observed-cluster.ts'
import type { OperationVerb, Outcome, Step } from '../../model/step.ts'
import { type OperationDeps, runOperation } from './operation.ts'

const START = Date.parse('2026-07-01T12:00:00Z')

function stepOf(verb: OperationVerb): Step<'operation'> {
  return {
    about: 'operation',
    verb,
    node: 's2',
    lane: 'node-program',
    summary: verb,
    awaits: 'it',
    until: 'nothing',
  } as Step<'operation'>
}

/** Runs one step as the command does, on a virtual clock. `log`: records and effects in order. */
async function ran(verb: OperationVerb, earlier: OperationEffect | undefined, outcome: Outcome = { result: 'done' }) {
  const clock = createVirtualClock(START)
  const log: string[] = []
  const abort = new AbortController()
  const operator = {
    perform: async ({ verb: done }: Step<'operation'>) => {
      log.push(`${done} after ${(clock.now() - START) / 1000} s`)
      if (outcome.result === 'unclear') abort.abort()
      return outcome
    },
    reached: async () => ({ is: 'yes' }),
  } as unknown as ClusterOperator
  const deps: OperationDeps = {
    operator,
    clock,
    signal: abort.signal,
    surroundings: () => ({}) as never,
    setHold: async () => {},
    unsure: async () => earlier,
    intend: async (effect) => void log.push(effect === undefined ? 'certain' : `intends ${effect.step.verb}`),
    onStep: () => {},
  }
  await clock.runUntil(runOperation({ name: 'o', steps: [stepOf(verb)], refusals: [], warnings: [] }, deps))
  return log
}

test('a step is written down before it is done, and no longer open when its outcome is certain', async () => {
  assert.deepEqual(await ran('start-k3s', undefined), ['intends start-k3s', 'start-k3s after 0 s', 'certain'])
  const unclear = await ran('start-k3s', undefined, { result: 'unclear', message: 'no answer' })
  assert.deepEqual(unclear, ['intends start-k3s', 'start-k3s after 0 s'])
})

test('what an earlier run sent and must not arrive late has its time first; the rest does not wait', async () => {
  const [, late = ''] = await ran('start-k3s', { step: stepOf('forget-db'), atMs: START })
  const seconds = Number(/after (\d+(?:\.\d+)?) s/.exec(late)?.[1])
  assert.ok(seconds >= 40 && seconds <= 40 + LIMITS.operationPollMs / 1000, late)
  const harmless = await ran('start-k3s', { step: stepOf('write-files'), atMs: START })
  assert.equal(harmless[1], 'start-k3s after 0 s')
  const old = await ran('start-k3s', { step: stepOf('forget-db'), atMs: START - 60_000 })
  assert.equal(old[1], 'start-k3s after 0 s')
})
