import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HostItem } from '../../model/host-item.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import { askKey } from './ask.ts'
import { type Command, run, showCommand } from './command.ts'
import { guarded, LOGIN } from './doors.ts'
import { editBack } from './edit.ts'
import { rulesOf } from './items/registry.ts'
import { hostCommands } from './perform.ts'
import { ITEMS_LIST, rules } from './rules.ts'
import { touchedBy } from './touched.ts'

const KEY = 'ssh-ed25519 AAAA'
/** Items of every sort that can break the login, with unsuspicious names. */
const DOORS: readonly HostItem[] = [
  { type: 'file', name: '/etc/sudoers.d/90-k3s', spec: { content: 'k3s ALL=(ALL NOPASSWD ALL\n' } },
  { type: 'file', name: '/etc/ssh/sshd_config.d/10-mine.conf', spec: { content: 'AllowUsers nobody\n' } },
  { type: 'file', name: '/etc/netplan/50-cloud-init.yaml', spec: { absent: true } },
  { type: 'file', name: '/root/.ssh/authorized_keys', spec: { content: `${KEY}\n` } },
  { type: 'file', name: '/etc/pam.d/sshd', spec: { content: '' } },
  { type: 'line', name: 'x', spec: { path: '/etc/ssh/sshd_config', line: 'PermitRootLogin no' } },
  { type: 'block', name: 'x', spec: { path: '/etc/network/interfaces', block: 'x', content: 'iface x\n' } },
  { type: 'unit', name: 'ssh.service', spec: { masked: true } },
  { type: 'unit', name: 'ssh.service', spec: { dropIn: '[Service]\nExecStartPre=/bin/false\n' } },
  { type: 'unit', name: 'systemd-networkd.service', spec: { enabled: false, state: 'stopped' } },
  { type: 'package', name: 'openssh-server', spec: { absent: true } },
  { type: 'package', name: 'sudo', spec: { absent: true } },
  { type: 'directory', name: '/root/.ssh', spec: { mode: 0o777 } },
  { type: 'user', name: 'ops', spec: { groups: [], shell: '/usr/sbin/nologin' } },
  { type: 'sysctl', name: 'net.ipv6.conf.all.disable_ipv6', spec: { value: '1' } },
  { type: 'module', name: 'e1000e', spec: { absent: true } },
]
const HARMLESS: readonly HostItem[] = [
  { type: 'file', name: '/etc/motd', spec: { content: 'hello\n' } },
  { type: 'unit', name: 'ssh.service', spec: { enabled: true, state: 'started' } },
  { type: 'package', name: 'curl', spec: {} },
  { type: 'user', name: 'ops', spec: { groups: ['adm'] } },
  { type: 'sysctl', name: 'vm.swappiness', spec: { value: '10' } },
  { type: 'module', name: 'rbd', spec: {} },
]

const KNOWN: Readonly<Record<string, object>> = {
  [askKey({ ask: 'sysctl', key: 'net.ipv6.conf.all.disable_ipv6' })]: { value: '0' },
  [askKey({ ask: 'sysctl', key: 'vm.swappiness' })]: { value: '60' },
  [askKey({ ask: 'module', name: 'e1000e' })]: { loaded: '1' },
  'unit ssh.service': { load: 'loaded', active: 'active', enabled: 'enabled' },
  'unit systemd-networkd.service': { load: 'loaded', active: 'active', enabled: 'enabled' },
  'package openssh-server': { status: 'ii', version: '1' },
  'package sudo': { status: 'ii', version: '1' },
  'file /etc/netplan/50-cloud-init.yaml': { kind: 'file', mode: '600', owner: 'root', group: 'root', content: 'x' },
  'file /root/.ssh': { kind: 'directory', mode: '700', owner: 'root', group: 'root' },
  [askKey({ ask: 'run', argv: ['getent', 'passwd', 'ops'] })]: { code: '0', out: 'ops:x:1:1::/home/ops:/bin/sh' },
}

function commandsOf(item: HostItem): readonly Command[] {
  const resource = {
    uid: 'u1',
    policy: { deletion: 'Delete' },
    desired: { type: 'item', item: { host: 'cow', item, reboot: 'refused' } },
  } as unknown as Resource
  const asks = rulesOf(item).asks(item)
  const answers = new Map(asks.map((ask) => [askKey(ask), KNOWN[askKey(ask)] ?? {}]))
  const observed = { type: 'item', list: ITEMS_LIST, close: { config: { look: { answers } }, atMs: 0 } }
  const seen = observed as unknown as ObservedResource
  return rules.updateSteps(resource, seen, rules.diff(resource, seen)).flatMap(hostCommands)
}

for (const item of DOORS)
  test(`${item.type} ${item.name}: armed before it is touched, proved by a login, kept after that`, () => {
    const order = commandsOf(item).map((one) => one.do)
    const [arm, prove, disarm] = [order.indexOf('arm'), order.indexOf('prove'), order.indexOf('disarm')]
    assert.ok(arm >= 0 && arm < prove && prove < disarm, order.join(' '))
    const touching = commandsOf(item).findIndex((one) => touchedBy([one]).door)
    assert.ok(touching > arm && touching < prove, commandsOf(item).map(showCommand).join('\n'))
  })

for (const item of HARMLESS)
  test(`${item.type} ${item.name}: shuts nothing, and is not armed`, () =>
    assert.ok(!commandsOf(item).some((one) => one.do === 'arm')))

test('what can be checked is checked before a login is tried, and sshd reads what it will read at the next start', () => {
  const words = (path: string) => guarded('x', [{ do: 'put', path, content: '' }], []).map(showCommand)
  assert.ok(words('/etc/sudoers.d/x').includes('visudo -c'))
  const ssh = words('/etc/ssh/sshd_config')
  assert.ok(ssh.indexOf('sshd -t') > 0 && ssh.some((line) => line.includes('reload ssh')))
  assert.ok(words('/etc/netplan/x.yaml').includes('netplan generate'))
})

test('taking back what touches a door is armed as well', () => {
  const back = editBack({ what: 'line', path: '/etc/ssh/sshd_config', ours: 'a', before: '', created: false })
  assert.ok(guarded('x', [back], []).some((one) => one.do === 'arm'))
  const already = [{ do: 'arm', name: 'x', seconds: 1, revert: [] } as const, back]
  assert.equal(guarded('x', already, []), already)
  const undo = [run('systemctl', 'unmask', '--', 'ssh.service')]
  const [arm] = guarded('x', [run('systemctl', 'mask', '--now', '--', 'ssh.service')], undo).filter(
    (one) => one.do === 'arm',
  )
  assert.ok(arm?.do === 'arm' && arm.revert.includes(undo[0] as Command))
})

test('a setting of the network and the driver of a card are put back by the host itself', () => {
  const armedBy = (item: HostItem) =>
    commandsOf(item).flatMap((one) => (one.do === 'arm' ? one.revert.map(showCommand) : []))
  const setting = armedBy({ type: 'sysctl', name: 'net.ipv6.conf.all.disable_ipv6', spec: { value: '1' } })
  assert.ok(
    setting.some((line) => line.includes('net.ipv6.conf.all.disable_ipv6=0')),
    setting.join('; '),
  )
  assert.ok(
    armedBy({ type: 'module', name: 'e1000e', spec: { absent: true } }).some((line) =>
      line.endsWith('modprobe -- e1000e'),
    ),
  )
})

for (const [what, sshd, passes] of [
  ['lets in nobody with a shell', 'echo "allowusers nobody"', false],
  ['cannot read its configuration', 'echo "line 3: Bad configuration option: AlowUsers"; exit 255', false],
  ['lets in everybody', 'echo "port 22"', true],
  ['lets in root and another', 'printf "allowusers nobody\\nallowusers root\\n"', true],
  ['lets in whoever fits a pattern', 'echo "allowusers *@10.0.0.0/8"', true],
] as const)
  test(`on the computer that croft runs on, an sshd that ${what} ${passes ? 'is kept' : 'is taken back'}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'croft-login-'))
    writeFileSync(join(folder, 'sshd'), `#!/bin/sh\n${sshd}\n`, { mode: 0o755 })
    const program = LOGIN.replaceAll('PATH=/usr/local/sbin', `PATH=${folder}:/usr/local/sbin`)
    const { status, stdout } = spawnSync('sh', ['-c', program], { encoding: 'utf8' })
    assert.equal(status === 0, passes, stdout)
    assert.equal(stdout === '', passes, stdout)
    rmSync(folder, { recursive: true })
  })
