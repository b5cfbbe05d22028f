import assert from 'node:assert/strict'
import { test } from 'node:test'
import { link } from '../../plan/link.ts'
import { readText, told } from '../../source/testing/fixture.ts'
import { findKind } from '../registry.ts'

const HOSTS = `---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: cow}
spec: {wake: {mac: "BC:24:11:00:00:01"}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: bare}
spec: {}
`

function manifest(fields: string): string {
  const lines = fields.trim().split('\n')
  return `apiVersion: croft.dev/v1alpha1
kind: Power
metadata: {name: site}
spec:
${lines.map((line) => `  ${line}`).join('\n')}
`
}

/** Returns a Power's problems without those of its hosts: `code line:column message (hint)`. Fields from line 5. */
function said(fields: string): readonly string[] {
  const { problems } = link(readText(manifest(fields) + HOSTS), { findKind })
  return told(problems.filter(({ severity }) => severity === 'error'))
}

const WRONG: readonly [string, string, string][] = [
  [
    'nothing to switch',
    'state: on',
    'missing-field 4:1 there is nothing to switch (name a cluster, hosts or machines)',
  ],
  ['a cluster that is not declared', 'cluster: nope', 'unknown-reference 1:1 there is no Cluster nope'],
  ['a host that is not declared', 'hosts: [{name: nope}]', 'unknown-reference'],
  ['a host that nobody could wake', 'hosts: [{name: bare}]', 'cannot-wake'],
  ['a machine that is not declared', 'machines: [Machine/nope]', 'unknown-reference 1:1 there is no Machine/nope'],
  [
    'a check that is not declared',
    'hosts: [{name: cow}]\nchecks: {dns: [nope]}',
    'unknown-reference 1:1 there is no HealthCheck nope',
  ],
  [
    'a time zone that is none',
    'hosts: [{name: cow}]\nschedule: {timeZone: Europe/Entenhausen}',
    'bad-value 6:24 Europe/Entenhausen is not a time zone (a name like Europe/Berlin)',
  ],
  [
    'two hooks of one name',
    'hosts: [{name: cow}]\nhooks: [{name: a, tier: hosts, when: off, on: cow, run: [x]}, {name: a, tier: hosts, when: on, on: cow, run: [x]}]',
    'bad-value 6:72 there are two hooks a (give each its own name)',
  ],
  [
    'a UPS and no host',
    'machines: [Machine/m]\nups: {name: rack@nut}',
    'bad-value 6:8 there is no host that croft could switch off when the battery runs out (name the hosts',
  ],
  ['a line that is no schedule', 'hosts: [{name: cow}]\nschedule: {off: ["every night"]}', 'bad-value 6:20'],
  ['a choice that is none', 'hosts: [{name: cow}]\ndeadlines: {drain: {choice: hope}}', 'bad-value 6:31'],
]

for (const [name, fields, expected] of WRONG) {
  test(`a Power with ${name} is refused`, () => {
    const [first = ''] = said(fields)
    assert.ok(first.startsWith(expected), first)
  })
}

test('a Power of one host takes defaults that lose nothing: what hangs is given up, people are waited for', () => {
  assert.deepEqual(said('hosts: [{name: cow}]'), [])
  const read = readText(manifest('hosts: [{name: cow, level: 2, watts: {on: 40}}]') + HOSTS)
  const spec = link(read, { findKind }).powers?.[0]?.spec
  assert.deepEqual(
    Object.values(spec?.deadlines ?? {}).map(({ choice }) => choice),
    ['abort', 'abort', 'abort', 'wait', 'force'],
  )
  assert.deepEqual([spec?.holds.people, spec?.holds.backups, spec?.holds.jobs, spec?.ha], [true, true, true, true])
  assert.deepEqual(spec?.hosts[0]?.watts, { on: 40, off: 0 })
})

const FED = `---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: own}
spec: {local: true, wake: {mac: "BC:24:11:00:00:03"}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: nut}
spec:
  ssh: {address: 192.168.4.2, hostKeys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGrow0000000000000000000000000000000000000000"]}
  wake: {mac: "BC:24:11:00:00:04"}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: far}
spec: {ups: other@192.168.4.9, wake: {mac: "BC:24:11:00:00:05"}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: near}
spec: {ups: shelf, wake: {mac: "BC:24:11:00:00:06"}}
`

test('each host has its UPS; the box of croft and that of the NUT server have the highest level of all', () => {
  const fields = `hosts: [{name: own, level: 1}, {name: nut}, {name: far, level: 3}, {name: near, level: 2}, {name: cow}]
ups: {name: rack@192.168.4.2}`
  const { powers, problems } = link(readText(manifest(fields) + HOSTS + FED), { findKind })
  assert.deepEqual(
    powers?.[0]?.spec.hosts.map(({ name, level, fedBy, tells }) => [name, level, fedBy, tells.join(' ')]),
    [
      ['own', 3, 'rack@192.168.4.2', ''],
      ['nut', 3, 'rack@192.168.4.2', 'rack@192.168.4.2 shelf@192.168.4.2'],
      ['far', 3, 'other@192.168.4.9', ''],
      ['near', 2, 'shelf@192.168.4.2', ''],
      ['cow', 1, 'rack@192.168.4.2', ''],
    ],
  )
  assert.deepEqual(told(problems.filter(({ code }) => code === 'raised-level')), [
    'raised-level 1:1 croft runs on own: it goes off with level 3, not 1, because nothing could switch off the others without it (leave level out)',
  ])
})

test('a NUT server on this computer is one on the box of croft', () => {
  const fields = 'hosts: [{name: own}, {name: cow, level: 2}]\nups: {name: rack@127.0.0.1:3493}'
  const [power] = link(readText(manifest(fields) + HOSTS + FED), { findKind }).powers ?? []
  assert.deepEqual(power?.spec.hosts[0]?.tells, ['rack@127.0.0.1:3493'])
})
