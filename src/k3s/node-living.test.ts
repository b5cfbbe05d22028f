// A running K3s is known by its units, its process and its ports, with any set-up.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type NodeRoot, nodeRoot, processStat, UP_TICKS } from './testing/node-root.ts'

let root: NodeRoot
beforeEach(() => {
  root = nodeRoot()
})
afterEach(() => root.remove())

const ETCD = '/var/lib/rancher/k3s/server/db/etcd/name'
const LISTENS = (port: string) =>
  `  sl  local_address rem_address   st\n   0: 0100007F:${port} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1\n`

function unit(place: string, name: string, start: string, shown: string): void {
  root.write(`${place}/${name}`, `[Service]\nType=notify\n${start}\n`)
  root.write(`/units/${name}`, `LoadState=loaded\n${shown}\n`)
}

function running(words: readonly string[], group: string): void {
  root.write('/proc/812/cmdline', words.map((word) => `${word}\0`).join(''))
  root.write('/proc/812/cgroup', `0::${group}\n`)
  root.write('/proc/812/stat', processStat(812, 1, UP_TICKS - 6_000))
}

async function seen(): Promise<readonly unknown[]> {
  const { service, role, heldBy } = await root.ask(['facts'])
  return [service, role, heldBy]
}

test('K3s that a package set up in /usr/lib is running, and croft stops and restarts it by its unit', async () => {
  unit('/usr/lib/systemd/system', 'k3s.service', 'ExecStart=/usr/bin/k3s server', 'ActiveState=active\nMainPID=812')
  assert.deepEqual(await seen(), ['running', 'server', undefined])
  assert.deepEqual(await root.ask(['stop']), { ok: true })
  assert.match(root.calls(), /disable k3s\.service\n[\s\S]*stop --no-block k3s\.service/)
})

test('K3s under a unit with another name is running, with its role, and is named', async () => {
  const start = "ExecStart=/usr/local/bin/k3s \\\n    agent \\\n\t'--node-name' \\\n"
  unit('/etc/systemd/system', 'k3s-main.service', start, 'ActiveState=active\nMainPID=812')
  assert.deepEqual(await seen(), ['running', 'agent', 'k3s-main.service'])
  await root.ask(['restart'])
  assert.match(root.calls(), /restart --no-block k3s-main\.service/)
})

test('a unit that takes snapshots with k3s, or is another program, is no K3s', async () => {
  unit('/etc/systemd/system', 'save.service', 'ExecStart=/usr/local/bin/k3s etcd-snapshot save', 'ActiveState=active')
  unit('/etc/systemd/system', 'x.service', 'ExecStart=/usr/local/bin/k3s-monitor server', 'ActiveState=active')
  assert.deepEqual(await seen(), ['absent', undefined, undefined])
})

test('a unit of a package that is not enabled and does not run is as good as absent', async () => {
  const shown = (state: string) => `ActiveState=inactive\nUnitFileState=${state}`
  unit('/usr/lib/systemd/system', 'k3s.service', 'ExecStart=/usr/bin/k3s server', shown('disabled'))
  assert.deepEqual((await seen())[0], 'absent')
  unit('/usr/lib/systemd/system', 'k3s.service', 'ExecStart=/usr/bin/k3s server', shown('enabled'))
  assert.deepEqual((await seen())[0], 'stopped')
})

test('K3s that a person started in a shell is running by its process, and has no unit to stop', async () => {
  running(['/usr/local/bin/k3s server'], '/user.slice/user-0.slice/session-3.scope')
  const facts = await root.ask(['facts'])
  assert.deepEqual([facts.service, facts.role, facts.heldBy], ['running', 'server', 'process 812 in session-3.scope'])
  assert.equal(Number(facts.clockMs) - Number(facts.serviceSinceMs), 60_000)
  assert.match(String((await root.ask(['stop'])).error), /without a unit .*process 812 in session-3\.scope/)
  root.write('/usr/local/bin/k3s', '#!/bin/sh\n', 0o755)
  assert.match(String((await root.ask(['start'], '{"role":"server"}')).error), /runs here already \(process 812/)
  assert.match(String((await root.ask(['forget-db'])).error), /still runs here \(process 812/)
})

test('the restore that croft itself runs, and kubectl, are no K3s that lives', async () => {
  running(['/usr/local/bin/k3s', 'server', '--cluster-reset'], '/system.slice/croft-job-restore-17.service')
  assert.deepEqual((await seen())[0], 'absent')
  running(['/usr/local/bin/k3s', 'kubectl', 'get', 'nodes'], '/user.slice/session-3.scope')
  assert.deepEqual((await seen())[0], 'absent')
})

test('data on the disk and a listener on a port of the API or of etcd is unknown, not absent', async () => {
  for (const [hex, port] of [
    ['192B', 6443],
    ['192C', 6444],
    ['094B', 2379],
    ['094C', 2380],
    ['094D', 2381],
  ] as const) {
    root.write('/proc/net/tcp6', LISTENS(hex))
    assert.deepEqual(await seen(), ['absent', undefined, undefined], 'nothing lies on the disk')
    root.write(ETCD, 's1-1234')
    assert.deepEqual(await seen(), ['unknown', undefined, `port ${port}`])
    root.remove()
    root = nodeRoot()
  }
  root.write(ETCD, 's1-1234')
  root.write('/proc/net/tcp', LISTENS('1F90'))
  assert.deepEqual((await seen())[0], 'absent')
})

test('start puts every other unit of K3s out, and writes an empty unit again before a restart', async () => {
  unit('/etc/systemd/system', 'k3s-main.service', 'ExecStart=/usr/local/bin/k3s server', 'ActiveState=inactive')
  root.write('/usr/local/bin/k3s', '#!/bin/sh\n', 0o755)
  assert.deepEqual(await root.ask(['start'], '{"role":"agent"}'), { ok: true })
  assert.match(root.calls(), /disable --now k3s-main\.service\n[\s\S]*start --no-block k3s-agent\.service/)
  root.write('/etc/systemd/system/k3s-main.service', '')
  root.write('/etc/systemd/system/k3s-agent.service', '')
  root.write('/units/k3s-agent.service', 'LoadState=bad-setting\n')
  assert.deepEqual(await seen(), ['failed', 'agent', undefined])
  assert.deepEqual(await root.ask(['restart']), { ok: true })
  assert.match(root.read('/etc/systemd/system/k3s-agent.service'), /k3s agent\n/)
})
