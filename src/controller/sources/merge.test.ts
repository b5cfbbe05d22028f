import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTexts } from '../../source/testing/fixture.ts'
import { mergeRevisions } from './merge.ts'

const net = (name: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: ${name}}\nspec: {mtu: 1500}\n`
const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n'
const part = (source: string, files: Readonly<Record<string, string>>) => ({
  source,
  revision: { ...readTexts(files), read: async (file: string) => files[file] },
})

const both = mergeRevisions([
  part('home', {
    'a.yaml': net('lan'),
    's.yaml': secret,
    'apps/x.yaml': 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: home}\n',
  }),
  part('office', {
    'a.yaml': net('dmz'),
    's.yaml': secret,
    'only.yaml': secret,
    'apps/x.yaml': 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: office}\n',
  }),
])

test('several sources are one estate; each place is told with the name of its source', () => {
  assert.deepEqual(
    both.declarations.map(({ key, origin }) => `${key} ${origin.file}`),
    ['Network/lan home:a.yaml', 'Network/dmz office:a.yaml'],
  )
  assert.deepEqual(
    both.ignored.filter(({ kind }) => kind === 'Secret').map(({ file }) => file),
    ['home:s.yaml', 'office:s.yaml', 'office:only.yaml'],
  )
})

test('what two sources declare is followed from neither and counts as gone from neither', () => {
  const twice = mergeRevisions([part('home', { 'a.yaml': net('lan') }), part('office', { 'b.yaml': net('lan') })])
  assert.deepEqual(twice.declarations, [])
  assert.deepEqual(twice.unreadable, ['Network/lan'])
  assert.match(twice.problems[0]?.message ?? '', /declared by two sources: here and at home:a.yaml/)
})

test('a path that a declaration names is of its own source', () => {
  for (const [index, name] of ['home', 'office'].entries()) {
    const found = both.objectsAt?.('apps', both.declarations[index])
    assert.ok(found !== undefined && 'objects' in found)
    assert.match(JSON.stringify(found.objects), new RegExp(`"name":"${name}"`))
  }
})

test('a file that is in several sources is read from the one that is named, and from none where nobody names one', async () => {
  assert.equal(await both.read?.('office:a.yaml'), net('dmz'))
  assert.equal(await both.read?.('only.yaml'), secret)
  assert.equal(await both.read?.('none.yaml'), undefined)
  await assert.rejects(
    async () => both.read?.('s.yaml'),
    /s.yaml is in several sources: write home:s.yaml or office:s.yaml/,
  )
})

test('one source of two that was not read whole makes the whole incomplete: nothing counts as gone', () => {
  const home = part('home', { 'a.yaml': net('lan') })
  const office = part('office', { 'b.yaml': net('dmz') })
  const broken = { ...office, revision: { ...office.revision, incomplete: true } }
  assert.equal(mergeRevisions([home, office]).incomplete, false)
  for (const parts of [
    [home, broken],
    [broken, home],
  ])
    assert.equal(mergeRevisions(parts).incomplete, true)
})
