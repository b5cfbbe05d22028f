import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource } from '../../model/resource.ts'
import { readCommits, withCommit } from '../sources/commit-log.ts'
import { observedOf } from './reading.ts'

test('what is seen of a thing is told by field, clean, and without what may be secret', () => {
  const observed: ObservedResource = {
    connection: 'home',
    type: 'vm',
    externalId: '120',
    host: 'still-fawn',
    name: 'web\u001b[31m',
    power: 'running',
    close: {
      config: {
        memory: '2048',
        cipassword: 'hunter2',
        agent: 1,
        net0: { bridge: 'vmbr0' },
        description: 'x'.repeat(9999),
      },
      power: 'stopped',
      addresses: ['10.0.0.4'],
      pending: ['memory'],
      atMs: 1,
    },
  }
  const shown = observedOf(observed)
  assert.equal(shown.name, 'web?[31m')
  assert.equal(shown.power, 'stopped', 'the guest itself knows better than the survey')
  assert.equal(shown['config.memory'], '2048')
  assert.equal(shown['config.net0'], '{"bridge":"vmbr0"}')
  assert.equal(shown['config.cipassword'], '***')
  assert.equal(shown['config.description']?.length, 200)
  assert.equal(shown.pending, 'memory')
  assert.ok(!JSON.stringify(shown).includes('hunter2'))
  assert.ok(!('lock' in shown))
})

test('commits are kept newest first, each once, and a broken list counts as none', () => {
  const facts = (commit: string) => ({ commit, subject: `change ${commit}`, author: 'anna', committedMs: 5 })
  let commits = withCommit([], 'main', facts('a'), 10)
  commits = withCommit(commits, 'main', facts('b'), 20)
  commits = withCommit(commits, 'main', facts('a'), 30)
  assert.deepEqual(
    commits.map(({ commit, seenMs }) => [commit, seenMs]),
    [
      ['a', 30],
      ['b', 20],
    ],
  )
  assert.deepEqual(readCommits(JSON.stringify(commits)), commits)
  assert.deepEqual(readCommits('{nonsense'), [])
  assert.deepEqual(readCommits('[{"commit": 3}]'), [])
  for (let n = 0; n < 100; n++) commits = withCommit(commits, 'main', facts(String(n)), n)
  assert.equal(commits.length, 50)
})
