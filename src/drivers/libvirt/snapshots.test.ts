import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Shell } from '../../lib/shell.ts'
import type { Connection } from '../../model/estate.ts'
import { Secret, type SshTarget } from '../../model/secret.ts'
import { ObservationFailed } from '../port.ts'
import { libvirtDriver } from './driver.ts'
import { testDriverShell } from './testing/virsh-session.ts'

const LOCAL: SshTarget = {
  name: 'here',
  address: 'localhost',
  port: 22,
  user: 'root',
  hostKeys: [],
  sudo: 'none',
  local: true,
}
const connection = (endpoint: string, ssh: SshTarget): Connection => ({
  name: 'lab',
  driver: 'libvirt',
  endpoint,
  ssh,
  estate: 'x',
  ids: { from: 1, to: 1 },
  limits: { perHost: 2, perStorage: 1, reads: 4 },
  origin: { file: 'x.yaml', line: 1, column: 1 },
})
const observed = {
  connection: 'lab',
  type: 'vm',
  externalId: '6695eb01-f6a4-8304-79aa-97f2502e193f',
  host: 'here',
} as const
const signal = new AbortController().signal
const hasVirsh = spawnSync('virsh', ['-c', 'test:///default', 'version']).status === 0
const skip = hasVirsh || process.env.CI !== undefined ? false : 'needs virsh (apt: libvirt-clients, libvirt-daemon)'

/** A host with a stopped libvirt. */
const NO_SHELL: Shell = {
  run: () => Promise.resolve({ code: 1, stdout: '', stderr: 'error: failed to connect to the hypervisor' }),
  readFile: () => Promise.resolve(undefined),
  writeFile: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

function open(endpoint: string, ssh: SshTarget, shell: Shell) {
  return libvirtDriver.connect(connection(endpoint, ssh), {
    clock: systemClock,
    random: seededRandom(1),
    openWire: () => assert.fail('libvirt needs no wire'),
    openShell: () => shell,
    resolveSecret: () => Promise.resolve(new Secret('x')),
  })
}

test('on the test driver of libvirt: taken, listed, gone back to, removed', { skip }, async () => {
  const session = open('test:///default', LOCAL, testDriverShell('test:///default'))
  try {
    const { snapshots } = session
    assert.ok(snapshots)
    assert.deepEqual(await snapshots.list(observed, signal), [])
    for (const name of ['one', 'two'])
      assert.deepEqual(await snapshots.take(observed, name, signal), { result: 'done' })
    const listed = await snapshots.list(observed, signal)
    assert.deepEqual(
      listed.map(({ name, current }) => [name, current]),
      [
        ['one', false],
        ['two', true],
      ],
    )
    assert.ok(listed.every(({ createdMs }) => (createdMs ?? 0) > 1_600_000_000_000))
    assert.equal((await snapshots.take(observed, 'one', signal)).result, 'refused')
    assert.deepEqual(await snapshots.revert(observed, 'one', signal), { result: 'done' })
    assert.equal((await snapshots.list(observed, signal)).find(({ current }) => current)?.name, 'one')
    assert.equal((await snapshots.revert(observed, 'none', signal)).result, 'refused')
    for (const name of ['two', 'one'])
      assert.deepEqual(await snapshots.remove(observed, name, signal), { result: 'done' })
    assert.deepEqual(await snapshots.list(observed, signal), [])
  } finally {
    await session.close()
  }
})

test('[F-07] snapshots that cannot be seen are not "none"', async () => {
  const { snapshots } = open('qemu:///system', LOCAL, NO_SHELL)
  await assert.rejects(async () => snapshots?.list(observed, signal), ObservationFailed)
})

for (const [what, endpoint, ssh, command] of [
  ['here', 'qemu:///system', LOCAL, `virsh -c qemu:///system console ${observed.externalId}`],
  [
    'over SSH',
    'qemu+ssh://ops@192.0.2.1/system',
    { ...LOCAL, local: false, address: '192.0.2.1', user: 'ops' },
    `ssh -t ops@192.0.2.1 virsh -c qemu:///system console ${observed.externalId}`,
  ],
  [
    'with another port and sudo',
    'qemu:///system',
    { ...LOCAL, local: false, address: '192.0.2.1', user: 'ops', port: 2222, sudo: 'passwordless' },
    `ssh -t -p 2222 ops@192.0.2.1 sudo virsh -c qemu:///system console ${observed.externalId}`,
  ],
] as const)
  test(`the command for the console, ${what}`, () => {
    const session = open(endpoint, ssh, NO_SHELL)
    assert.deepEqual(session.console?.lines(observed), [command])
  })
