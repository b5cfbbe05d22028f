import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readCommit } from '../git/git.ts'
import { readTree } from '../read-tree.ts'

const FILES = [
  '.sops.yaml',
  '.github/workflows/a.yaml',
  'apps/.hidden/b.yaml',
  'apps/c.yaml.j2',
  'apps/notes.j2',
  '.env',
]
const EXPECTED = [
  '.github: hidden by its name, which begins with a dot',
  '.sops.yaml: hidden by its name, which begins with a dot',
  'apps/.hidden: hidden by its name, which begins with a dot',
  'apps/c.yaml.j2: a template by its name, no manifest before it is rendered',
]

test('names that are not read although somebody may have meant them are told, from a directory and from a commit', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'croft-passed-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const path of FILES) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), 'kind: [broken\n')
  }
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
      encoding: 'utf8',
    }).trim()
  git('init', '--quiet')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'all')
  for (const revision of [await readTree(root), await readCommit(root, git('rev-parse', 'HEAD'))]) {
    assert.deepEqual(revision.ignored.map(({ file, note }) => `${file}: ${note}`).sort(), EXPECTED)
    assert.deepEqual(revision.problems, [])
  }
})
