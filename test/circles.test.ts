import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { isTestCode } from './layers-rules.ts'
import { importsOf } from './layers-source.ts'

const root = dirname(import.meta.dirname)

/** Groups of files that import each other in a circle, types included. */
function circlesIn(edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const lowest = (file: string) => low.get(file) ?? Number.POSITIVE_INFINITY
  const visit = (file: string) => {
    order.set(file, order.size)
    low.set(file, order.get(file) ?? 0)
    stack.push(file)
    for (const next of edges.get(file) ?? []) {
      if (!edges.has(next)) continue
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) low.set(file, Math.min(lowest(file), lowest(next)))
    }
    if (low.get(file) !== order.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of edges.keys()) if (!order.has(file)) visit(file)
  return circles
}

function edgesOf(folder: 'src' | 'sim'): ReadonlyMap<string, readonly string[]> {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter((path) => !isTestCode(path))
  return new Map(
    files.map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return [path, importsOf({ path, text }).map(({ target }) => target)]
    }),
  )
}

test('a circle of imports is found, and a chain is none', () => {
  const chain = new Map([
    ['a', ['b']],
    ['b', ['c', 'elsewhere']],
    ['c', []],
  ])
  assert.deepEqual(circlesIn(chain), [])
  assert.deepEqual(circlesIn(new Map([...chain, ['c', ['a']]])), [['a', 'b', 'c']])
  assert.deepEqual(circlesIn(new Map([...chain, ['d', ['e', 'a']], ['e', ['d']]])), [['d', 'e']])
})

test('no circle of imports, not even of types, but for the block of a hypervisor in a Machine', () => {
  const edges = edgesOf('src')
  assert.ok(edges.size > 1000, `only ${edges.size} files were read`)
  const circles = circlesIn(edges)
  assert.deepEqual(
    circles.filter((circle) => !circle.every((path) => path.startsWith('src/kinds/'))),
    [],
  )
  // A hypervisor has a block in the schema of a Machine, and judges the Machine with it. It may shrink.
  assert.ok(circles.length <= 1, `${circles.length} circles among the kinds`)
  assert.ok((circles[0]?.length ?? 0) <= 7, `${circles[0]?.join(', ')} are a circle`)
})

test('no circle of imports in the simulator either', () => {
  const edges = edgesOf('sim')
  assert.ok(edges.size > 200, `only ${edges.size} files were read`)
  assert.deepEqual(circlesIn(edges), [])
})
