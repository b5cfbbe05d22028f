import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import { ownFolder } from '../../src/cli/demo/own-folder.ts'
import { breakingSilence } from '../../src/cli/demo/stage.ts'
import type { Runtime } from '../../src/cli/runtime.ts'
import { boxCluster } from '../../src/kinds/cluster/testing/box-cluster.ts'
import { EVERYWHERE } from '../../src/lib/egress.ts'
import { proxyEnvironment, proxyFor } from '../../src/lib/tunnel.ts'
import { follow } from '../../src/main/estate.ts'
import { checkOut } from '../../src/source/git/checked-out.ts'
import { permitRepository } from '../../src/source/git/fetched-git.ts'
import { refusedRemote } from '../../src/source/git/git-names.ts'

/* The first minutes on an unknown computer: its environment, Git, Node and disk. */

const root = path.join(import.meta.dirname, '../..')
const scratch = mkdtempSync(path.join(tmpdir(), 'croft-first-run-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

test('the proxy of a simulation is used whatever proxies the person has set, in either spelling', () => {
  const theirs = {
    https_proxy: 'http://corporate:3128',
    no_proxy: '192.168.0.0/16,localhost',
    HTTPS_PROXY: '',
    NO_PROXY: '*',
  }
  const env = { ...theirs, ...proxyEnvironment('http://127.0.0.1:4000') }
  assert.equal(proxyFor('https://192.168.4.79:6443', env), 'http://127.0.0.1:4000')
  assert.equal(proxyFor('https://api.example.org', env), 'http://127.0.0.1:4000')
})

/** A clone with the setup and an npm that does what a test says. */
function clone(name: string, npm: string) {
  const at = path.join(scratch, name)
  mkdirSync(path.join(at, 'scripts'), { recursive: true })
  mkdirSync(path.join(at, 'bin'))
  mkdirSync(path.join(at, 'programs'))
  cpSync(path.join(root, 'scripts/setup.cjs'), path.join(at, 'scripts/setup.cjs'))
  writeFileSync(path.join(at, 'bin/built.js'), 'exports.builtOf = () => "built"')
  writeFileSync(path.join(at, 'package-lock.json'), '{}')
  writeFileSync(path.join(at, 'package.json'), '{"dependencies": {"yaml": "1"}, "devDependencies": {"esbuild": "1"}}')
  writeFileSync(path.join(at, 'programs/npm'), `#!/bin/sh\nenv > ${at}/env; echo "$@" > ${at}/args\n${npm}\n`)
  chmodSync(path.join(at, 'programs/npm'), 0o755)
  const start = (env: Readonly<Record<string, string>> = {}) =>
    spawnSync(process.execPath, ['scripts/setup.cjs'], {
      cwd: at,
      encoding: 'utf8',
      env: { PATH: `${at}/programs:${process.env.PATH}`, ...env },
    })
  return { at, start }
}

const add = (name: string) => `mkdir -p node_modules/${name}; echo '{}' > node_modules/${name}/package.json`

test('set-up installs everything, whatever the environment says to leave out', () => {
  const { at, start } = clone('production', `${add('yaml')}; ${add('esbuild')}`)
  const ran = start({
    NODE_ENV: 'production',
    npm_config_omit: 'dev',
    NPM_CONFIG_OMIT: 'optional',
    npm_config_registry: 'https://mirror',
  })
  assert.equal(ran.status, 0, ran.stderr)
  const env = readFileSync(path.join(at, 'env'), 'utf8')
  assert.doesNotMatch(env, /NODE_ENV|omit/i)
  assert.match(env, /npm_config_registry=https:\/\/mirror/)
  assert.match(readFileSync(path.join(at, 'args'), 'utf8'), /--include=dev --include=optional/)
})

test('set-up that npm left incomplete is no set-up: it says why, and the next start does it again', () => {
  const { at, start } = clone('full', add('yaml'))
  const ran = start()
  assert.equal(ran.status, 1)
  assert.match(ran.stderr, /npm ci ended well, but esbuild is not there\. Is the disk full\?/)
  assert.ok(!existsSync(path.join(at, 'node_modules')))
  writeFileSync(path.join(at, 'programs/npm'), `#!/bin/sh\n${add('yaml')}; ${add('esbuild')}\n`)
  assert.equal(start().status, 0)
})

test('what was installed by hand without the tools is completed, and what is complete is left alone', () => {
  const { at, start } = clone('by-hand', `${add('yaml')}; ${add('esbuild')}`)
  mkdirSync(path.join(at, 'node_modules/yaml'), { recursive: true })
  writeFileSync(path.join(at, 'node_modules/.package-lock.json'), '{}')
  writeFileSync(path.join(at, 'node_modules/yaml/package.json'), '{}')
  assert.match(start().stderr, /setting up/)
  rmSync(path.join(at, 'node_modules/.croft-setup'))
  const again = start()
  assert.deepEqual([again.status, again.stderr], [0, ''])
})

test('no statement has numbered parameters: Node 24.0 to 24.6 cannot bind them', () => {
  const numbered = globSync('src/store/**/*.ts', { cwd: root }).filter((file) => /[^\w?]\?\d/.test(read(file)))
  assert.deepEqual(numbered, [])
})

for (const folder of ['with space', 'with:colon', "with'quote"])
  test(`a repository in a folder ${folder} is followed`, async () => {
    const at = path.join(scratch, folder)
    mkdirSync(at)
    assert.equal(refusedRemote(path.join(at, 'infra.git'), true), undefined)
    assert.notEqual(refusedRemote(path.join(at, 'infra.git')), undefined)
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', at, ...args], { env, stdio: 'pipe' })
    git('init', '--quiet', '--initial-branch=main', '.')
    writeFileSync(path.join(at, 'a.yaml'), boxCluster('home'))
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'one')
    const followed = await follow(at, path.join(at, 'mirror.git'))
    assert.equal((await followed.look(AbortSignal.any([])))?.files, 1)
  })

test('a repository that cannot be followed ends the tour with its reason', async () => {
  const followed = await follow(path.join(scratch, 'nothing.git'), path.join(scratch, 'mirror.git'))
  await assert.rejects(followed.look(AbortSignal.any([])), /nothing\.git cannot be followed: .+/)
})

test('files of a commit have its bytes, whatever line ends and filters the person has configured', async () => {
  const home = path.join(scratch, 'home')
  const at = path.join(scratch, 'chart')
  for (const one of [home, at, path.join(scratch, 'out')]) mkdirSync(one)
  writeFileSync(
    path.join(home, '.gitconfig'),
    '[core]\n\tautocrlf = true\n\teol = crlf\n[filter "shout"]\n\tsmudge = tr a-z A-Z\n\trequired = true\n',
  )
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', at, ...args], { env, encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch=main', '.')
  git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  writeFileSync(path.join(at, 'Chart.yaml'), 'name: shop\nversion: 1.0.0\n')
  writeFileSync(path.join(at, 'values.yaml'), 'colour: blue\n')
  writeFileSync(path.join(at, '.gitattributes'), 'values.yaml filter=shout\n')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'one')
  const { HOME } = process.env
  process.env.HOME = home
  try {
    const place = { url: at, commit: git('rev-parse', 'HEAD'), path: '.' }
    assert.equal(
      await checkOut(permitRepository(place, EVERYWHERE), path.join(scratch, 'out'), { allowLocal: true }),
      undefined,
    )
  } finally {
    process.env.HOME = HOME
  }
  assert.equal(readFileSync(path.join(scratch, 'out/Chart.yaml'), 'utf8'), 'name: shop\nversion: 1.0.0\n')
  assert.equal(readFileSync(path.join(scratch, 'out/values.yaml'), 'utf8'), 'colour: blue\n')
})

test('a clone has the same lines for everybody, and what npm packs there is no part of it', () => {
  const attributes = execFileSync('git', ['-C', root, 'check-attr', 'text', 'eol', '--', 'src/main.ts', 'bin/croft'], {
    encoding: 'utf8',
  })
  assert.deepEqual(
    attributes
      .trim()
      .split('\n')
      .map((line) => line.split(': ').slice(1).join('=')),
    ['text=auto', 'eol=lf', 'text=auto', 'eol=lf'],
  )
  const ignored = spawnSync('git', ['-C', root, 'check-ignore', '--no-index', 'croft-0.1.0.tgz'])
  assert.equal(ignored.status, 0)
})

test('npm start is replaced by croft, so that a signal reaches it; nothing of a package runs when it is installed', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
  assert.match(scripts.start ?? '', /&& exec node bin\/croft demo$/)
  const atInstall = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']
  assert.deepEqual(
    Object.keys(scripts).filter((name) => atInstall.includes(name)),
    [],
  )
})

test('a place for temporary files that is missing, is no folder, or is relative', async () => {
  await assert.rejects(
    ownFolder(path.join(scratch, 'missing')),
    /cannot make a folder in .*missing.*ENOENT.*Set TMPDIR/,
  )
  writeFileSync(path.join(scratch, 'file'), '')
  await assert.rejects(ownFolder(path.join(scratch, 'file')), /Set TMPDIR/)
  const made = await ownFolder(path.relative(process.cwd(), scratch))
  assert.ok(path.isAbsolute(made) && made.startsWith(scratch), made)
})

test('the tour never says nothing for longer than ten seconds', async () => {
  const clock = createVirtualClock(0)
  const told: string[] = []
  const out = { write: (text: string) => void told.push(text), isTty: false, columns: 80 }
  const { runtime, patiently } = breakingSilence({ clock, out } as unknown as Runtime)
  const work = async () => {
    await clock.sleep(8_000)
    runtime.out.write('a step\n')
    await clock.sleep(25_000)
  }
  await clock.runUntil(patiently('a machine boots', work()))
  assert.deepEqual(told, [
    'a step\n',
    '  … a machine boots: still at it after 18 s of your time\n',
    '  … a machine boots: still at it after 28 s of your time\n',
  ])
  await clock.advanceTo(100_000)
  assert.equal(told.length, 3)
})
