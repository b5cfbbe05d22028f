import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatacentre } from '../../../../sim/datacentre.ts'
import { createLibvirtHost, libvirtShell } from '../../../../sim/libvirt/shell.ts'
import { createVirtualClock } from '../../../../sim/virtual-clock.ts'
import { libvirtDriver } from '../../../drivers/libvirt/driver.ts'
import { createEngine } from '../../../engine/create.ts'
import { KINDS } from '../../../kinds/registry.ts'
import { seededRandom } from '../../../lib/random.ts'
import { Secret } from '../../../model/secret.ts'
import { createMemoryStore } from '../../../store/memory.ts'
import { loaded } from '../../import/testing/simulated.ts'
import { runCli } from '../../run.ts'
import { fakeRuntime } from '../../testing/fake-runtime.ts'

const own = (kind: string, name: string, spec: string) => `---
apiVersion: croft.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}}
spec: ${spec}
`
const estate = (machine: string) =>
  [
    own('Libvirt', 'kvm', '{host: kvm}'),
    own('Host', 'kvm', '{local: true, bindings: {networks: {lan: {bridge: default}}, storages: {vms: default}}}'),
    own('Image', 'debian', '{url: "https://example.org/debian.qcow2", storage: vms, hosts: [kvm]}'),
    machine,
  ].join('')
const WEB = own(
  'Machine',
  'web',
  '{host: kvm, cpu: {cores: 1}, memory: 1Gi, disks: [{size: 10Gi, image: debian, storage: vms}], networks: [{network: lan}]}',
)

test('a person takes a snapshot, sees it, and cannot lose the machine as long as it is there', async () => {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const random = seededRandom(7)
  const { world } = createDatacentre({ clock, random, preset: 'empty', hosts: ['kvm'] })
  const host = createLibvirtHost(world, 'kvm')
  const kept = createMemoryStore()
  const folder = mkdtempSync(join(tmpdir(), 'croft-snapshots-'))
  let text = estate(WEB)
  const driverDeps = {
    clock,
    random,
    openWire: () => assert.fail('libvirt needs no wire'),
    openShell: () => libvirtShell(host),
    resolveSecret: () => Promise.resolve(new Secret('x')),
  }
  const cli = async (...words: readonly string[]) => {
    const runtime = fakeRuntime({
      cwd: folder,
      env: { HOME: folder, USER: 'anna' },
      clock,
      kinds: async () => KINDS,
      load: async () => loaded({ 'a.yaml': text }),
      openStore: async () => createMemoryStore(kept.disk),
      lockState: async () => ({ got: true, release: () => {} }),
      openMemoryStore: async () => createMemoryStore(kept.disk),
      openDrivers: async () => ({ drivers: [libvirtDriver], deps: driverDeps }),
      openEngine: async (store) =>
        createEngine({ clock, random: seededRandom(3), store, drivers: [libvirtDriver], driverDeps }),
    })
    const code = await clock.runUntil(runCli([...words], runtime))
    return { code, ...runtime.written }
  }
  try {
    const applied = await cli('apply', '.', '--yes', '--progress', 'quiet')
    assert.equal(applied.code, 0, applied.err + applied.out)
    assert.match((await cli('machine', 'console', 'web')).out, /^virsh -c qemu:\/\/\/system console [0-9a-f-]{36}\n$/)
    const taken = await cli('machine', 'snapshot', 'web', 'before-upgrade', '--yes')
    assert.deepEqual([taken.code, taken.err], [0, ''])
    assert.match((await cli('machine', 'snapshots', 'web')).out, /^before-upgrade {2}2025-.*current$/m)
    assert.equal((await cli('plan', '.')).code, 0)
    assert.notEqual((await cli('machine', 'snapshot', 'web', 'before-upgrade', '--yes')).code, 0)
    for (const name of [undefined, '--all', 'a b', '../x', '$(reboot)'])
      assert.equal(
        (await cli('machine', 'snapshot', '--yes', 'web', '--', ...(name === undefined ? [] : [name]))).code,
        64,
      )
    assert.equal((await cli('machine', 'revert', 'web', 'before-upgrade', '--yes')).code, 0)
    text = estate('')
    assert.match((await cli('plan', '.')).out, /has 1 snapshot/)
    text = estate(WEB)
    assert.equal((await cli('machine', 'drop-snapshot', 'web', 'before-upgrade', '--yes')).code, 0)
    assert.equal((await cli('machine', 'snapshots', 'web')).out, '')
    assert.deepEqual(
      (kept.disk.audit ?? [])
        .map(({ what, outcome, actor }) => [what, outcome, actor])
        .filter(([what]) => what?.includes('before')),
      [
        ['snapshot before-upgrade', 'done', 'cli:anna'],
        ['snapshot before-upgrade', 'refused', 'cli:anna'],
        ['revert before-upgrade', 'done', 'cli:anna'],
        ['drop-snapshot before-upgrade', 'done', 'cli:anna'],
      ],
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
