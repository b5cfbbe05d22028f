import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import { openDiskCache } from './disk-cache.ts'
import { readTree } from './read-tree.ts'
import { told, vmManifest } from './testing/fixture.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-cache-'))
const tree = join(root, 'tree')
const cacheDir = join(root, 'cache')
after(() => rmSync(root, { recursive: true, force: true }))

beforeEach(() => {
  rmSync(cacheDir, { recursive: true, force: true })
  mkdirSync(tree, { recursive: true })
  writeFileSync(
    join(tree, 'a.yaml'),
    `# Zürich 🏔\n${vmManifest('vmId: 100\nmigrate: true')}---\n${vmManifest('vmId: x', 'bad')}`,
  )
  writeFileSync(join(tree, 'b.yaml'), 'apiVersion: v1\nkind: Secret\n')
})

function pack(): string {
  return join(cacheDir, readdirSync(cacheDir)[0] ?? '')
}

test('a later run finds what an earlier one judged, and says exactly the same', async () => {
  const plain = await readTree(tree)
  const cold = await readTree(tree, { cacheDir })
  const warm = await readTree(tree, { cacheDir })
  for (const revision of [cold, warm]) {
    assert.deepEqual(JSON.parse(JSON.stringify(revision)), JSON.parse(JSON.stringify(plain)))
    assert.deepEqual(told(revision.problems), told(plain.problems))
  }
  assert.equal(plain.problems.length, 2)
  assert.equal(statSync(pack()).mode & 0o777, 0o600)
  assert.equal(statSync(cacheDir).mode & 0o777, 0o700)
})

function blobsIn(text: string): readonly string[] {
  const { files } = JSON.parse(text.slice(65)) as { readonly files: readonly (readonly [string, unknown])[] }
  return files.map(([blob]) => blob)
}

test('what is in the cache is used, and is not written again when nothing changed', async () => {
  await readTree(tree, { cacheDir })
  const before = statSync(pack()).mtimeMs
  const cache = openDiskCache(cacheDir, tree)
  const blobs = blobsIn(readFileSync(pack(), 'utf8'))
  assert.equal(blobs.length, 2)
  assert.ok(blobs.every((blob) => cache.get(blob, new Uint8Array()) !== undefined))
  await readTree(tree, { cacheDir })
  assert.equal(statSync(pack()).mtimeMs, before)
  writeFileSync(join(tree, 'b.yaml'), 'apiVersion: v1\nkind: ConfigMap\n')
  assert.equal((await readTree(tree, { cacheDir })).ignored[0]?.kind, 'ConfigMap')
  assert.equal(readdirSync(cacheDir).length, 1)
})

test('a cache that is torn, changed, foreign or open to others is as if it were not there', async () => {
  await readTree(tree, { cacheDir })
  const text = readFileSync(pack(), 'utf8')
  const known = (change: () => void): boolean => {
    writeFileSync(pack(), text, { mode: 0o600 })
    chmodSync(pack(), 0o600)
    change()
    const [blob = ''] = blobsIn(text)
    return openDiskCache(cacheDir, tree).get(blob, new Uint8Array()) !== undefined
  }
  assert.equal(
    known(() => {}),
    true,
  )
  assert.equal(
    known(() => writeFileSync(pack(), text.slice(0, 500))),
    false,
  )
  assert.equal(
    known(() => writeFileSync(pack(), text.replace('"vmId":100', '"vmId":101'))),
    false,
  )
  assert.equal(
    known(() => writeFileSync(pack(), '')),
    false,
  )
  assert.equal(
    known(() => writeFileSync(pack(), Buffer.alloc(1000, 0xff))),
    false,
  )
  assert.equal(
    known(() => chmodSync(pack(), 0o666)),
    false,
  )
})

test('the cache keeps no text of a file, and gives exactly that of the file', async () => {
  const texts = ({ declarations, text }: Awaited<ReturnType<typeof readTree>>) => declarations.map((one) => text?.(one))
  const plain = texts(await readTree(tree))
  await readTree(tree, { cacheDir })
  assert.doesNotMatch(readFileSync(pack(), 'utf8'), /Zürich|migrate: true/)
  assert.deepEqual(texts(await readTree(tree, { cacheDir })), plain)
  assert.match(plain[0] ?? '', /^# Zürich 🏔\n.*migrate: true/s)
})

test('what comes from the cache is what was judged, whole', async () => {
  const odd = join(tree, 'odd.yaml')
  writeFileSync(
    odd,
    'apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata:\n  name: a\nspec:\n  host: h\n  hosts: 1\n',
  )
  const plain = await readTree(tree)
  await readTree(tree, { cacheDir })
  const cached = await readTree(tree, { cacheDir })
  assert.ok(plain.problems.length > 0 && plain.declarations.length > 0)
  for (const part of ['declarations', 'problems', 'ignored'] as const)
    assert.deepEqual(JSON.parse(JSON.stringify(cached[part])), JSON.parse(JSON.stringify(plain[part])))
})

test('a cache that cannot be written changes nothing', async () => {
  writeFileSync(cacheDir, 'a file where the directory should be')
  assert.equal((await readTree(tree, { cacheDir })).declarations.length, 1)
})

test('of many trees only the newest are kept, and nothing that is not ours is removed', async () => {
  mkdirSync(cacheDir, { mode: 0o700 })
  const old = (index: number) => join(cacheDir, `judged-${String(index).padStart(24, '0')}.json`)
  for (let index = 0; index < LIMITS.cachedTrees + 5; index++) {
    writeFileSync(old(index), 'x')
    utimesSync(old(index), 1_000 + index, 1_000 + index)
  }
  writeFileSync(join(cacheDir, 'theirs.json'), 'x')
  await readTree(tree, { cacheDir })
  const left = readdirSync(cacheDir)
  assert.equal(left.filter((name) => name.startsWith('judged-')).length, LIMITS.cachedTrees)
  assert.ok(!existsSync(old(0)) && existsSync(old(LIMITS.cachedTrees + 4)), 'the oldest go first')
  assert.ok(left.includes('theirs.json'))
})
