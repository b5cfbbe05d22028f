import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { EVERYWHERE } from '../../lib/egress.ts'
import { objectsAtCommit, permitRepository } from './fetched-git.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-far-'))
after(() => rmSync(root, { recursive: true, force: true }))

const git = (...words: string[]) =>
  execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
    encoding: 'utf8',
  }).trim()

function commit(files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  git('add', '.')
  git('commit', '--quiet', '-m', 'more')
  return git('rev-parse', 'HEAD')
}

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`
git('init', '--quiet', '--initial-branch=main')
const first = commit({
  'deploy/base/map.yaml': map('old'),
  'deploy/base/kustomization.yaml': 'resources: [map.yaml]\n',
  'deploy/over/kustomization.yaml': 'resources: [../base]\nnamePrefix: x-\n',
  'one.yaml': map('alone'),
})
const second = commit({ 'deploy/base/map.yaml': map('new') })

const at = (place: string, which = first) =>
  objectsAtCommit(permitRepository({ url: root, commit: which, path: place }, EVERYWHERE), { allowLocal: true })
const names = async (place: string, which?: string) => {
  const found = await at(place, which)
  assert.ok('objects' in found, JSON.stringify(found))
  return found.objects.map((one) => (one as { metadata: { name: string } }).metadata.name)
}

test('manifests of another repository are those of the commit that is named, whatever came after it', async () => {
  assert.deepEqual(await names('deploy/base'), ['old'])
  assert.deepEqual(await names('deploy/base', second), ['new'])
  assert.deepEqual(await names('deploy/over'), ['x-old'], 'a kustomization is built, with what it names beside it')
  assert.deepEqual(await names('one.yaml'), ['alone'])
})

test('[S-24] [S-02] a commit that is not there, a place that is not there and an address that runs something are refused', async () => {
  const problem = async (found: ReturnType<typeof objectsAtCommit>) => {
    const answer = await found
    assert.ok('problem' in answer, JSON.stringify(answer))
    return answer.problem
  }
  assert.match(await problem(at('one.yaml', 'f'.repeat(40))), /could not be fetched/)
  assert.match(await problem(at('deploy/none')), /there is no file or directory/)
  for (const url of ['ext::sh -c touch% /tmp/x', 'file:///etc', '/etc', 'https://user:secret@example.org/x']) {
    assert.match(
      await problem(objectsAtCommit(permitRepository({ url, commit: first, path: 'a' }, EVERYWHERE))),
      /is refused/,
    )
  }
})

test('nothing of it is left on the disk', async () => {
  // Use a separate directory: other tests use the common one at the same time.
  const temporary = mkdtempSync(join(tmpdir(), 'croft-left-'))
  const { TMPDIR: common } = process.env
  process.env.TMPDIR = temporary
  try {
    await at('deploy/base')
    await at('one.yaml', 'f'.repeat(40))
    assert.deepEqual(readdirSync(temporary), [])
  } finally {
    if (common === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = common
    rmSync(temporary, { recursive: true, force: true })
  }
})
