// What K3s may start on: the second line against a cluster that begins beside another, and against copies that vote.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { makeClusterSecrets, renewAuthorities } from '../drivers/k3s/make-secrets.ts'
import { readFacts } from '../drivers/k3s/read-node.ts'
import { gateFiles } from './gates.ts'
import { type NodeRoot, nodeRoot } from './testing/node-root.ts'

const DATA = '/var/lib/rancher/k3s'
const CA = `${DATA}/server/tls/server-ca.crt`
const NOTE = '/usr/local/lib/croft/member'
const GENERATION = '/sys/firmware/qemu_fw_cfg/by_name/etc/vmgenid_guid/raw'
const EMPTY = 'it was a server of its cluster and its data directory is empty: a disk may not be mounted'
const secretsOf = (seed: number) =>
  makeClusterSecrets({
    cluster: 'home',
    firstServer: 's1',
    nowMs: Date.now(),
    randomBytes: (count) => new Uint8Array(count).map((_, index) => (index * seed) % 256),
  })
const secrets = secretsOf(7)
const caOf = ({ files }: Pick<typeof secrets, 'files'>) => files.get('server-ca.crt')?.reveal() ?? ''

let root: NodeRoot = nodeRoot()
beforeEach(() => {
  root.remove()
  root = nodeRoot()
})
after(() => root.remove())

function run(program: string, ...words: readonly string[]) {
  const env = { CROFT_ROOT: root.directory, PATH: process.env.PATH }
  const { status, stdout, stderr } = spawnSync('sh', [join(root.directory, program), ...words], {
    encoding: 'utf8',
    env,
  })
  return { status, said: stdout.trim(), told: stderr.trim() }
}
const start = () => run('/usr/local/lib/croft/node', 'may-start')
const started = () => run('/usr/local/lib/croft/node', 'joined')
const gone = () => rmSync(join(root.directory, DATA), { recursive: true, force: true })
const factsNow = async () => {
  const facts = readFacts(await root.ask(['facts']))
  assert.ok(facts)
  return facts
}
const generation = (byte: string) => root.write(GENERATION, `${'x'.repeat(40)}${byte.repeat(16)}${'x'.repeat(100)}`)
function member(ca = caOf(secrets), config = 'server: https://10.0.0.2:6443\n') {
  root.write(CA, ca)
  root.write('/etc/rancher/k3s/config.yaml', config)
  started()
}

describe('before each start the disk is looked at', () => {
  test('a node that never was a server starts on an empty directory, and a member with its own data', () => {
    assert.deepEqual(start(), { status: 0, said: '', told: '' })
    member()
    assert.equal(start().status, 0)
  })

  test('a server does not begin anew on an empty directory, and croft does not take it for an empty disk', async () => {
    member()
    gone()
    assert.deepEqual(start(), { status: 3, said: EMPTY, told: '' })
    const { data, away } = await factsNow()
    assert.deepEqual([data, away], ['other', EMPTY])
  })

  test('where a disk of fstab is not mounted, also on a node that was no server; one that lies there is not asked for', async () => {
    root.write('/etc/fstab', 'UUID=1 /var/lib/rancher ext4 defaults,nofail 0 2\n')
    assert.match(start().said, /^\/var\/lib\/rancher stands in \/etc\/fstab and is not mounted$/)
    assert.equal((await factsNow()).data, 'other')
    root.write('/proc/self/mounts', `/dev/sdb ${root.directory}/var/lib/rancher ext4 rw 0 0\n`)
    assert.equal(start().status, 0)
    assert.equal((await factsNow()).data, 'none')
    root.write('/proc/self/mounts', '')
    root.write(CA, caOf(secrets))
    assert.equal(start().status, 0, 'its data is there')
  })

  test('data of another CA is refused, and one of a rotation under the same root is taken', () => {
    member()
    const renewed = renewAuthorities(secrets, Date.now())
    assert.ok(renewed)
    root.write(CA, caOf(renewed))
    assert.notEqual(caOf(renewed), caOf(secrets))
    assert.equal(start().status, 0)
    root.write(CA, caOf(secretsOf(11)))
    assert.match(start().said, /has another CA than the cluster that it was a server of$/)
  })

  test('a machine that was copied or rolled back: beside others it does not start, alone it does', () => {
    generation('a')
    member()
    generation('b')
    assert.match(start().said, /^its machine was copied, restored or rolled back/)
    root.write('/etc/rancher/k3s/config.yaml', 'cluster-init: true\n')
    assert.equal(start().status, 0)
    root.write('/etc/rancher/k3s/config.yaml', 'server: https://10.0.0.2:6443\n')
    rmSync(join(root.directory, GENERATION))
    assert.equal(start().status, 0, 'not read is not changed')
  })

  test('a person can start it all the same, which is said, and holds for one start', () => {
    member()
    gone()
    root.write('/etc/croft/start-anyway', '')
    const { status, told } = start()
    assert.equal(status, 0)
    assert.match(told, /start-anyway is there/)
    root.write(CA, caOf(secretsOf(11)))
    started()
    assert.ok(!root.has('/etc/croft/start-anyway'))
    assert.equal(start().status, 0, 'it is of this cluster now')
  })

  test('a wipe and what a restore deletes end the note; else it is written only where something changed', async () => {
    member()
    const before = root.read(NOTE)
    started()
    assert.equal(root.read(NOTE), before)
    root.write('/proc/self/mounts', '')
    assert.deepEqual(await root.ask(['forget-db']), { ok: true })
    assert.equal(start().status, 0)
    member()
    await root.ask(['wipe'])
    assert.equal((await factsNow()).data, 'none')
    assert.ok(!root.has(NOTE))
    assert.equal(start().status, 0)
  })
})

describe('the gates', () => {
  const pass = (...programs: readonly (readonly [string, string])[]) => {
    for (const { path, mode, text } of gateFiles({ hostname: 's1', deadlines: {} }))
      root.write(path, text, Number.parseInt(mode, 8))
    root.write('/proc/uptime', '100.00 0\n')
    for (const [path, text] of programs) root.write(path, text, 0o755)
    return run('/usr/local/lib/croft/gates')
  }

  test('stay closed for it, by the name of the gate', () => {
    member()
    assert.equal(pass().status, 0)
    gone()
    const { status, told } = pass()
    assert.deepEqual([status, told], [1, `croft gate disk: ${EMPTY}`])
    assert.match(root.read('/run/croft/gates.json'), /"name":"disk","message":"it was a server/)
  })

  test('an older program, or none, keeps nobody from starting', () => {
    const old = ['/usr/local/lib/croft/node', '#!/bin/sh\necho no such verb\nexit 1\n'] as const
    assert.equal(pass(old).status, 0)
    rmSync(join(root.directory, '/usr/local/lib/croft/node'))
    assert.equal(pass().status, 0)
  })
})
