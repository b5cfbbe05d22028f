import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Survey } from './resource.ts'
import { compareSystems, type SystemId, withoutShared } from './system-id.ts'

const host = (uuid: string, id: string): SystemId => ({ 'host uuid': uuid, 'machine-id': id })
const seen = (id: SystemId) => ({ is: 'seen', id }) as const

const CASES: readonly (readonly [
  string,
  SystemId,
  Parameters<typeof compareSystems>[1],
  ReturnType<typeof compareSystems>,
])[] = [
  ['all facts agree', host('a', '1'), seen(host('a', '1')), 'same'],
  ['all facts differ', host('a', '1'), seen(host('b', '2')), 'other'],
  ['a host that was installed again', host('a', '1'), seen(host('a', '2')), 'unknown'],
  ['a disk in another board, or a second host with its image', host('a', '1'), seen(host('b', '1')), 'unknown'],
  ['nothing was read', host('a', '1'), { is: 'unread', why: 'x' }, 'unknown'],
  ['its driver does not say', host('a', '1'), undefined, 'unknown'],
  ['one fact less', host('a', '1'), { is: 'unread', why: 'x', id: { 'machine-id': '1' } }, 'unknown'],
  ['a system of another sort', host('a', '1'), seen({ ca: 'x' }), 'unknown'],
]
for (const [name, was, is, expected] of CASES)
  test(`two systems: ${name}: ${expected}`, () => assert.equal(compareSystems(was, is), expected))

test('a host UUID that two connections show with different machine-ids is the identity of neither; two ways to one host share theirs', () => {
  const survey = (connection: string, id: SystemId): Survey => ({
    connection,
    atMs: 0,
    hosts: [],
    storages: [],
    resources: [],
    tasks: [],
    system: seen(id),
  })
  const [a, b, c, d] = withoutShared([
    survey('a', host('board', '1')),
    survey('b', host('board', '2')),
    survey('c', host('own', '3')),
    survey('d', host('own', '3')),
  ])
  assert.deepEqual([c?.system, d?.system], [seen(host('own', '3')), seen(host('own', '3'))])
  assert.match(a?.system?.is === 'unread' ? a.system.why : '', /also that of b/)
  assert.equal(compareSystems(host('board', '1'), a?.system), 'unknown')
  assert.equal(b?.system?.is, 'unread')
})
