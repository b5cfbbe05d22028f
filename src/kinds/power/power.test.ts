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

/** What is said of a Power beside its hosts: `code line:column message (hint)`. Fields begin at line 5. */
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
