import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import type { Grant } from '../../model/grant.ts'
import { readCommit } from '../../source/git/git.ts'
import { readTree } from '../../source/read-tree.ts'
import { linkRevision } from './link-revision.ts'
import { mergeRevisions } from './merge.ts'

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-history-'))
after(() => rmSync(scratch, { recursive: true }))

const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: home}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: T}}
`
const vm = (name: string, more = '') => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}${more}}
spec: {forProvider: {nodeName: pve1}}
`

let directory = ''
let count = 0

beforeEach(() => {
  directory = path.join(scratch, String(count++))
  mkdirSync(path.join(directory, 'home'), { recursive: true })
  git('init', '-q', '-b', 'main')
})

function git(...words: readonly string[]): string {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...who, '-C', directory, ...words], { encoding: 'utf8' }).trim()
}

function commit(files: Readonly<Record<string, string | undefined>>): string {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name)
    if (text === undefined) rmSync(file)
    else writeFileSync(file, text)
  }
  git('add', '-A')
  git('commit', '-q', '-m', 'c', '--allow-empty')
  return git('rev-parse', 'HEAD')
}

async function removed(...keys: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const estate = linkRevision(await readTree(path.join(directory, 'home')))
  const found = (await estate.history?.(keys)) ?? new Map()
  return Object.fromEntries([...found].map(([key, { commit: by }]) => [key, by]))
}

describe('[D-02] the commit that removed a declaration', () => {
  test('is found, in the directory and in the repository, with the policy that was declared last', async () => {
    commit({ 'home/a.yaml': CONNECTION, 'home/b.yaml': vm('web', ', annotations: {croft.dev/protect: "true"}') })
    commit({ 'home/c.yaml': vm('other') })
    const gone = commit({ 'home/b.yaml': undefined })
    const head = commit({ 'home/c.yaml': vm('other').replace('pve1', 'pve2') })
    assert.deepEqual(await removed('EnvironmentVM/web', 'EnvironmentVM/never'), { 'EnvironmentVM/web': gone })
    const stored = linkRevision(await readCommit(directory, head, { path: 'home' }))
    const found = await stored.history?.(['EnvironmentVM/web'])
    assert.equal(found?.get('EnvironmentVM/web')?.commit, gone)
    assert.equal(found?.get('EnvironmentVM/web')?.policy.protect, true)
  })

  test('is none where the thing was moved, refused for a while, only mentioned, or never committed', async () => {
    commit({ 'home/a.yaml': CONNECTION, 'home/b.yaml': vm('web') })
    commit({ 'home/b.yaml': undefined, 'home/moved.yaml': vm('web') })
    commit({ 'home/note.yaml': `# web is no more\n${vm('other')}` })
    assert.deepEqual(await removed('EnvironmentVM/web'), {})
    rmSync(path.join(directory, 'home/moved.yaml'))
    assert.deepEqual(await removed('EnvironmentVM/web'), {}, 'a file that is only gone from the disk proves nothing')
  })

  test('is the merge that brought it to the branch', async () => {
    commit({ 'home/a.yaml': CONNECTION, 'home/b.yaml': vm('web') })
    git('checkout', '-q', '-b', 'side')
    commit({ 'home/b.yaml': undefined })
    git('checkout', '-q', 'main')
    commit({ 'home/c.yaml': vm('other') })
    git('merge', '-q', '--no-ff', '-m', 'm', 'side')
    assert.deepEqual(await removed('EnvironmentVM/web'), { 'EnvironmentVM/web': git('rev-parse', 'HEAD') })
  })

  test('is none outside a repository, in an empty one, and where a shallow clone ends', async () => {
    const plain = path.join(scratch, 'plain')
    mkdirSync(plain)
    writeFileSync(path.join(plain, 'a.yaml'), CONNECTION)
    const estate = linkRevision(await readTree(plain))
    assert.equal((await estate.history?.(['EnvironmentVM/web']))?.size, 0)
    writeFileSync(path.join(directory, 'home/a.yaml'), CONNECTION)
    assert.deepEqual(await removed('EnvironmentVM/web'), {})
    commit({ 'home/b.yaml': vm('web') })
    const gone = commit({ 'home/b.yaml': undefined })
    const clone = path.join(scratch, 'shallow')
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${directory}`, clone])
    const shallow = linkRevision(await readCommit(clone, gone, { path: 'home' }))
    assert.equal((await shallow.history?.(['EnvironmentVM/web']))?.size, 0)
  })

  test('proves nothing for a source that could not have declared it', async () => {
    commit({ 'home/a.yaml': CONNECTION, 'home/b.yaml': vm('web') })
    const head = commit({ 'home/b.yaml': undefined })
    const revision = await readCommit(directory, head, { path: 'home' })
    const all = ['*']
    const grant: Grant = {
      source: 'lab',
      kinds: ['EnvironmentVM'],
      names: ['lab-*'],
      connections: all,
      hosts: all,
      pools: all,
      storages: all,
      networks: all,
      templates: all,
      secrets: [],
      egress: [],
      quota: {},
      hostAccess: false,
    }
    const both = [{ source: 'admin', revision: await readTree(path.join(directory, 'home')) }]
    const free = linkRevision(mergeRevisions([...both, { source: 'lab', revision }]))
    assert.equal((await free.history?.(['EnvironmentVM/web']))?.size, 1)
    const held = linkRevision(mergeRevisions([{ source: 'lab', revision, grant }]))
    assert.equal((await held.history?.(['EnvironmentVM/web']))?.size, 0)
  })
})
