import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { RemoteTask } from '../../model/resource.ts'
import { whoChanged } from './who-changed.ts'

function task(change: Partial<RemoteTask> & { readonly id: string }): RemoteTask {
  return {
    host: 'pve1',
    verb: 'qmconfig',
    subject: '114',
    user: 'alice@pam',
    state: 'succeeded',
    startedMs: 1_000,
    endedMs: 2_000,
    ...change,
  }
}

describe('who changed a thing', () => {
  it('is whoever worked on it last', () => {
    const tasks = [
      task({ id: 'a', user: 'alice@pam' }),
      task({ id: 'b', user: 'bob@pve!web', verb: 'resize', startedMs: 3_000, endedMs: 3_500 }),
      task({ id: 'c', user: 'eve@pam', subject: '115', startedMs: 9_000, endedMs: 9_500 }),
    ]
    assert.deepEqual(whoChanged(tasks, '114', 0), { user: 'bob@pve!web', task: 'resize', atMs: 3_500 })
  })

  it('is nobody when nothing was noted, or only before it was seen as declared', () => {
    assert.equal(whoChanged([], '114', 0), undefined)
    assert.equal(whoChanged([task({ id: 'a' })], '114', 2_001), undefined)
  })

  it('is not who looked at it, made a backup, or is croft itself', () => {
    const tasks = [
      task({ id: 'a', verb: 'vncproxy' }),
      task({ id: 'b', verb: 'vzdump' }),
      task({ id: 'c', user: 'croft@pve!one' }),
    ]
    assert.equal(whoChanged(tasks, '114', 0, 'croft@pve!one'), undefined)
  })

  it('counts a task by its end, and one that runs by its beginning', () => {
    const { endedMs: _, ...running } = task({ id: 'b', user: 'bob@pam', state: 'running', startedMs: 5_000 })
    assert.equal(
      whoChanged([task({ id: 'a', startedMs: 100, endedMs: 4_000 }), running], '114', 3_000)?.user,
      'bob@pam',
    )
  })

  it('does not depend on the order of the list', () => {
    const some = fc.array(
      fc.record({ at: fc.integer({ min: 0, max: 5 }), who: fc.constantFrom('a', 'b', 'c'), ok: fc.boolean() }),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(some, (list) => {
        const tasks = list.map(({ at, who, ok }, index) =>
          task({ id: `${index}`, user: who, startedMs: at, endedMs: at, state: ok ? 'succeeded' : 'failed' }),
        )
        assert.deepEqual(whoChanged(tasks, '114', 2), whoChanged([...tasks].reverse(), '114', 2))
      }),
    )
  })
})
