import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPlays } from './ansible-plays.ts'

test("Ansible's modules, as published, make, keep, change and remove a guest", (context) =>
  withPlays(context, async (play, simulator) => {
    const first = await play('ansible-play.yml')
    assert.equal(first.failed, 0)
    assert.equal(first.changed, 5)
    const second = await play('ansible-play.yml')
    assert.deepEqual([second.failed, second.changed], [0, 0], 'the second time there is nothing to do')
    const third = await play('ansible-update.yml')
    assert.equal(third.failed, 0)
    assert.equal(third.changed, 4)
    assert.equal(
      simulator.guests().some(({ vmid }) => vmid === 300),
      false,
    )
  }))
