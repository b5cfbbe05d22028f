import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { NODE_CHECK, readNodeCheck } from '../../k3s/node-check.ts'
import { examineNode, judgeNode } from './doctor.ts'
import { driverLab } from './testing/lab.ts'

const NOW = 1_800_000_000_000
const WELL = {
  uid: '0',
  machine: 'x86_64',
  clock: String(NOW / 1000),
  has: ['curl', 'systemctl', 'systemd-run', 'journalctl', 'sha256sum', 'base64'],
  disk: String(40 * 2 ** 20),
  cgroup: 'cgroup2fs',
  controllers: 'cpuset cpu io memory pids',
  source: ['https://mirror/k3s ok'],
}

function judged(
  more: Readonly<Record<string, string | readonly string[] | undefined>>,
  role: 'server' | 'agent' = 'server',
  tookMs = 0,
) {
  const facts = new Map(
    Object.entries({ ...WELL, ...more }).flatMap(([name, value]): [string, readonly string[]][] =>
      value === undefined ? [] : [[name, [value].flat()]],
    ),
  )
  const checks = judgeNode(facts, { node: 's1', role, version: 'v1.34.3+k3s1', askedMs: NOW, answeredMs: NOW + tookMs })
  return checks.map(({ level, code }) => `${level} ${code}`)
}

test('a machine that K3s can run on is said to be ready', () => {
  assert.deepEqual(judged({}), ['ok node'])
  assert.deepEqual(judged({ runs: ['k3s'], port: ['6443', '2379'] }), ['ok node'])
})

test('everything that would stop K3s before it starts is found by name', () => {
  const rows: readonly [string, Parameters<typeof judged>[0], readonly string[]][] = [
    ['another user', { uid: '1000' }, ['warning node', 'wrong not-root']],
    ['another processor', { machine: 'riscv64' }, ['warning node', 'wrong architecture']],
    ['no systemd', { has: ['curl', 'sha256sum', 'base64'] }, ['warning node', 'wrong missing']],
    ['no mirror', { source: ['https://mirror/k3s curl: (6) Could not resolve'] }, ['warning node', 'wrong no-source']],
    ['one of two mirrors', { source: ['https://mirror/k3s no', 'https://other/k3s ok'] }, ['ok node']],
    ['a full disk', { disk: '1000' }, ['warning node', 'wrong disk']],
    ['a small disk', { disk: String(4 * 2 ** 20) }, ['ok node', 'warning disk']],
    ['a wrong clock', { clock: String(NOW / 1000 - 60) }, ['warning node', 'wrong clock-skew']],
    ['no memory group', { controllers: 'cpu pids' }, ['warning node', 'wrong cgroups']],
    ['old groups', { cgroup: 'tmpfs', controllers: 'cpu memory pids' }, ['ok node', 'warning cgroup-v1']],
    ['a taken port', { port: ['6443'] }, ['warning node', 'wrong ports']],
    ['a K3s that starts', { starts: ['k3s'], port: ['6443'] }, ['ok node', 'warning starting']],
    ['a firewall', { firewall: ['ufw'] }, ['ok node', 'warning firewall']],
  ]
  for (const [name, more, expected] of rows) assert.deepEqual(judged(more), expected, name)
  assert.deepEqual(judged({ port: ['6443'] }, 'agent'), ['ok node'], 'an agent does not listen there')
})

test('a clock is not wrong because the machine took long to answer', () => {
  assert.deepEqual(judged({}, 'server', 20_000), ['ok node'])
  assert.deepEqual(judged({ clock: String(NOW / 1000 + 20) }, 'server', 20_000), ['ok node'])
  const behind = { clock: String(NOW / 1000 - 6) }
  assert.deepEqual(judged(behind, 'server', 20_000), ['warning node', 'wrong clock-skew'])
})

test('the program that looks runs under a real shell and answers whole', () => {
  const out = execFileSync('sh', ['-c', NODE_CHECK, 'croft', '/no/such/k3s'], { encoding: 'utf8' })
  const facts = readNodeCheck(out)
  assert.ok(facts)
  assert.equal(facts.get('uid')?.[0], String(process.getuid?.()))
  assert.ok(facts.get('has')?.includes('sha256sum'))
  assert.ok(
    Number(facts.get('disk')?.[0]) > 0 && Math.abs(Number(facts.get('clock')?.[0]) * 1000 - Date.now()) < 60_000,
  )
  assert.deepEqual(facts.get('source'), ['/no/such/k3s no such file'])
  assert.equal(readNodeCheck(out.slice(0, -3)), undefined, 'an answer that was cut off is none')
})

test('the clock of a machine is held against that of this computer, also where croft works on a faster one', async () => {
  const lab = driverLab('s1')
  const shell = lab.surroundings().nodes.get('s1')?.shell
  assert.ok(shell)
  const { clock } = lab
  const fast = {
    now: () => clock.now() + 36_000_000,
    outsideMs: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
  }
  const deps = { ...lab.deps, clock: fast }
  const node = { node: 's1', role: 'server' } as const
  const checks = await clock.runUntil(examineNode(lab.declaration(), node, shell, deps, new AbortController().signal))
  assert.deepEqual(
    checks.map(({ code }) => code),
    ['node'],
  )
})

test('[R20-2] a simulated host is looked at as deeply, and what is wrong with it is told', async () => {
  const lab = driverLab('s1')
  const look = async () => {
    const shell = lab.surroundings().nodes.get('s1')?.shell
    assert.ok(shell)
    const checks = await lab.clock.runUntil(
      examineNode(lab.declaration(), { node: 's1', role: 'server' }, shell, lab.deps, new AbortController().signal),
    )
    return checks.map(({ level, code }) => `${level} ${code}`)
  }
  assert.deepEqual(await look(), ['ok node'])
  Object.assign(lab.box('s1').trouble, {
    notRoot: true,
    noCurl: true,
    portTaken: true,
    wrongClock: true,
    diskFull: true,
  })
  assert.deepEqual(await look(), [
    'warning node',
    'wrong not-root',
    'wrong no-source',
    'wrong disk',
    'wrong clock-skew',
    'wrong ports',
  ])
})

test('[R20-2] what a lane answers is in the outcome of the step: a user that is not root, a disk that is full', async () => {
  for (const [trouble, words] of [
    [{ notRoot: true }, /Permission denied/],
    [{ diskFull: true }, /No space left on device/],
  ] as const) {
    const lab = driverLab('s1')
    Object.assign(lab.box('s1').trouble, trouble)
    // Observing writes nothing and so finds neither: the first writing step does.
    await lab.look()
    const outcome = await lab.perform({ verb: 'record-first-server', node: 's1' })
    assert.match(JSON.stringify(outcome), words)
  }
})
