import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { findKind } from '../../src/kinds/registry.ts'
import type { Estate } from '../../src/model/estate.ts'
import { link } from '../../src/plan/link.ts'
import { type Followed, followRepository } from '../../src/source/git/repository.ts'
import { estateOf, filesOf, SIX } from './manifests.ts'
import { simulate } from './run.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-f36-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Makes a real repository, and a person's clone that pushes to it. */
function repository(name: string) {
  const remote = join(root, `${name}.git`)
  const tree = join(root, name)
  mkdirSync(tree)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=someone', '-c', 'user.email=someone@example.org', ...args], {
      cwd: tree,
      env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: 'pipe',
    }).toString()
  git('init', '--quiet', '--bare', '--initial-branch=main', remote)
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', remote)
  let pushed = 0
  const push = (files: Readonly<Record<string, string | Uint8Array>>, ...flags: string[]) => {
    git('rm', '-rq', '--ignore-unmatch', '.')
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, file)), { recursive: true })
      writeFileSync(join(tree, file), text)
    }
    git('add', '-A')
    git('commit', '--quiet', '--allow-empty', ...flags, '-m', `change ${++pushed}`)
    git('push', '--quiet', '--force', 'origin', 'main')
  }
  const followed = followRepository({ remote, mirror: join(root, `${name}.mirror`), ref: 'main', allowLocal: true })
  return { remote, push, look: () => followed.look(new AbortController().signal) }
}

function inForce(before: Estate, seen: Followed): Estate {
  return seen.is === 'new' ? link(seen.revision, { findKind }) : before
}

test('[F-36] force-push, rewrite, empty tree, unreadable file, outage: the last good revision stays, nothing is deleted', async () => {
  const { push, look, remote } = repository('estate')
  const files = filesOf(SIX)
  push(files)
  const run = simulate({ seed: 1, estate: estateOf(SIX) })
  run.estate = inForce(run.estate, await look())
  assert.equal(run.estate.resources.length, SIX.length + 3)
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled')
  const guests = [...run.datacentre.world.guests.keys()].sort((a, b) => a - b)
  const writes = run.datacentre.writes.length

  const nothingHappens = async (what: string, expected: string) => {
    const seen = await look()
    assert.equal(seen.is === 'kept' ? `kept ${seen.reason}` : seen.is, expected, what)
    run.estate = inForce(run.estate, seen)
    await run.passes(process, 5)
    assert.deepEqual(
      [...run.datacentre.world.guests.keys()].sort((a, b) => a - b),
      guests,
      `${what}: a guest is gone`,
    )
    assert.equal(run.datacentre.writes.length, writes, `${what}: something was written`)
  }

  push(files, '--amend')
  await nothingHappens('history rewritten, same content', 'new')
  push({})
  await nothingHappens('empty tree', 'kept empty')
  push({ ...files, 'machines/server-1.yaml': new Uint8Array([0xff, 0xfe, 0x00, 0xd8, 0x00]) })
  await nothingHappens('a file that is not text', 'kept broken')
  push({ ...files, 'machines/server-1.yaml': 'kind: [unclosed' })
  await nothingHappens('a file that is not YAML', 'kept broken')
  push({
    ...files,
    'machines/server-1.yaml': (files['machines/server-1.yaml'] ?? '').replace('cores: 2', 'cores: many'),
  })
  await nothingHappens('one object that is not valid: the others go on, it is left alone', 'new')
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(files).filter(([file]) => !names.some((name) => file.endsWith(`${name}.yaml`))))
  push(without('server-1', 'server-2', 'agent-1', 'agent-2'))
  await nothingHappens('four of six machines gone: more than a sync may delete', 'new')
  renameSync(remote, `${remote}.away`)
  await nothingHappens('the repository cannot be reached', 'kept unreachable')
  await run.clock.advanceTo(run.clock.now() + 24 * 3_600_000)
  await nothingHappens('for a whole day', 'kept unreachable')
  renameSync(`${remote}.away`, remote)

  const approval = `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: shrink}
spec: {reason: fewer are needed, maxDeletes: 4, expires: "2099-01-01T00:00:00Z"}
`
  push({ ...without('server-1', 'server-2', 'agent-1', 'agent-2'), 'approval.yaml': approval })
  run.estate = inForce(run.estate, await look())
  assert.equal(await run.untilSettled(process), 'settled')
  const left = [...run.datacentre.world.guests.values()].filter((guest) => guest.config.get('tags')?.includes('croft'))
  assert.equal(left.length, 2, 'with an approval in Git they go')
})
