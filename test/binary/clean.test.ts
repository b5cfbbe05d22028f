import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LIMITS } from '../../src/lib/limits.ts'
import { LONG } from '../simulation/volume.ts'
import {
  CROFT,
  type Ended,
  endAll,
  estateAt,
  hasEnded,
  type Running,
  type Simulator,
  scratch,
  signal,
  start,
  startSimulator,
} from './children.ts'

after(endAll)

const root = fileURLToPath(new URL('../..', import.meta.url))
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
const NOBODY = 65_534
const NEVER = { endpoint: 'https://127.0.0.1:1', fingerprint: Array.from({ length: 32 }, () => 'AA').join(':') }

const MACHINE = `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web}
spec:
  forProvider:
    nodeName: still-fawn
    vmId: 120
    started: true
    disk: [{interface: scsi0, datastoreId: local-zfs, size: 8}]
`

test('croft runs through a link, from any directory, with the Node of the PATH, and hands on its exit code', async () => {
  const cwd = scratch()
  const launcher = path.join(cwd, 'croft')
  symlinkSync(CROFT, launcher)
  estateAt(path.join(cwd, 'good'), NEVER, { 'machine.yaml': MACHINE })
  estateAt(path.join(cwd, 'bad'), NEVER, { 'machine.yaml': MACHINE.replace('nodeName', 'nodename') })
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: 'root@pam!croft=x' }
  const croft = (...args: readonly string[]) => start(args, { cwd, env, launcher }).ended
  const [shown, good, bad, wrong, missing] = await Promise.all([
    croft('--version'),
    croft('validate', 'good'),
    croft('validate', 'bad'),
    croft('aply'),
    croft('plan', 'nowhere'),
  ])
  assert.equal(shown.stdout.trim(), version)
  assert.deepEqual([shown.code, good.code, bad.code, wrong.code, missing.code], [0, 0, 1, 64, 64])
  assert.match(bad.stderr, /did you mean nodeName\?/i)
  assert.match(missing.stderr, /There is no file or directory nowhere/)
})

test('SIGTERM to the launcher ends the program behind it in good order', async () => {
  const cwd = scratch()
  const simulator = await startSimulator([], cwd, { launcher: CROFT })
  const behind = signal(simulator.running, 'SIGTERM')
  const ended = await simulator.running.exited
  assert.equal(ended.signal, null, 'the launcher was ended by the signal and did not hand it on')
  assert.equal(ended.code, 143, said(ended))
  for (const pid of behind) assert.ok(hasEnded(pid), `the program ${pid} lives on`)
  await assert.rejects(simulator.stats(), 'the simulator still answers')
})

test('kill -9 of the launcher: the program behind it does not live on beside the next run', async () => {
  const cwd = scratch()
  const simulator = await startSimulator([], cwd, { launcher: CROFT })
  const behind = signal(simulator.running, 'SIGKILL')
  await simulator.running.exited
  for (let tries = 0; tries < 6_000 && !behind.every(hasEnded); tries++) await sleep(10)
  assert.deepEqual(
    behind.filter((pid) => !hasEnded(pid)),
    [],
    'it still serves',
  )
})

for (const [name, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${name} while apply waits: exit ${code}, and it says how to go on`, async () => {
    const cwd = scratch()
    const simulator = await startSimulator(['--speed', '1'], cwd)
    estateAt(path.join(cwd, 'estate'), simulator, { 'machine.yaml': MACHINE })
    const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
    const running = start(['apply', '--yes', 'estate'], { cwd, env, launcher: CROFT })
    await firstWrite(simulator, running)
    signal(running, name)
    const ended = await running.exited
    assert.equal(ended.code, code, said(ended))
    assert.match(ended.stderr, /Interrupted\. .*run croft apply .*again/)
    const planned = await start(['plan', 'estate'], { cwd, env }).ended
    assert.match(planned.stdout, /VM 120/, said(planned))
  })
}

test('a place that cannot hold the database: its name, the way round it, and nothing was done', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--speed', '100'], cwd)
  estateAt(path.join(cwd, 'estate'), simulator, { 'machine.yaml': MACHINE })
  writeFileSync(path.join(cwd, 'file'), '')
  // A file where a directory should be stops even root.
  for (const more of [{ XDG_STATE_HOME: path.join(cwd, 'file') }, { HOME: path.join(cwd, 'file') }]) {
    const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, ...more }
    const ended = await start(['apply', '--yes', 'estate'], { cwd, env }).ended
    assert.equal(ended.code, 1, said(ended))
    assert.match(ended.stderr, /^Error: The database .*\/file\/.*croft\.db cannot be used: ENOTDIR.* --state/m)
    assert.doesNotMatch(said(ended), /not expected|\n +at /)
  }
  // Reading asks for no database, so it needs no place for one.
  const { code } = await start(['plan', 'estate'], { cwd, env: { PROXMOX_TOKEN: simulator.token } }).ended
  assert.equal(code, 2, 'plan without HOME')
  assert.equal((await simulator.stats()).writes, 0)
})

test('a directory that its own Estate makes too large: that is said, and nothing was done', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--speed', '100'], cwd)
  const directory = path.join(cwd, 'estate')
  estateAt(directory, simulator, { 'machine.yaml': MACHINE })
  for (let count = readdirSync(directory).length; count < LIMITS.files; count++)
    writeFileSync(path.join(directory, `more-${count}.yaml`), '')
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const ended = await start(['apply', '--yes', 'estate'], { cwd, env }).ended
  assert.equal(ended.code, 1, said(ended))
  assert.match(ended.stderr, /Wrote estate\.yaml[\s\S]*more than 5000 manifest files/)
  assert.doesNotMatch(said(ended), /Nothing is declared|Apply complete/)
  assert.equal((await simulator.stats()).writes, 0)
})

test('an ordinary user can run it, and is told when the state directory is not theirs', async (t) => {
  const cwd = scratch()
  const uid = process.getuid?.() === 0 && readableByAll(root) ? NOBODY : undefined
  t.diagnostic(uid === undefined ? 'run as the user who runs the tests' : 'run as nobody')
  const simulator = await startSimulator(['--speed', '100'], cwd)
  estateAt(path.join(cwd, 'estate'), simulator, { 'machine.yaml': MACHINE })
  for (const [name, mode] of [
    ['', 0o755],
    ['closed', 0o555],
    ['open', 0o777],
  ] as const) {
    mkdirSync(path.join(cwd, name), { recursive: true })
    chmodSync(path.join(cwd, name), mode)
  }
  const user = (name: string) => ({ HOME: path.join(cwd, name), PROXMOX_TOKEN: simulator.token })
  const apply = (name: string) =>
    start(['apply', '--yes', 'estate'], {
      cwd,
      env: user(name),
      launcher: CROFT,
      ...(uid === undefined ? {} : { uid }),
    }).ended
  // Root may write anywhere, so only another user can be refused.
  if (uid !== undefined || process.getuid?.() !== 0) {
    const refused = await apply('closed')
    assert.equal(refused.code, 1, said(refused))
    assert.match(
      refused.stderr,
      /The database .*\/closed\/.* cannot be used: you may not read or write it \(EACCES: permission denied/,
    )
    assert.equal((await simulator.stats()).writes, 0)
    mkdirSync(path.join(cwd, 'others'), { mode: 0o700 })
    writeFileSync(path.join(cwd, 'others', 'croft.db'), '')
    if (uid === undefined) chmodSync(path.join(cwd, 'others'), 0)
    const look = (args: readonly string[], env: Readonly<Record<string, string>>) =>
      start([...args, 'estate'], { cwd, env, launcher: CROFT, ...(uid === undefined ? {} : { uid }) }).ended
    const others = await look(['get', '--state', 'others/croft.db'], user('open'))
    chmodSync(path.join(cwd, 'others'), 0o700)
    assert.equal(others.code, 1, said(others))
    assert.match(others.stderr, /The database \S+others\/croft\.db cannot be used: you may not read or write it/)
  }
  const applied = await apply('open')
  assert.equal(applied.code, 0, said(applied))
})

test('a fresh clone, set up without install scripts, reaches the end of its tour', {
  skip: LONG ? false : 'long run only: it installs every package',
}, () => {
  const cwd = scratch()
  const env = { PATH: process.env.PATH, HOME: path.join(cwd, 'home'), npm_config_cache: process.env.npm_config_cache }
  const run = (command: string, args: readonly string[], where: string) => {
    const done = spawnSync(command, args, { cwd: where, env, encoding: 'utf8', timeout: 600_000 })
    assert.equal(done.status, 0, `${command} ${args.join(' ')}\n${done.stdout}\n${done.stderr}`)
    return done.stdout
  }
  const clone = path.join(cwd, 'croft')
  run('git', ['clone', '--quiet', '--no-hardlinks', root, clone], cwd)
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], clone)
  assert.equal(run('bin/croft', ['--version'], clone).trim(), version)
  const toured = run('npm', ['start', '--silent', '--', '--once'], clone)
  assert.match(toured, /The tour reached its end/)
})

/** However long it takes on this computer; a run that ends without a write has failed. */
async function firstWrite(simulator: Simulator, running: Running): Promise<void> {
  let over: Ended | undefined
  void running.ended.then((ended) => {
    over = ended
  })
  while ((await simulator.stats()).writes === 0) {
    assert.equal(over, undefined, 'apply never wrote')
    await sleep(20)
  }
}

/** Reports whether another user can read the program. A checkout below /root cannot be read. */
function readableByAll(directory: string): boolean {
  for (let at = path.resolve(directory); ; at = path.dirname(at)) {
    if ((statSync(at).mode & 0o005) !== 0o005) return false
    if (at === path.dirname(at)) return true
  }
}

function said({ stdout, stderr }: Ended): string {
  return `${stdout}\n${stderr}`
}
