import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { findCommand } from '../../scripts/packages.ts'
import { configYaml, nodeConfig } from '../k3s/config.ts'
import { clusterSpec } from '../plan/clusters/testing/fixture.ts'
import { GATES_PROGRAM, GATES_SETTINGS, GATES_STATE, type GateSettings, gateFiles } from './gates.ts'

const folder = mkdtempSync(join(tmpdir(), 'croft-gates-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const DEADLINES = { route: 10, dns: 12, clock: 14, hostname: 30, api: 16 }
const SETTINGS: GateSettings = { hostname: 's2', dnsName: 'github.com', deadlines: DEADLINES }
let count = 0

/** Makes a root with the gates and the programs that they ask. Time passes in it only during a sleep. */
function machine(settings: GateSettings = SETTINGS, programs: Readonly<Record<string, string>> = {}) {
  const root = join(folder, String(count++))
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    chmodSync(join(root, path), mode)
  }
  for (const { path, mode, text } of gateFiles(settings)) put(path, text, Number.parseInt(mode, 8))
  put('/proc/uptime', '100.00 0\n')
  put('/etc/resolv.conf', 'nameserver 192.168.4.1\n')
  const all: Readonly<Record<string, string>> = {
    ip: 'echo "default via 192.168.4.1"',
    getent: 'exit 0',
    timedatectl: 'case "$3" in NTP) echo yes;; *) echo yes;; esac',
    hostname: 'echo s2',
    curl: 'exit 0',
    date: 'case "$1" in +%s) echo 1800000000;; *) echo 2027-01-15;; esac',
    sleep: `u=$(cut -d . -f 1 "$CROFT_ROOT/proc/uptime"); echo "$((u + $1)).00 0" >"$CROFT_ROOT/proc/uptime"; echo x >>"$CROFT_ROOT/slept"`,
    ...programs,
  }
  for (const [name, body] of Object.entries(all)) put(`/bin/${name}`, `#!/bin/sh\n${body}\n`, 0o755)
  return {
    put,
    config: (text: string) => put('/etc/rancher/k3s/config.yaml', text),
    pass() {
      const ran = spawnSync('sh', [join(root, GATES_PROGRAM)], {
        encoding: 'utf8',
        timeout: 120_000,
        env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, CROFT_ROOT: root },
      })
      const state = join(root, GATES_STATE)
      const slept = join(root, 'slept')
      return {
        status: ran.status,
        said: ran.stderr,
        gates: existsSync(state) ? (JSON.parse(readFileSync(state, 'utf8')) as unknown) : undefined,
        slept: existsSync(slept) ? readFileSync(slept, 'utf8').split('\n').length - 1 : 0,
      }
    },
  }
}

test('[R15] when everything is in order all gates are passed at once', () => {
  assert.deepEqual(machine().pass(), { status: 0, said: '', gates: [], slept: 0 })
})

const CLOSED: readonly [gate: string, program: string, body: string, why: RegExp][] = [
  ['route', 'ip', 'exit 0', /^there is no default route; given up after 10 s$/],
  ['dns', 'getent', 'exit 2', /^no answer for github\.com from 192\.168\.4\.1 ; given up after 12 s$/],
  [
    'clock',
    'timedatectl',
    'case "$3" in NTP) echo yes;; *) echo no;; esac',
    /^the clock is not synchronised yet; given up/,
  ],
  ['hostname', 'hostname', 'echo ubuntu', /^the host calls itself ubuntu and not s2; given up after 30 s$/],
]

for (const [gate, program, body, why] of CLOSED) {
  const number = gate === 'dns' ? '[R15] [A11]' : gate === 'hostname' ? '[R15] [R2]' : '[R15]'
  test(`${number} the gate ${gate} fails by its name after its deadline, and nothing goes on behind it`, () => {
    const { status, said, gates, slept } = machine(SETTINGS, { [program]: body }).pass()
    assert.equal(status, 1)
    assert.match(said, new RegExp(`^croft gate ${gate}: `))
    const [told] = gates as [{ name: string; message: string; sinceMs: number }]
    assert.equal(told.name, gate)
    assert.match(told.message, why)
    const deadline = DEADLINES[gate as keyof typeof DEADLINES]
    assert.equal(slept, deadline / 2)
    assert.equal(told.sinceMs, (1_800_000_000 - deadline) * 1000)
  })
}

test('[R2] [A2] a name that takes 20 s to be in force is waited for', () => {
  const late = 'test "$(cut -d . -f 1 "$CROFT_ROOT/proc/uptime")" -ge 120 && echo s2 || echo ubuntu'
  const { status, gates, slept } = machine(SETTINGS, { hostname: late }).pass()
  assert.deepEqual([status, gates, slept], [0, [], 10])
})

test('[R2] the name is the one that K3s is started under', () => {
  const host = machine({ ...SETTINGS, hostname: 'other' })
  const spec = clusterSpec('s1 s2 s3')
  const [, server] = spec.servers
  assert.ok(server)
  host.config(configYaml(nodeConfig(spec, server)))
  assert.equal(host.pass().status, 0)
})

test('[R15] an API that does not answer is told with its address; the first server asks nobody', () => {
  const spec = clusterSpec('s1 s2 s3')
  const [, server] = spec.servers
  assert.ok(server)
  const joining = machine(SETTINGS, { curl: 'exit 7' })
  joining.config(configYaml(nodeConfig(spec, server)))
  const { status, gates } = joining.pass()
  assert.equal(status, 1)
  assert.match(JSON.stringify(gates), /"api","message":"no answer from https:\/\/192\.168\.4\.79:6443; given up/)
  const first = machine(SETTINGS, { curl: 'exit 7' })
  first.config(configYaml(nodeConfig(spec, server, 'first')))
  assert.equal(first.pass().status, 0)
})

test('the name of the API is looked up where it has one', () => {
  const spec = clusterSpec('s1 s2 s3 a1', { endpoint: { dns: 'k3s.home.arpa' } })
  const [agent] = spec.agents
  assert.ok(agent)
  const host = machine(SETTINGS, { getent: '[ "$2" = github.com ]' })
  host.config(configYaml(nodeConfig(spec, agent)))
  const { status, gates } = host.pass()
  assert.equal(status, 1)
  assert.match(JSON.stringify(gates), /no answer for k3s\.home\.arpa from/)
})

test('a member that comes back waits for its own name alone: else servers would wait for each other', () => {
  for (const trace of ['/var/lib/rancher/k3s/server/db/etcd/name', '/var/lib/rancher/k3s/agent/client-kubelet.crt']) {
    const away = { ip: 'exit 0', getent: 'exit 2', curl: 'exit 7', timedatectl: 'echo no' }
    const member = machine(SETTINGS, away)
    member.put(trace, '')
    assert.deepEqual(member.pass().gates, [])
    const renamed = machine(SETTINGS, { ...away, hostname: 'echo localhost' })
    renamed.put(trace, '')
    assert.equal(renamed.pass().status, 1)
  }
})

test('[R11] a gate that is off is not waited at, and a clock that nobody keeps must only be set', () => {
  const { route: _route, ...rest } = DEADLINES
  assert.equal(machine({ ...SETTINGS, deadlines: rest }, { ip: 'exit 0' }).pass().status, 0)
  assert.equal(machine(SETTINGS, { timedatectl: 'exit 1' }).pass().status, 0)
  const unset = machine(SETTINGS, {
    timedatectl: 'exit 1',
    date: 'case "$1" in +%s) echo 1000;; *) echo 1970-01-01;; esac',
  })
  assert.match(JSON.stringify(unset.pass().gates), /the clock says 1970-01-01 and no time service is switched on/)
})

test('what a foreign program says cannot break the line that is read by the facts', () => {
  const host = machine(SETTINGS, { hostname: "printf 'a\"b\\\\\\nc\\033[31m'" })
  const { gates } = host.pass()
  assert.match(JSON.stringify(gates), /the host calls itself ab/)
})

const analyze = findCommand('systemd-analyze')
test('the unit is one that systemd takes', {
  skip: analyze === undefined ? 'systemd-analyze is not installed' : false,
}, () => {
  const root = join(folder, 'unit')
  const files = gateFiles(SETTINGS)
  for (const { path, text } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode: 0o755 })
  }
  const unit = files.find(({ path }) => path.endsWith('croft-gates.service'))
  assert.ok(unit)
  const ran = spawnSync(analyze ?? '', ['verify', '--man=no', `--root=${root}`, unit.path], { encoding: 'utf8' })
  assert.doesNotMatch(ran.stderr, /croft-gates\.service:\d+|Unknown|not executable/)
  assert.ok(files.some(({ path, text }) => path.includes('k3s.service.d') && /Requires=croft-gates/.test(text)))
  assert.ok(files.some(({ path }) => path === GATES_SETTINGS))
})
