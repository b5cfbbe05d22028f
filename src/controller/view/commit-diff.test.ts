import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import type { ChangedFile } from '../../model/commit-diff.ts'
import type { SourceState } from '../sources/source-state.ts'
import { changeOfCommit, commitDiff } from './commit-diff.ts'

const CHANGE = { source: 'main', commit: 'b', before: 'a', keysIn: () => [] }
const diffOf = (...files: readonly ChangedFile[]) => commitDiff(CHANGE, files)
const linesOf = (before: string, after: string, path = 'vm.yaml') =>
  diffOf({ path, before, after }).files[0]?.lines.map(({ sign, text }) => `${sign}${text}`)

test('changed lines stand among three that stay, and gaps are marked', () => {
  const text = (memory: number) =>
    ['kind: VM', 'a: 1', 'b: 2', 'c: 3', `memory: ${memory}`, 'd: 4', 'e: 5', 'f: 6', 'g: 7', ''].join('\n')
  assert.deepEqual(linesOf(text(1), text(2)), [
    '…',
    ' a: 1',
    ' b: 2',
    ' c: 3',
    '-memory: 1',
    '+memory: 2',
    ' d: 4',
    ' e: 5',
    ' f: 6',
    '…',
  ])
})

test('no secret leaves it, wherever it stands', () => {
  const canary = 'hunter2-canary'
  const cases: readonly ChangedFile[] = [
    { path: 'a.yaml', before: 'kind: VM\npassword: old\n', after: `kind: VM\npassword: ${canary}\ncpu: 1\n` },
    // Only a line inside the secret differs, which does not look like one.
    { path: 'b.yaml', before: 'token: |\n  one\n  two\n', after: `token: |\n  one\n  ${canary}\n` },
    {
      path: 'c.yaml',
      before: `password: ${canary}\n`,
      after: 'password: ENC[AES256_GCM,data:x,iv:y]\nsops:\n  mac: z\n',
    },
    { path: 'd.yaml', after: `kind: Secret\nstringData:\n  config.ini: |\n    ${canary}\n` },
    { path: 'e.yaml', after: `host: |\n  -----BEGIN OPENSSH PRIVATE KEY-----\n  ${canary}\n` },
    { path: 'f.yaml', before: `key: AGE-SECRET-KEY-1${canary}\n` },
    { path: '.env', after: `PASSWORD=${canary}\n` },
    { path: 'flow.yaml', after: `- {apiVersion: v1, kind: Secret, data: {config.ini: ${canary}}}\n` },
    { path: 'line.json', after: `{"items": [{"kind":"Secret","data":{"config.ini":"${canary}"}}]}\n` },
    { path: 'g.json', before: '{}', after: `{\n  "kind": "Secret",\n  "data": {"a": "${canary}"}\n}\n` },
  ]
  const diff = diffOf(...cases)
  assert.ok(!JSON.stringify(diff).includes(canary), JSON.stringify(diff, undefined, 1))
  const notes = Object.fromEntries(diff.files.map(({ path, note }) => [path, note]))
  assert.match(notes['c.yaml'] ?? '', /SOPS/)
  assert.match(notes['d.yaml'] ?? '', /Secret/)
  assert.match(notes['e.yaml'] ?? '', /private key/)
  assert.match(notes['.env'] ?? '', /not a manifest/)
  assert.deepEqual(
    diff.files[0]?.lines.map(({ sign, text }) => `${sign}${text}`),
    [' kind: VM', ' password: ***', '+cpu: 1'],
  )
  assert.equal(diff.files[1]?.lines[0]?.text, 'only values that are not shown have changed')
})

test('it is bounded: files, lines, length of a line; control characters are taken out', () => {
  const many = Array.from({ length: LIMITS.diff.files + 5 }, (_, index) => ({ path: `${index}.yaml`, after: 'a: 1\n' }))
  assert.equal(diffOf(...many).more, 5)
  assert.equal(diffOf(...many).files.length, LIMITS.diff.files)
  const long = { path: 'long.yaml', after: 'a: 1\n'.repeat(LIMITS.diff.lines + 7) }
  const [first, second] = diffOf(long, { path: 'next.yaml', after: 'b: 1\n' }).files
  assert.deepEqual([first?.lines.length, first?.note], [LIMITS.diff.lines, '7 more lines are not shown'])
  assert.deepEqual([second?.lines.length, second?.note], [0, '1 more lines are not shown'])
  const [line] = linesOf('', `a: ${'x'.repeat(5000)}\n`) ?? []
  assert.equal(line?.length, LIMITS.diff.lineLength + 1)
  assert.deepEqual(linesOf('', 'a: \u001b[31mred\u202e\n'), ['+a: ?[31mred?'])
  assert.equal(diffOf({ path: 'x.yaml', after: '', unread: 'too large' }).files[0]?.note, 'it is larger than 256 KiB')
})

test('only commits that croft followed are compared, each with what was in force before it', () => {
  const declaration = (key: string, file: string) => ({ key, origin: { file } })
  const state = {
    source: { name: 'main' },
    revision: { id: 'b', declarations: [declaration('VM/old', 'vm.yaml')] },
    waiting: { revision: { id: 'c', declarations: [declaration('VM/new', 'vm.yaml')] } },
    trouble: { commit: 'd' },
  } as unknown as SourceState
  const seen = (commit: string, source = 'main') => ({ source, commit, subject: '', author: '', committedMs: 0 })
  const commits = [seen('b'), seen('x', 'other'), seen('a')]
  const before = (commit: string) => changeOfCommit(state, commits, commit)?.before
  assert.deepEqual(['c', 'd', 'b', 'a', 'x', 'zzz'].map(before), ['b', 'b', 'a', undefined, undefined, undefined])
  assert.deepEqual(changeOfCommit(state, commits, 'c')?.keysIn('vm.yaml'), ['VM/old', 'VM/new'])
  assert.deepEqual(changeOfCommit(state, commits, 'b')?.keysIn('vm.yaml'), ['VM/old'])
})
