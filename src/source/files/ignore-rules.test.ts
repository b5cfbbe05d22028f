import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readCommit, resolveCommit } from '../git/git.ts'
import { readTree } from '../read-tree.ts'
import { vmManifest } from '../testing/fixture.ts'
import { ignoredBy, ignoreRules, leftAlone } from './ignore-rules.ts'

const PATHS = ['a.yaml', 'x/a.yaml', 'x/y/a.yaml', 'x/y/b.yml', 'roles/k3s/templates/config.yaml', 'old.yaml', 'x/old']
const RULES = [
  'a.yaml',
  '/a.yaml',
  'x/a.yaml',
  'x/',
  'x',
  'x/y',
  'y',
  '*.yml',
  'x/*',
  'x/**',
  '**/a.yaml',
  '**/templates/*.yaml',
  'roles/**/config.yaml',
  'o?d*',
  'x*',
  '*\n!a.yaml',
  'roles/*/templates',
]

test('rules are those of .gitignore: the real git says the same of every path', () => {
  const root = mkdtempSync(join(tmpdir(), 'croft-ignore-'))
  try {
    execFileSync('git', ['-C', root, 'init', '-q'])
    for (const path of PATHS) {
      mkdirSync(join(root, dirname(path)), { recursive: true })
      writeFileSync(join(root, path), '')
    }
    for (const rule of RULES) {
      writeFileSync(join(root, '.gitignore'), `${rule}\n`)
      const listed = execFileSync('git', ['-C', root, 'ls-files', '-o', '-i', '--exclude-standard'], {
        encoding: 'utf8',
      })
      const git = new Set(listed.split('\n'))
      const rules = ignoreRules(rule)
      for (const path of PATHS) {
        assert.equal(ignoredBy(rules, path) !== undefined, git.has(path), `${JSON.stringify(rule)} on ${path}`)
      }
    }
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('templates of a chart are left alone by where they lie, other files of it are not', () => {
  const paths = ['charts/app/Chart.yaml', 'charts/app/templates/a.yaml', 'charts/app/values.yaml', 'templates/b.yaml']
  const alone = leftAlone(paths, undefined)
  assert.deepEqual(
    paths.map((path) => alone(path)),
    [undefined, 'part of the Helm chart in charts/app', undefined, undefined],
  )
})

test('a repository with charts and templates is read whole, from a directory and from a commit', async () => {
  const root = mkdtempSync(join(tmpdir(), 'croft-mixed-'))
  try {
    const files = {
      'machines/web.yaml': vmManifest('vmId: 100', 'web'),
      'apps/Chart.yaml': 'apiVersion: v2\nname: apps\n',
      'apps/templates/deployment.yaml': 'kind: {{ .Values.kind }}\n  {{- if x }}\n',
      'roles/k3s/templates/config.yaml': '{% for a in b %}\nx: {{ a }}\n{% endfor %}\n',
      '.croftignore': '# Ansible\nroles/*/templates/\n',
    }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const git = (...words: string[]) => execFileSync('git', ['-C', root, ...words], { stdio: 'pipe' })
    git('init', '-q')
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@example.invalid', 'commit', '-qm', 'x')
    const commit = await resolveCommit(root, 'HEAD')
    assert.ok(commit !== undefined)
    for (const revision of [await readTree(root), await readCommit(root, commit, {})]) {
      assert.deepEqual(revision.problems, [])
      assert.equal(revision.incomplete, false)
      assert.deepEqual(
        revision.declarations.map(({ key }) => key),
        ['EnvironmentVM/web'],
      )
      assert.deepEqual(
        revision.ignored.map(({ file, note }) => `${file}: ${note}`),
        [
          'apps/templates/deployment.yaml: part of the Helm chart in apps',
          'roles/k3s/templates/config.yaml: .croftignore names it (roles/*/templates/)',
          'apps/Chart.yaml: not a manifest',
        ],
      )
    }
    // Another set of rules is another revision: what is read changed, though no manifest did.
    const before = (await readTree(root)).id
    writeFileSync(join(root, '.croftignore'), 'roles/\n')
    assert.notEqual((await readTree(root)).id, before)
  } finally {
    rmSync(root, { recursive: true })
  }
})
