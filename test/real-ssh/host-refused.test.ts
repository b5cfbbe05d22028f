import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CROFT, declared, personIn } from './as-a-person.ts'
import type { Lab } from './lab.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow', 'sheep'])

/** Every verb that goes to the host, and what each of them answers. */
function allSay(one: Lab, git: string, expected: readonly RegExp[]): void {
  const asked = [
    ['plan', git],
    ['apply', git, '--yes'],
    ['doctor', git],
    ['host', 'run', 'cow', '--dir', git, '--', 'touch', '/root/ran'],
  ]
  for (const words of asked) {
    const { status, stdout, stderr } = spawnSync(CROFT, words, { ...personIn(one), encoding: 'utf8' })
    assert.equal(status, 4, `${words.join(' ')}\n${stdout}${stderr}`)
    for (const part of expected) assert.match(stdout + stderr, part, words.join(' '))
  }
}

test('a host with another host key than Git names: both keys, and how to compare them', within, async () => {
  const one = await lab()
  const git = declared(one)
  const hosts = join(git, 'hosts.yaml')
  const [cow, sheep] = one.hosts
  assert.ok(cow !== undefined && sheep !== undefined)
  writeFileSync(hosts, readFileSync(hosts, 'utf8').replace(cow.hostKey, sheep.hostKey))
  allSay(one, git, [
    /cow shows the host key ssh-ed25519 SHA256:\S+, but Git names ssh-ed25519 SHA256:/,
    /Nothing was sent/,
    /If the host was reinstalled, compare the fingerprint on its own console \(ssh-keygen -lf \S+\)/,
    /put the line of that file into ssh\.hostKeys/,
  ])
})

test('a host that does not accept the key: who was refused, and what puts it right', within, async () => {
  const one = await lab()
  const git = declared(one)
  rmSync(join(one.hosts[0]?.root ?? '', 'root/.ssh/authorized_keys'))
  allSay(one, git, [
    /cow does not let root in with the key that was offered/,
    /Install the public key there \(croft host enroll(?: --dir \S+)? does it\), or correct ssh\.key and ssh\.user/,
  ])
})
