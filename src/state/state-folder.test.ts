import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { stateFile, vaultDirectory } from './state-file.ts'
import { noteEstate } from './state-folder.ts'

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-state-'))
after(() => rmSync(scratch, { recursive: true }))

/** A home with directories in it, and what croft would use for each. */
function home(name: string) {
  const root = path.join(scratch, name)
  const env = { HOME: root }
  const at = (folder: string) => path.join(root, folder)
  const fileOf = (folder: string) => stateFile(env, at(folder), undefined)
  return {
    at,
    fileOf,
    directory(folder: string, uid?: string, file = 'estate.yaml') {
      mkdirSync(at(folder), { recursive: true })
      if (uid !== undefined) writeFileSync(path.join(at(folder), file), `kind: Estate\nspec:\n  uid: "${uid}"\n`)
    },
    /** Like an apply. */
    used(folder: string) {
      const file = fileOf(folder)
      mkdirSync(path.dirname(file), { recursive: true })
      noteEstate(file, at(folder))
      return file
    },
    vaultOf: (folder: string) => vaultDirectory(env, at(folder), undefined),
  }
}

const UID = 'abcdef0123456789'

test('a directory that is renamed keeps its database and its vault, however often', () => {
  const { directory, used, fileOf, at, vaultOf } = home('renamed')
  directory('infra', UID)
  const file = used('infra')
  const vault = path.join(path.dirname(file), 'vault')
  mkdirSync(vault)
  writeFileSync(path.join(vault, 'age-key.txt'), 'x')
  for (const [from, to] of [
    ['infra', 'house'],
    ['house', 'home'],
  ] as const) {
    renameSync(at(from), at(to))
    assert.equal(fileOf(to), file, to)
    assert.equal(vaultOf(to), vault)
    assert.equal(used(to), file)
  }
  // A new directory takes the place of the first one.
  directory('infra', '1'.repeat(16))
  assert.notEqual(fileOf('infra'), file)
  assert.equal(fileOf('home'), file)
})

const WRITTEN: readonly (readonly [string, string, string])[] = [
  ['in flow style', 'estate.yaml', `{kind: Estate, spec: {uid: "${UID}"}}\n`],
  ['with flow style in its spec', 'estate.yaml', `kind: Estate # ours\nspec: {uid: '${UID}'}\n`],
  ['with a comment beside its kind', 'estate.yaml', `kind: "Estate"   # ours\nspec:\n  uid: ${UID}   # random\n`],
  ['with another field after it', 'estate.yaml', `spec:\n  uid: "${UID}"\n  other: 1\nkind: Estate\n`],
  ['as JSON', 'estate.json', `{"kind": "Estate", "spec": {"uid": "${UID}"}}`],
  ['in a folder below', 'base/all.yml', `kind: Machine\n---\nkind: Estate\nspec:\n  uid: "${UID}"\n`],
  [
    'after another document',
    'all.yaml',
    `kind: Machine\nmetadata: {name: Estate}\n---\nkind: Estate\nspec: {uid: "${UID}"}\n`,
  ],
]

for (const [index, [how, file, text]] of WRITTEN.entries()) {
  test(`an Estate ${how} is found, so a renamed directory keeps its database`, () => {
    const { directory, used, fileOf, at } = home(`written-${index}`)
    directory('infra')
    mkdirSync(path.dirname(path.join(at('infra'), file)), { recursive: true })
    writeFileSync(path.join(at('infra'), file), text)
    const database = used('infra')
    renameSync(at('infra'), at('house'))
    assert.equal(fileOf('house'), database)
  })
}

test('text that only looks like an Estate is none', () => {
  for (const text of [
    'kind: EstateX\nspec:\n  uid: abcdef0123456789\n',
    '# kind: Estate\nspec:\n  uid: abcdef0123456789\n',
    'kind: Estate\nspec: [',
    'Estate',
    `kind: Machine\nspec:\n  text: |\n    kind: Estate\n    uid: ${UID}\n`,
  ]) {
    const { directory, used, fileOf, at } = home(`none-${text.length}`)
    directory('infra')
    writeFileSync(path.join(at('infra'), 'estate.yaml'), text)
    const database = used('infra')
    renameSync(at('infra'), at('house'))
    assert.notEqual(fileOf('house'), database, text)
  }
})

test('a copy beside the original has a database of its own and the same vault; without an Estate nothing is shared', () => {
  const { directory, used, fileOf, vaultOf } = home('copied')
  directory('infra', UID, 'about.yaml')
  const file = used('infra')
  const vault = path.join(path.dirname(file), 'vault')
  mkdirSync(vault)
  writeFileSync(path.join(vault, 'age-key.txt'), 'x')
  directory('copy', UID)
  directory('stranger', '2'.repeat(16))
  directory('nameless')
  assert.notEqual(fileOf('copy'), file, 'what one checkout declared is no proof for another')
  assert.equal(vaultOf('copy'), vault)
  for (const other of ['stranger', 'nameless']) {
    assert.notEqual(fileOf(other), file)
    assert.notEqual(vaultOf(other), vault)
  }
})

test('a folder from before is taken over where it is, and found after the next rename', () => {
  const { directory, used, fileOf, at } = home('before')
  directory('infra')
  const old = fileOf('infra')
  mkdirSync(path.dirname(old), { recursive: true })
  directory('infra', UID)
  assert.equal(fileOf('infra'), old)
  used('infra')
  renameSync(at('infra'), at('house'))
  assert.equal(fileOf('house'), old)
})
