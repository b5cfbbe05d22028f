import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONNECTION } from './testing/fixture.ts'
import { capacity, type Lesson, learn, type Windows } from './windows.ts'

const connection = { ...CONNECTION, limits: { perHost: 20, perStorage: 10, reads: 4 } }
const connections = new Map([[connection.name, connection]])
const HOST = 'host/alpha'
const STORAGE = 'storage/alpha/local'
const name = (queue: string) => `${connection.name} ${queue}`

function lessons(count: number, was: Lesson['was']): readonly Lesson[] {
  return Array.from({ length: count }, () => ({ connection: connection.name, queues: [HOST, STORAGE], was }))
}

function after(windows: Windows, what: readonly Lesson[], full: readonly string[] = [HOST, STORAGE], busy = false) {
  return learn(windows, what, connections, () => busy, new Set(full.map(name)))
}

const widths = (windows: Windows) => [HOST, STORAGE].map((queue) => capacity(queue, connection, windows))

test('[T-01] a queue that copes is widened up to what is declared, one that is crowded is halved and widened slowly', () => {
  const first = widths(new Map())
  assert.deepEqual(first, [12, 8])
  const narrow: Windows = new Map([
    [name(HOST), { size: 8 }],
    [name(STORAGE), { size: 4 }],
  ])
  const doubled = after(narrow, lessons(4, 'fine'))
  assert.deepEqual(widths(doubled), [12, 8])
  assert.deepEqual(widths(after(doubled, lessons(40, 'fine'))), [20, 10], 'no more than is declared')
  const halved = after(doubled, [...lessons(3, 'crowded'), ...lessons(5, 'fine')])
  assert.deepEqual(widths(halved), [6, 4], 'halved once for all that came back together')
  assert.deepEqual(widths(after(halved, lessons(6, 'fine'))), [6, 4], 'and then with care')
  let careful = halved
  for (let round = 0; round < 10; round++) careful = after(careful, lessons(6, 'fine'))
  assert.deepEqual(widths(careful), [7, 5])
  let worse = halved
  for (let round = 0; round < 10; round++) worse = after(worse, lessons(1, 'crowded'))
  assert.deepEqual(widths(worse), [1, 1], 'never none')
})

test('[T-01] nothing is learnt from a queue that nobody waited for, nor while its host is busy', () => {
  assert.deepEqual(widths(after(new Map(), lessons(2, 'fine'), [STORAGE])), [12, 10])
  assert.deepEqual(widths(after(new Map(), lessons(4, 'fine'), [HOST, STORAGE], true)), [12, 8])
})

test('what must not be done twice at once never is, whatever was learnt', () => {
  const windows = new Map([[name('single/network/alpha'), { size: 9 }]])
  assert.equal(capacity('single/network/alpha', connection, windows), 1)
})
