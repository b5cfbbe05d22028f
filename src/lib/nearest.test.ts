import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'

const KNOWN = ['cpu', 'disk', 'memory', 'networkDevice', 'nodeName', 'started', 'startup', 'vmId', 'description']

test('the word that a person meant is found, and none where none is near', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['memroy', 'memory'],
    ['network_device', 'networkDevice'],
    ['NetworkDevices', 'networkDevice'],
    ['vmid', 'vmId'],
    ['start', 'started'],
    ['desc', 'description'],
    ['xyzzy', undefined],
    ['c', undefined],
    ['', undefined],
  ]
  for (const [word, expected] of table) assert.equal(nearest(word, KNOWN), expected, word)
})
