import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { sopsYaml } from '../../src/source/testing/sops-writer.ts'
import { croft } from './as-a-person.ts'
import type { Lab, LabHost } from './lab.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow', 'sheep'])

/** A directory of Git with these hosts; `more` are lines of a host's `ssh`. */
function git(one: Lab, name: string, hosts: readonly (readonly [LabHost, ...string[]])[]): string {
  const directory = join(one.directory, name)
  mkdirSync(directory)
  const manifests = hosts.map(
    ([host, ...more]) =>
      `apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: ${host.name}}\nspec:\n  ssh:\n    address: ${host.address}\n    hostKeys: [${host.hostKey}]\n${more.map((line) => `    ${line}\n`).join('')}`,
  )
  writeFileSync(join(directory, 'hosts.yaml'), manifests.join('---\n'))
  return directory
}

const hostsOf = ({ hosts: [cow, sheep] }: Lab): readonly [LabHost, LabHost] => {
  assert.ok(cow && sheep)
  return [cow, sheep]
}

test('a jump host: the way goes through it, by the key of each, and the far one sees only it', within, async () => {
  const one = await lab()
  const [cow, sheep] = hostsOf(one)
  const key = `key: {file: ${one.key}}`
  const directory = git(one, 'jump', [
    [cow, key],
    [sheep, key, 'jump: cow'],
  ])
  const ran = croft(one, [
    'run',
    'sheep',
    '--dir',
    directory,
    '--',
    'sh',
    '-c',
    'hostname; echo $SSH_CONNECTION | cut -d" " -f1',
  ])
  assert.deepEqual([ran.status, ran.stdout], [0, `sheep\n${cow.address}\n`], ran.stderr)
  // [S-05] A jump host with another key is refused before anything is asked of the far one.
  const wrong = git(one, 'jump-wrong', [
    [{ ...cow, hostKey: sheep.hostKey }, key],
    [sheep, key, 'jump: cow'],
  ])
  const refused = croft(one, ['run', 'sheep', '--dir', wrong, '--', 'true'])
  assert.equal(refused.status, 4)
  assert.match(refused.stderr, /cow shows the host key/)
})

test('the agent of a person: a host without a key of its own is opened by what is in it', within, async () => {
  const one = await lab()
  const [cow] = hostsOf(one)
  const directory = git(one, 'agent', [[cow]])
  const socket = join(one.directory, 'agent.sock')
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    await new Promise((resolve) => agent.stdout.once('data', resolve))
    const words = ['run', 'cow', '--dir', directory, '--', 'hostname']
    const empty = croft(one, words, { SSH_AUTH_SOCK: socket })
    assert.equal(empty.status, 4, 'an agent without keys opens nothing')
    const added = one.inside(['env', `SSH_AUTH_SOCK=${socket}`, 'ssh-add', '-q', one.key])
    assert.equal(added.code, 0, added.stderr)
    const ran = croft(one, words, { SSH_AUTH_SOCK: socket })
    assert.deepEqual([ran.status, ran.stdout], [0, 'cow\n'], ran.stderr)
  } finally {
    agent.kill()
  }
})

test('a key and a password for sudo that SOPS keeps in Git: both are used, and neither is shown', within, async () => {
  const one = await lab()
  const [, sheep] = hostsOf(one)
  writeFileSync(join(sheep.root, 'etc/sudoers.d/lab'), 'k3s ALL=(ALL:ALL) ALL\n')
  chmodSync(join(sheep.root, 'etc/sudoers.d/lab'), 0o440)
  const identity = await generateIdentity()
  const directory = git(one, 'sops', [
    [
      sheep,
      'user: k3s',
      'key: {sops: {file: keys.sops.yaml, key: ssh.key}}',
      'sudo: {password: {sops: {file: keys.sops.yaml, key: ssh.sudo}}}',
    ],
  ])
  const key = readFileSync(one.key, 'utf8')
  const recipients = [await identityToRecipient(identity)]
  writeFileSync(join(directory, 'keys.sops.yaml'), await sopsYaml({ ssh: { key, sudo: 'let-me-in' } }, { recipients }))
  const words = ['run', 'sheep', '--dir', directory, '--', 'sh', '-c', 'id -u; ps -ef; env']
  const ran = croft(one, words, { SOPS_AGE_KEY: identity })
  assert.equal(ran.status, 0, ran.stderr)
  assert.match(ran.stdout, /^0\n/)
  assert.ok(!`${ran.stdout}${ran.stderr}`.includes('let-me-in'))
  const without = croft(one, words)
  assert.notEqual(without.status, 0)
  assert.ok(!without.stderr.includes('PRIVATE KEY'))
})
