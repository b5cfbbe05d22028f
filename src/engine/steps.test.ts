import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CoordinatedIntention } from '../model/record.ts'
import type { ClusterVerb, Step } from '../model/step.ts'
import { dueSteps } from './steps.ts'

const KEY = 'Cluster/homelab'

function step(verb: ClusterVerb, node?: string): Step<'cluster'> {
  const of = node === undefined ? {} : { node }
  const step = { about: 'cluster', ...of, lane: 'node-program', summary: verb, reason: '', awaits: '', sinceMs: 0 }
  return { ...step, verb } as Step<'cluster'>
}

function unsure(verb: ClusterVerb, node: string, key = KEY): CoordinatedIntention {
  return { id: '1-1', epoch: 1, key, atMs: 0, state: 'intended', step: step(verb, node) }
}

test('nothing is begun on a node where a step from before may still arrive; the others go on', () => {
  const steps = [step('join-server', 's1'), step('join-agent', 'a1'), step('note-formed'), step('create-machine', 'a2')]
  const due = (...earlier: CoordinatedIntention[]) =>
    dueSteps(KEY, steps, { stepFailures: new Map(), unsure: earlier }, 0).map(
      ({ verb, node }) => `${verb} ${node ?? ''}`,
    )
  assert.deepEqual(due(), ['join-server s1', 'join-agent a1', 'note-formed '])
  assert.deepEqual(due(unsure('wipe-k3s', 's1')), ['join-agent a1', 'note-formed '])
  assert.deepEqual(due(unsure('wipe-k3s', 's1', 'Cluster/other')), ['join-server s1', 'join-agent a1', 'note-formed '])
})
