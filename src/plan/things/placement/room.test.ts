import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Survey } from '../../../model/resource.ts'
import { guest, survey } from '../../testing/fixture.ts'
import { freeMemory, roomsOf } from './room.ts'

const GIB = 1024 ** 3

test('the memory of a guest counts while it has it: running, paused or not known, and not when it is stopped', () => {
  const free = (power: Survey['resources'][number]['power']) => {
    const observed = { ...guest(100), power, memoryBytes: 8 * GIB } as Survey['resources'][number]
    const hosts = [{ name: 'alpha', online: true, memoryBytes: 64 * GIB }]
    const [room] = roomsOf({ ...survey([observed]), hosts })
    return room === undefined ? undefined : freeMemory(room)
  }
  const all = free('stopped') ?? 0
  assert.ok(all > 0)
  for (const power of ['running', 'paused', 'unknown', undefined] as const)
    assert.equal(all - (free(power) ?? 0), 8 * GIB, `${power}`)
})
