import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { linkRevision } from '../../src/controller/sources/link-revision.ts'
import type { Estate } from '../../src/model/estate.ts'
import { followRepository } from '../../src/source/git/repository.ts'
import { readTree } from '../../src/source/read-tree.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { filesOf, SIX } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-unread-'))
after(() => rmSync(root, { recursive: true, force: true }))

type Files = Readonly<Record<string, string>>
const FILE = 'machines/agent-2.yaml'
const ALL: Files = filesOf(SIX)
/** The machine in a separate folder, beside the others. */
const movedTo = (folder: string): Files => {
  const { [FILE]: text = '', ...others } = ALL
  return { ...others, [`${folder}/agent-2.yaml`]: text }
}
const LFS = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 300\n`

let made = 0
function repository(files: Files) {
  const tree = join(root, `tree-${++made}`)
  const remote = join(root, `remote-${made}.git`)
  mkdirSync(tree)
  const identity = ['-c', 'user.name=anna', '-c', 'user.email=anna@example.org', '-c', 'protocol.file.allow=always']
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]) => execFileSync('git', [...identity, ...args], { cwd: tree, env, stdio: 'pipe' })
  const write = (more: Files) => {
    for (const [file, text] of Object.entries(more)) {
      mkdirSync(dirname(join(tree, file)), { recursive: true })
      writeFileSync(join(tree, file), text)
    }
  }
  const push = () => {
    git('add', '-A')
    git('commit', '--quiet', '--allow-empty', '-m', 'change')
    git('push', '--quiet', '--force', 'origin', 'main')
  }
  git('init', '--quiet', '--bare', '--initial-branch=main', remote)
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', remote)
  write(files)
  push()
  const followed = followRepository({ remote, mirror: join(root, `mirror-${made}.git`), ref: 'main', allowLocal: true })
  return {
    tree,
    remote,
    git,
    write,
    push,
    remove: (path: string) => rmSync(join(tree, path), { recursive: true }),
    async newest(): Promise<Estate> {
      const seen = await followed.look(new AbortController().signal)
      assert.ok(seen.is === 'new', JSON.stringify(seen))
      return linkRevision(seen.revision)
    },
    onDisk: async (): Promise<Estate> => linkRevision(await readTree(tree)),
  }
}
type Repository = ReturnType<typeof repository>

const ids = (run: Simulation) => [...run.datacentre.world.guests.keys()].sort((a, b) => a - b)
async function settle(run: Simulation, warnings: string[] = []) {
  const process = run.start()
  const outcome = await run.untilSettled(process, {
    onPass({ plan }) {
      for (const { code, origin, object = '' } of plan.problems)
        if (code === 'not-read') warnings.push(`${object} ${origin.file}`)
    },
  })
  assert.equal(outcome, 'settled')
}

const CASES: Readonly<Record<string, readonly [Files, (r: Repository) => void, atPath: string]>> = {
  'its file becomes a symbolic link to a file that is no manifest by its name': [
    ALL,
    (r) => {
      r.write({ 'elsewhere/agent-2.txt': ALL[FILE] ?? '' })
      r.remove(FILE)
      symlinkSync('../elsewhere/agent-2.txt', join(r.tree, FILE))
    },
    FILE,
  ],
  'its file becomes a pointer of Git LFS': [ALL, (r) => r.write({ [FILE]: LFS }), FILE],
  'its file becomes the text of a link, as a computer without links has it': [
    ALL,
    (r) => r.write({ [FILE]: '../elsewhere/agent-2.yaml\n' }),
    FILE,
  ],
  'its folder becomes a symbolic link': [
    movedTo('own'),
    (r) => {
      r.remove('own')
      r.write({ 'real/agent-2.txt': 'x' })
      symlinkSync('real', join(r.tree, 'own'))
    },
    'own',
  ],
  'a Chart.yaml is added above its folder': [
    movedTo('templates'),
    (r) => r.write({ 'Chart.yaml': 'apiVersion: v2\nname: x\nversion: 1.0.0\n' }),
    'templates/agent-2.yaml',
  ],
  'a line of .croftignore names it': [ALL, (r) => r.write({ '.croftignore': `${FILE}\n` }), FILE],
  'its file is renamed to a template': [
    ALL,
    (r) => {
      r.remove(FILE)
      r.write({ [`${FILE}.j2`]: ALL[FILE] ?? '' })
    },
    `${FILE}.j2`,
  ],
}

for (const [what, [files, change, at]] of Object.entries(CASES))
  for (const from of ['a repository', 'a directory'] as const)
    test(`${what} (${from}): the machine stays, also over a restart, and the path is named`, async () => {
      const r = repository(files)
      const read = () => (from === 'a directory' ? r.onDisk() : r.newest())
      const run = simulate({ seed: 1, estate: await read() })
      await settle(run)
      const before = ids(run)
      change(r)
      r.push()
      run.estate = await read()
      const warnings: string[] = []
      await settle(run, warnings)
      await settle(run)
      assert.deepEqual(ids(run), before)
      assert.ok(warnings.includes(`EnvironmentVM/agent-2 ${at}`), `it names ${[...new Set(warnings)].join(', ')}`)
    })

test('its folder becomes a submodule: the machine stays', async () => {
  const r = repository(movedTo('own'))
  const run = simulate({ seed: 1, estate: await r.newest() })
  await settle(run)
  const before = ids(run)
  const other = repository({ 'agent-2.yaml': ALL[FILE] ?? '' })
  cpSync(join(r.tree, 'own'), join(root, 'copy'), { recursive: true })
  r.git('rm', '-rq', 'own')
  r.git('submodule', 'add', '--quiet', other.remote, 'own')
  r.push()
  run.estate = await r.newest()
  const warnings: string[] = []
  await settle(run, warnings)
  assert.deepEqual(ids(run), before)
  assert.ok(warnings.includes('EnvironmentVM/agent-2 own'), warnings.join())
})

test('a link that became one in an earlier commit and has not changed since stops no removal', async () => {
  const r = repository(ALL)
  const run = simulate({ seed: 1, estate: await r.newest() })
  await settle(run)
  symlinkSync('elsewhere.txt', join(r.tree, 'machines/notes.yaml'))
  r.write({ 'pictures/rack.yaml': LFS })
  r.push()
  run.estate = await r.newest()
  await settle(run)
  const before = ids(run)
  r.remove(FILE)
  r.push()
  run.estate = await r.newest()
  await settle(run)
  assert.deepEqual(
    ids(run),
    before.filter((id) => id !== 301),
  )
})

test('a template of a chart that names nothing of ours stops no removal in the commit that adds it', async () => {
  const r = repository(ALL)
  const run = simulate({ seed: 1, estate: await r.newest() })
  await settle(run)
  const before = ids(run)
  r.write({
    'shop/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    'shop/templates/web.yaml': 'kind: Service\nmetadata:\n  name: {{ .Release.Name }}\n',
  })
  r.remove(FILE)
  r.push()
  run.estate = await r.newest()
  await settle(run)
  assert.deepEqual(
    ids(run),
    before.filter((id) => id !== 301),
  )
})

test('what an unread path keeps goes when the path leaves the tree', async () => {
  const r = repository(ALL)
  const run = simulate({ seed: 1, estate: await r.newest() })
  await settle(run)
  const before = ids(run)
  r.write({ [FILE]: LFS })
  r.push()
  run.estate = await r.newest()
  await settle(run)
  assert.deepEqual(ids(run), before)
  r.remove(FILE)
  r.push()
  run.estate = await r.newest()
  await settle(run)
  assert.deepEqual(
    ids(run),
    before.filter((id) => id !== 301),
  )
})

test('a store that was lost while a path became unread lets nothing go either', async () => {
  const r = repository(ALL)
  const run = simulate({ seed: 1, estate: await r.newest() })
  await settle(run)
  const before = ids(run)
  run.disk = createMemoryStore().disk
  r.write({ [FILE]: LFS })
  r.push()
  run.estate = await r.newest()
  await settle(run)
  await settle(run)
  assert.deepEqual(ids(run), before)
})
