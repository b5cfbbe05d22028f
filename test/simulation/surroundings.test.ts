import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStore } from '../../src/store/memory.ts'
import { formed, HASTE } from './cluster-lab.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { committedAfter } from './git-history.ts'
import { replay } from './volume.ts'

const never = new AbortController().signal

test('a command is told the same of the machines of a cluster as a pass, also from the history of Git', async () => {
  const hint = replay('surroundings.test.ts', 1)
  const run = await formed(1, hint, { agents: ['a1'] })
  const fewer = clusterEstate(clusterManifest({ spec: HASTE }))
  const after = committedAfter(run.estate, fewer)
  // Without the store only the commit proves that the machine may go.
  run.disk = createMemoryStore().disk
  const told = await run.clock.runUntil(run.start().engine.surroundings(after, 'homelab', never))
  const a1 = told?.nodes.get('a1')?.machine
  assert.equal(a1?.exists, 'yes', hint)
  assert.equal(a1?.mayNotGo, undefined, hint)
  const without = await run.clock.runUntil(run.start().engine.surroundings(fewer, 'homelab', never))
  assert.equal(without?.nodes.has('a1'), false, hint)
})
