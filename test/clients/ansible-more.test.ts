import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPlays } from './ansible-plays.ts'

test("Ansible's modules for groups, rights and networks of the cluster make each once", (context) =>
  withPlays(context, async (play) => {
    const first = await play('ansible-more.yml')
    assert.deepEqual([first.failed, first.changed], [0, 4])
    const second = await play('ansible-more.yml')
    assert.deepEqual([second.failed, second.changed], [0, 0])
  }))
