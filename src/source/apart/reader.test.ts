import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { readHere } from '../read-here.ts'
import { type SourceReader, TooCostly } from '../reader.ts'
import { ROOT, vmManifest } from '../testing/fixture.ts'
import { createWorkerReader } from './reader.ts'

const textsOf = (texts: Readonly<Record<string, string>>) => ({
  files: Object.entries(texts).map(([path, text]) => ({ path, bytes: Buffer.from(text) })),
  links: [],
})

function example(name: string) {
  const directory = join(ROOT, 'examples', name)
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.ya?ml$/.test(file) && statSync(join(directory, file)).isFile(),
  )
  return textsOf(Object.fromEntries(files.map((file) => [file, readFileSync(join(directory, file), 'utf8')])))
}

const ADDON = `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: far}
spec: {cluster: home, path: apps}
`
const BROKEN = textsOf({
  'a.yaml': vmManifest('vmId: nine\nnonsense: 1'),
  'b.yaml': 'kind: Machine\na: [',
  'list.yaml': `apiVersion: v1\nkind: List\nitems:\n- ${vmManifest('vmId: 7', 'seven').trim().replaceAll('\n', '\n  ')}\n`,
  'addon.yaml': ADDON,
  'apps/kustomization.yaml': 'resources: [one.yaml]\nnamespace: web\n',
  'apps/one.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n',
})

/** Both readers must give the same results. */
for (const [name, reader] of [
  ['in this thread', readHere],
  ['in a worker', createWorkerReader({ clock: systemClock })],
] as const satisfies readonly (readonly [string, SourceReader])[])
  describe(`a reader ${name}`, () => {
    test('reads every example, with every place', async () => {
      for (const directory of readdirSync(join(ROOT, 'examples'))) {
        const [here, there] = [await readHere.tree(example(directory)), await reader.tree(example(directory))]
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown
        for (const field of ['id', 'declarations', 'ignored', 'files', 'unreadable', 'incomplete'] as const)
          assert.deepEqual(plain(there[field]), plain(here[field]), `${directory} ${field}`)
        for (const [index, declaration] of here.declarations.entries()) {
          const other = there.declarations[index] ?? assert.fail()
          const problem = { code: 'x', path: ['spec'], message: 'm' }
          assert.deepEqual(there.problemAt(other, problem), here.problemAt(declaration, problem))
          assert.equal(there.text?.(other), here.text?.(declaration))
        }
      }
    })

    test('tells problems, refused objects and the objects of add-ons', async () => {
      const [here, there] = [await readHere.tree(BROKEN), await reader.tree(BROKEN)]
      const told = ({ problems }: typeof here) =>
        problems.map(({ code, origin, message }) => `${code} ${origin.file}:${origin.line}:${origin.column} ${message}`)
      assert.deepEqual(told(there).sort(), told(here).sort())
      assert.ok(there.incomplete && there.unreadable.length > 0)
      assert.deepEqual(JSON.parse(JSON.stringify(there.objectsAt?.('apps'))), {
        objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'web' } }],
      })
    })

    test('names the files of generators', async () => {
      const { files } = textsOf({
        'a/kustomization.yaml': 'configMapGenerator: [{name: x, files: [page.html, here.yaml]}]\n',
        'a/here.yaml': 'x: 1',
        'b/kustomization.yaml': 'resources: [../a]\n',
      })
      assert.deepEqual(await reader.generatorFiles(files), ['a/page.html'])
      assert.deepEqual(await reader.generatorFiles(files.slice(1)), [])
    })

    test('reads what was fetched', async () => {
      const text = Array.from({ length: 120 }, (_, at) => `kind: A\nmetadata: {name: n${at}}\n`).join('---\n')
      const found = await reader.objects([{ name: 'a.yaml', bytes: gzipSync(text) }])
      assert.ok('objects' in found)
      assert.equal(found.objects.length, 120)
      const broken = await reader.objects([{ name: 'a.yaml', bytes: Buffer.from('a: [') }])
      assert.ok('problem' in broken)
    })
  })

/**
 * Valid, but slow to read: many small documents, none of them simple. Ten seconds of work on an ordinary computer,
 * against a deadline of 0.2 s.
 */
const SLOW_BYTES = Buffer.from('a: {b: [1, {c: "\\u0041"}], d: &x 1}\n---\n'.repeat(9_000))
const HEAVY = {
  files: Array.from({ length: 240 }, (_, at) => ({ path: `f${at}.yaml`, bytes: SLOW_BYTES, blob: `blob-${at}` })),
  links: [],
}

const machines = (count: number, length: number) =>
  textsOf(
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => {
        const fields = `vmId: ${1000 + at}\ndescription: ${'x'.repeat(length)}`
        return [`m${at}.yaml`, vmManifest(fields, `m${at}`)]
      }),
    ),
  )

/** Returns the longest time that this thread worked without yielding, in its own processor time. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = process.threadCpuUsage()
  let over = false
  const turn = () => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, (now.user + now.system - last.user - last.system) / 1000)
    last = now
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  await work().finally(() => {
    over = true
  })
  return longest
}

test('[S-33] what takes too long is ended, said with its file, tried again ever more seldom, and holds nobody up', async () => {
  let deadlines = 0
  let nowMs = 0
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) => {
      if (ms === 200) deadlines += 1
      return systemClock.sleep(ms, signal)
    },
  }
  const reader = createWorkerReader({ clock, deadlineMs: 200 })
  const stall = await longestTurn(async () => {
    await assert.rejects(reader.tree(HEAVY), (error: unknown) => {
      assert.ok(error instanceof TooCostly)
      assert.match(error.message, /reading f\d+\.yaml takes longer than 0\.2 s/)
      return true
    })
  })
  assert.ok(stall <= 200, `the main thread worked ${stall} ms at a time`)
  await assert.rejects(reader.tree(HEAVY), TooCostly)
  assert.equal(deadlines, 1, 'it was not read once more')
  for (const [passedMs, tried] of [
    [LIMITS.endedExpressionMs, 2],
    [LIMITS.endedExpressionMs, 2],
    [LIMITS.endedExpressionMs, 3],
  ] as const) {
    nowMs += passedMs
    await assert.rejects(reader.tree(HEAVY), TooCostly)
    assert.equal(deadlines, tried, `after ${nowMs} ms`)
  }
})

test('a process that cannot be started says nothing about the tree, which is read as soon as one can', async () => {
  const reader = createWorkerReader({ clock: systemClock, heapMb: 64 })
  const tree = textsOf({ 'a.yaml': vmManifest('vmId: 1008') })
  const { execPath } = process
  process.execPath = '/nonexistent/node'
  await assert
    .rejects(reader.tree(tree), /^TooCostly: no process could be started to read it \(ENOENT\)$/)
    .finally(() => {
      process.execPath = execPath
    })
  assert.equal((await reader.tree(tree)).declarations.length, 1)
})

test('a process that somebody kills is no proof of too much memory', async () => {
  const children = () =>
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const before = children()
  const reader = createWorkerReader({ clock: systemClock, heapMb: 200 })
  const read = assert.rejects(reader.tree(HEAVY), /was interrupted: its process was ended by SIGKILL/)
  const killed = (async () => {
    for (;;) {
      await systemClock.sleep(100)
      const [pid] = children().filter((one) => !before.includes(one))
      if (pid !== undefined && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker'))
        return process.kill(pid, 'SIGKILL')
    }
  })()
  await Promise.all([read, killed])
})

test('[S-33] what takes too much memory is ended as well', async () => {
  const reader = createWorkerReader({ clock: systemClock, heapMb: 48 })
  await assert.rejects(reader.tree(machines(3_000, 10_000)), (error: unknown) => {
    assert.ok(error instanceof TooCostly)
    assert.match(error.message, /takes more than 48 MB/)
    return true
  })
})

test('[S-33] a large revision is taken over piece by piece', async () => {
  const many = machines(1_500, 500)
  const reader = createWorkerReader({ clock: systemClock })
  const stall = await longestTurn(async () => {
    assert.equal((await reader.tree(many)).declarations.length, 1_500)
  })
  assert.ok(stall <= 200, `the main thread worked ${stall} ms at a time`)
})

test('[S-33] one allocation that fits into no heap ends the process of the cage and not this one', async () => {
  const reader = createWorkerReader({ clock: systemClock, heapMb: 64 })
  const grown = Array.from({ length: 6 }).reduce<string>(
    (text) => `${text}.replace('a', '${'a'.repeat(30)}')`,
    `'${'a'.repeat(30)}'`,
  )
  const graph = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: big}
spec:
  schema: {apiVersion: v1alpha1, kind: Big, spec: {}}
  resources:
  - id: one
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: one, annotations: {croft.dev/cluster: home}}
      data: {text: "\${${grown}}"}
---
apiVersion: kro.run/v1alpha1
kind: Big
metadata: {name: big}
`
  await assert.rejects(reader.tree(textsOf({ 'graph.yaml': graph })), /takes more than 64 MB/)
  assert.equal((await reader.tree(textsOf({ 'a.yaml': vmManifest('vmId: 1007') }))).declarations.length, 1)
})

const lateGraph = (value: string) =>
  textsOf({
    'graph.yaml': `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: shop}
spec:
  schema: {apiVersion: v1alpha1, kind: Shop, spec: {}}
  resources:
  - id: vm
    template:
      apiVersion: croft.dev/v1alpha1
      kind: Machine
      metadata: {name: "\${schema.metadata.name}-vm"}
      spec: {host: h1, class: small, networks: [{network: lan}]}
  - id: facts
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: facts, annotations: {croft.dev/cluster: home}}
      data: {at: "\${${value}}"}
`,
    'shops/toys.yaml': `\napiVersion: kro.run/v1alpha1\nkind: Shop\nmetadata: {name: toys, annotations: {croft.dev/cluster: home}}\n`,
  })
const SEEN = new Map([['Machine/toys-vm', { status: { addresses: ['10.0.0.7'], host: 'a' } }]])
const keysOf = ({ declarations }: { readonly declarations: readonly { readonly key: string }[] }) =>
  declarations.map(({ key }) => key).sort()

test('a late value is evaluated in the cage: what was not prepared waits', async () => {
  const reader = createWorkerReader({ clock: systemClock })
  const there = await reader.tree(lateGraph('vm.status.addresses[0]'))
  const here = await readHere.tree(lateGraph('vm.status.addresses[0]'))
  assert.deepEqual(keysOf(there), keysOf(here))
  assert.deepEqual(there.waiting, here.waiting)
  assert.deepEqual(keysOf(there.settle?.(SEEN) ?? there), keysOf(here), 'it is not evaluated here')
  await there.prepare?.(SEEN)
  const [settled, same] = [there.settle?.(SEEN), here.settle?.(SEEN)]
  assert.ok(settled && same)
  assert.deepEqual(keysOf(settled), ['Addon/toys-facts', 'Machine/toys-vm'])
  assert.deepEqual(
    JSON.parse(JSON.stringify([settled.declarations, settled.problems, settled.waiting])),
    JSON.parse(JSON.stringify([same.declarations, same.problems, same.waiting])),
  )
})

test('[S-33] a late value that grows without end is ended with file and line, and waits', async () => {
  const reader = createWorkerReader({ clock: systemClock, heapMb: 48 })
  const grown = Array.from({ length: 7 }).reduce<string>(
    (text) => `${text}.replace('a', '${'a'.repeat(30)}')`,
    'vm.status.host',
  )
  const there = await reader.tree(lateGraph(grown))
  assert.deepEqual(there.problems, [])
  const stall = await longestTurn(async () => there.prepare?.(SEEN))
  assert.ok(stall <= 200, `this thread worked ${stall} ms at a time`)
  const settled = there.settle?.(SEEN)
  assert.deepEqual(keysOf(settled ?? there), ['Machine/toys-vm'])
  const [problem] = settled?.problems ?? []
  assert.deepEqual([problem?.origin.file, problem?.origin.line], ['shops/toys.yaml', 2])
  assert.match(problem?.message ?? '', /^expanding Shop\/toys takes more than 48 MB: croft tries again later/)
  assert.deepEqual(settled?.unreadable, ['Addon/toys-facts'], 'what it declares is not gone')
})
