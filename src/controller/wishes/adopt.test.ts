import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { filesOf, SIX } from '../../../test/simulation/manifests.ts'
import { findKind } from '../../kinds/registry.ts'
import type { Change, Resource } from '../../model/resource.ts'
import { link } from '../../plan/link.ts'
import { followRepository } from '../../source/git/repository.ts'
import { startHarness } from '../testing/harness.ts'
import { adoptChanges } from './adopt.ts'
import { createAdopter } from './adopter.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-adopt-'))
after(() => rmSync(root, { recursive: true, force: true }))

test('[A56] adopting a drift pushes a branch whose only change makes Git say what is there; comments stay', async () => {
  const remote = join(root, 'estate.git')
  const tree = join(root, 'estate')
  const mirror = join(root, 'mirror.git')
  mkdirSync(tree)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=anna', '-c', 'user.email=anna@example.org', ...args], {
      cwd: tree,
      env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: 'pipe',
    }).toString()
  git('init', '--quiet', '--bare', '--initial-branch=main', remote)
  git('init', '--quiet', '--initial-branch=main')
  const files = filesOf(SIX.slice(0, 2))
  const name = 'machines/server-1.yaml'
  files[name] =
    `# why it is so small\n${(files[name] ?? '').replace('metadata: {name: server-1}', 'metadata: {name: server-1, annotations: {croft.dev/drift: report}}').replace('[{dedicated: 2048}]', '[{dedicated: 2048}] # MiB')}`
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    writeFileSync(join(tree, file), text)
  }
  git('add', '-A')
  git('commit', '--quiet', '-m', 'one')
  git('push', '--quiet', remote, 'main')

  const linkAll = (revision: Parameters<typeof link>[0]) => link(revision, { findKind })
  const harness = await startHarness({
    options: {
      sources: [
        {
          name: 'main',
          remote,
          ref: 'main',
          pollMs: 3_600_000,
          open: () => followRepository({ remote, mirror, ref: 'main', allowLocal: true }),
        },
      ],
      adopt: (wish, state) =>
        createAdopter({
          clock: harness.clock,
          data: root,
          writable: [{ source: 'main', remote, mirror, allowLocal: true }],
          link: linkAll,
        })(wish, state),
    },
  })
  const calm = () =>
    harness.controller.view().resources.length > 0 &&
    harness.controller
      .view()
      .resources.every((one) => one.conditions.some((c) => c.type === 'Ready' && c.status === 'True'))
  await harness.until(calm)
  await harness.pass(20_000)
  const guest = harness.datacentre.world.guests.get(201)
  assert.ok(guest)
  guest.config.set('memory', '3072')
  await harness.until(() => harness.controller.view().drifts.length > 0, 3_600_000)
  const actor = { name: 'page:anna', from: 'page' } as const
  const none = await harness.controller.ask({ wish: 'adopt-drift', key: 'EnvironmentVM/server-2', fields: [] }, actor)
  assert.equal(none.ok, false)
  const granted = await harness.controller.ask(
    { wish: 'adopt-drift', key: 'EnvironmentVM/server-1', fields: [] },
    actor,
  )
  assert.equal(granted.ok, true, granted.message)
  const branch = granted.ok ? (granted.link ?? '') : ''
  const diff = git('--git-dir', remote, 'diff', '--unified=0', 'main', branch)
  assert.deepEqual(
    diff
      .split('\n')
      .filter((line) => /^[-+](?![-+])/.test(line))
      .map((line) => line.trim()),
    ['-    memory: [{dedicated: 2048}] # MiB', '+    memory: [{dedicated: 3072}] # MiB'],
  )
  assert.equal(git('--git-dir', remote, 'rev-parse', `${branch}~1`), git('--git-dir', remote, 'rev-parse', 'main'))

  git('--git-dir', remote, 'update-ref', 'refs/heads/main', branch)
  const before = harness.writes.length
  harness.controller.poke('main')
  await harness.until(() => harness.controller.view().drifts.length === 0)
  await harness.until(() => harness.controller.view().resources.every((one) => one.action.do === 'nothing'))
  assert.equal(guest.config.get('memory'), '3072')
  assert.deepEqual(harness.writes.slice(before), [], 'Git agrees now: nothing had to be done')
  await harness.stop()
})

/** Reads a small manifest: sizes in MiB, and one scalar that sets two values. */
function read(text: string): Resource['desired'] | undefined {
  const { invalid, memory, pool, ...spec } = parse(text).spec as { invalid?: true; memory?: unknown; pool?: string }
  if (invalid === true) return undefined
  const mb = (size: unknown) => {
    const [, amount, unit] = /^(\d+(?:\.\d+)?)(Mi|Gi)?$/.exec(String(size)) ?? []
    return Number(amount) * (unit === 'Gi' ? 1024 : 1)
  }
  const vm = {
    ...spec,
    memory: memory === undefined ? null : { dedicatedMb: mb(memory) },
    ...(pool === undefined ? {} : { first: { pool }, second: { pool } }),
  }
  return { type: 'vm', vm } as unknown as Resource['desired']
}

const change = (path: string, from: unknown, to: unknown, more: Partial<Change> = {}): Change => ({
  path,
  from,
  to,
  effect: 'live',
  ...more,
})

const ADOPTED: readonly [string, string, Change, string | undefined][] = [
  ['a number', 'spec: {cores: 2, memory: 1024}', change('cores', 4, 2), 'spec: {cores: 4, memory: 1024}'],
  ['a number that was seen as text', 'spec: {cores: 2}', change('cores', '4', 2), 'spec: {cores: 4}'],
  ['a text', 'spec: {tag: old}', change('tag', 'new', 'old'), 'spec: {tag: new}'],
  [
    'the second of two equal values',
    'spec: {cores: 2, sockets: 2}',
    change('sockets', 4, 2),
    'spec: {cores: 2, sockets: 4}',
  ],
  [
    'a switch',
    'spec: {agent: true, tablet: true}',
    change('tablet', false, true),
    'spec: {agent: true, tablet: false}',
  ],
  ['a size in MiB', 'spec: {memory: 4096Mi}', change('memory.dedicatedMb', 2048, 4096), 'spec: {memory: "2048Mi"}'],
  ['a size in GiB', 'spec: {memory: 4Gi}', change('memory.dedicatedMb', 2048, 4096), 'spec: {memory: "2048Mi"}'],
  ['one scalar that two things come from', 'spec: {pool: fast}', change('first.pool', 'slow', 'fast'), undefined],
  ['a value that the text does not hold', 'spec: {cores: 2}', change('sockets', 4, 1), undefined],
  ['a list', 'spec: {cores: 2}', change('cores', [4], 2), undefined],
  ['a secret', 'spec: {tag: old}', change('tag', 'new', 'old', { secret: true }), undefined],
  ['a text that is not valid', 'spec: {invalid: true, cores: 2}', change('cores', 4, 2), undefined],
  ['something that is not there yet', 'spec: {cores: 2, memory: 2}', change('dedicatedMb', 5, undefined), undefined],
]

for (const [name, text, one, expected] of ADOPTED)
  test(`a drift becomes a change of the one scalar that it comes from: ${name}`, () => {
    assert.deepEqual(
      adoptChanges(text, [one], read),
      expected === undefined ? { cannot: [one.path] } : { text: expected, fields: [one.path] },
    )
  })

test('of several drifts all are taken, or none', () => {
  const [cores, tag] = [change('cores', 4, 2), change('tag', 'new', 'old')]
  assert.deepEqual(adoptChanges('spec: {cores: 2, tag: old}', [cores, tag], read), {
    text: 'spec: {cores: 4, tag: new}',
    fields: ['cores', 'tag'],
  })
  assert.deepEqual(adoptChanges('spec: {cores: 2}', [cores, tag], read), { cannot: ['tag'] })
})
