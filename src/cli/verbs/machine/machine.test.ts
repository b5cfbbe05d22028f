import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createTestClient } from '../../../../sim/test-client.ts'
import { libvirtRules } from '../../../drivers/libvirt/rules.ts'
import { proxmoxDriver } from '../../../drivers/proxmox/driver.ts'
import { createEngine } from '../../../engine/create.ts'
import { KINDS } from '../../../kinds/registry.ts'
import { seededRandom } from '../../../lib/random.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import type { Rules } from '../../../model/rules.ts'
import { shownCall } from '../../../model/shown-step.ts'
import { createMemoryStore } from '../../../store/memory.ts'
import type { Store } from '../../../store/port.ts'
import { CONNECTION, driverDeps, loaded } from '../../import/testing/simulated.ts'
import { runCli } from '../../run.ts'
import { fakeRuntime } from '../../testing/fake-runtime.ts'

const own = (kind: string, name: string, spec: string) => `---
apiVersion: croft.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}}
spec: ${spec}
`
const HOSTS = ['fun-bedbug', 'pumped-piglet', 'still-fawn']
const TEXT = [
  CONNECTION,
  ...HOSTS.map((host) =>
    own('Host', host, '{bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}}'),
  ),
  own(
    'Image',
    'noble',
    '{url: "https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.qcow2", storage: files}',
  ),
  own('MachineClass', 'small', '{cpu: {cores: 1}, memory: 2Gi, disks: [{size: 10Gi, image: noble, storage: fast}]}'),
  own('Machine', 'web', '{host: auto, class: small, networks: [{network: lan}]}'),
].join('')

/** A simulated datacentre with the machine in it, and the program in front of it. */
async function settled(heldBy: { readonly pid?: number } = {}) {
  const client = createTestClient()
  const kept = createMemoryStore()
  const folder = mkdtempSync(join(tmpdir(), 'croft-machine-'))
  // All commands open and close the same store.
  const store = () => Promise.resolve<Store>(createMemoryStore(kept.disk))
  const cli = async (...words: readonly string[]) => {
    const runtime = fakeRuntime({
      cwd: folder,
      env: { HOME: folder, USER: 'anna' },
      clock: client.clock,
      kinds: async () => KINDS,
      load: async () => loaded({ 'a.yaml': TEXT }),
      openStore: store,
      lockState: async () =>
        heldBy.pid === undefined
          ? { got: true, release: () => {} }
          : { got: false, owner: { pid: heldBy.pid, host: 'nuc', sinceMs: 0 } },
      openMemoryStore: store,
      openDrivers: async () => ({ drivers: [proxmoxDriver], deps: driverDeps(client) }),
      openEngine: async (opened) =>
        createEngine({
          clock: client.clock,
          random: seededRandom(3),
          store: opened,
          drivers: [proxmoxDriver],
          driverDeps: driverDeps(client),
        }),
    })
    const code = await client.clock.runUntil(runCli([...words], runtime))
    return { code, ...runtime.written }
  }
  const applied = await cli('apply', '.', '--yes', '--progress', 'quiet')
  assert.equal(applied.code, 0, applied.err + applied.out)
  const guest = () => {
    const found = [...client.datacentre.world.guests.values()].find(({ config }) => config.get('name') === 'web')
    assert.ok(found)
    return found
  }
  return { client, cli, guest, folder, audit: async () => (await store()).audit({}) }
}

describe('croft machine', () => {
  it('takes, lists, goes back to and forgets snapshots on Proxmox, and what ran runs again afterwards', async () => {
    const { cli, guest, folder, audit, client } = await settled()
    const taken = await cli('machine', 'snapshot', 'web', 'before-upgrade', '--yes')
    assert.deepEqual([taken.code, taken.err], [0, ''])
    assert.match((await cli('machine', 'snapshots', 'web')).out, /^before-upgrade {2}20\S+Z {2}current\n$/)
    assert.equal((await cli('plan', '.')).code, 0, 'Git says nothing of snapshots')
    const twice = await cli('machine', 'snapshot', 'web', 'before-upgrade', '--yes')
    assert.equal(twice.code, 1)
    assert.match(twice.err, /already used/)
    for (const name of ['current', '1st', 'a', 'with.dot', 'x'.repeat(41)]) {
      const refused = await cli('machine', 'snapshot', 'web', name, '--yes')
      assert.equal(refused.code, 1, name)
      assert.match(refused.err, /Proxmox takes no snapshot called/)
    }
    guest().config.set('cores', '7')
    const { life } = guest().run
    const back = await cli('machine', 'revert', 'web', 'before-upgrade', '--yes')
    assert.equal(back.code, 0, back.err)
    assert.match(back.err, /Git declares wins again/)
    assert.equal(guest().config.get('cores'), '1')
    await client.clock.runUntil(client.clock.sleep(60_000))
    assert.equal(guest().run.status, 'running')
    assert.notEqual(guest().run.life, life, 'it went on as if nothing had happened')
    assert.equal((await cli('machine', 'revert', 'web', 'never-taken', '--yes')).code, 1)
    assert.equal((await cli('machine', 'drop-snapshot', 'web', 'before-upgrade', '--yes')).code, 0)
    assert.equal((await cli('machine', 'snapshots', 'web')).out, '')
    assert.deepEqual(
      (await audit()).filter(({ what }) => what.includes('before-upgrade')).map(({ what, outcome }) => [what, outcome]),
      [
        ['snapshot before-upgrade', 'done'],
        ['snapshot before-upgrade', 'refused'],
        ['revert before-upgrade', 'done'],
        ['drop-snapshot before-upgrade', 'done'],
      ],
    )
    rmSync(folder, { recursive: true, force: true })
  })

  it('does not go back to a time in which the machine was not ours, nor while somebody holds it', async () => {
    const { cli, guest, folder } = await settled()
    const tags = guest().config.get('tags') ?? ''
    guest().config.set('tags', 'somebody-elses')
    const snapshot = { config: new Map(guest().config), description: undefined, timeSeconds: 1, parent: undefined }
    guest().snapshots.set('of-old', snapshot)
    guest().config.set('tags', tags)
    const refused = await cli('machine', 'revert', 'web', 'of-old', '--yes')
    assert.equal(refused.code, 1)
    assert.match(refused.err, /taken before it was marked as ours/)
    assert.equal(guest().config.get('tags'), tags)
    guest().snapshots.set('of-now', { ...snapshot, config: new Map(guest().config) })
    guest().config.set('lock', 'backup')
    const locked = await cli('machine', 'revert', 'web', 'of-now', '--yes')
    assert.equal(locked.code, 1)
    assert.match(locked.err, /lock/)
    rmSync(folder, { recursive: true, force: true })
  })

  it('[R34] [R36] starts, stops and restarts, and the journal says who did it', async () => {
    const { cli, guest, folder, audit } = await settled()
    const stop = await cli('machine', 'stop', 'web', '--yes', '--progress', 'quiet')
    assert.equal(stop.code, 0, stop.err)
    assert.equal(guest().run.status, 'stopped')
    assert.match(stop.err, /the next croft apply switches it on again/)
    const reboot = await cli('machine', 'reboot', 'web', '--yes')
    assert.equal(reboot.code, 1)
    assert.match(reboot.err, /does not run/)
    assert.equal((await cli('machine', 'start', 'web', '--yes', '--progress', 'quiet')).code, 0)
    assert.equal(
      (await cli('machine', 'start', 'web', '--yes')).out,
      'Machine/web is so already: there is nothing to do.\n',
    )
    const { life } = guest().run
    const again = await cli('machine', 'reboot', 'web', '--yes')
    assert.equal(again.code, 0, again.err)
    assert.notEqual(guest().run.life, life)
    assert.deepEqual(
      (await audit())
        .filter(({ what }) => what !== 'apply')
        .map(({ actor, what, subject, outcome }) => [actor, what, subject, outcome]),
      [
        ['cli:anna', 'stop', 'Machine/web', 'done'],
        ['cli:anna', 'start', 'Machine/web', 'done'],
        ['cli:anna', 'reboot', 'Machine/web', 'done'],
      ],
    )
    rmSync(folder, { recursive: true })
  })

  it('[F-20] does not end the time of a controller that is at work: it says what to do instead', async () => {
    const held: { pid?: number } = {}
    const { cli, guest, client, folder } = await settled(held)
    held.pid = 77
    const writes = client.datacentre.writes.length
    const stop = await cli('machine', 'stop', 'web', '--yes', '--progress', 'quiet')
    assert.equal(stop.code, 1)
    assert.match(stop.err, /controller \(process 77 on nuc\) is at work on .*Write power: 'off' into Git/)
    const move = await cli('move', 'web', HOSTS.find((host) => host !== guest().node) ?? '', '--yes')
    assert.equal(move.code, 1)
    assert.match(move.err, /Write host: .* into Git/)
    assert.equal(client.datacentre.writes.length, writes)
    // Requests without an epoch work beside a running controller.
    assert.equal((await cli('machine', 'reboot', 'web', '--yes')).code, 0)
    rmSync(folder, { recursive: true })
  })

  it('restarts in the words of each driver', () => {
    const observed = { host: 'a', type: 'vm', externalId: 'x' } as ObservedResource
    const calls = (rules: Rules, type: ObservedResource['type'] = 'vm') =>
      rules.rebootSteps?.({ ...observed, type }).map((step) => `${step.verb} ${shownCall(step).path}`)
    assert.deepEqual(calls(proxmoxDriver.rules), ['reboot /nodes/a/qemu/x/status/reboot'])
    assert.deepEqual(calls(proxmoxDriver.rules, 'container'), ['reboot /nodes/a/lxc/x/status/reboot'])
    assert.deepEqual(calls(libvirtRules), ['shutdown /domains/x/shutdown', 'reboot /domains/x/start'])
  })

  it('runs programs and carries files, without SSH; their content is in no journal', async () => {
    const { cli, folder, audit } = await settled()
    assert.equal((await cli('machine', 'exec', 'web', '--', 'whoami')).out, 'root\n')
    assert.equal((await cli('machine', 'exec', 'web', '--', '/nowhere/none')).code, 127)
    writeFileSync(join(folder, 'motd'), 'CANARY\n')
    assert.equal((await cli('machine', 'write', 'web', 'motd', '/etc/motd', '--mode', '0644')).code, 0)
    assert.equal((await cli('machine', 'read', 'web', '/etc/motd')).out, 'CANARY\n')
    assert.equal((await cli('machine', 'read', 'web', '/etc/motd', 'back')).code, 0)
    assert.equal(readFileSync(join(folder, 'back'), 'utf8'), 'CANARY\n')
    assert.match((await cli('machine', 'read', 'web', '/etc/none')).err, /There is no file \/etc\/none/)
    assert.ok(!JSON.stringify(await audit()).includes('CANARY'))
    rmSync(folder, { recursive: true })
  })

  it('tells what is wrong with the question', async () => {
    const { cli, folder } = await settled()
    for (const [words, told] of [
      [['machine', 'dance', 'web'], /no croft machine dance/],
      [['machine', 'start', 'nobody'], /no machine nobody\. Declared machines: web/],
      [['machine', 'exec', 'web'], /Name the program after two dashes/],
      [['machine', 'write', 'web', 'x'], /Name both files/],
      [['machine', 'write', 'web', 'x', '/y', '--mode', '9'], /not a file mode/],
    ] as const) {
      const { code, err } = await cli(...words)
      assert.deepEqual([code, told.test(err)], [64, true], err)
    }
    assert.match((await cli('machine', 'stop', 'web')).err, /Nobody is at the terminal/)
    assert.match((await cli('machine', 'console', 'web')).out, /vmid=\d+&vmname=web&node=/)
    rmSync(folder, { recursive: true })
  })
})

describe('croft move', () => {
  it('carries a machine to another host, where it then stays', async () => {
    const { cli, guest, folder } = await settled()
    const target = HOSTS.find((host) => host !== guest().node) ?? ''
    const moved = await cli('move', 'web', target, '--yes', '--progress', 'quiet')
    assert.equal(moved.code, 0, moved.err)
    assert.equal(guest().node, target)
    assert.equal((await cli('plan', '.')).code, 0)
    assert.match((await cli('move', 'web', 'nowhere', '--yes')).err, /cannot be on nowhere: no such Host is declared/)
    rmSync(folder, { recursive: true })
  })
})

describe('croft capacity', () => {
  it('says what is free, what is promised and what would still fit', async () => {
    const { cli, guest, folder } = await settled()
    const { code, out } = await cli('capacity', '.', '--memory', '8Gi', '-o', 'json')
    assert.equal(code, 0)
    const { hosts } = JSON.parse(out) as {
      hosts: { host: string; memory: Record<string, number>; fits: Record<string, number> }[]
    }
    assert.deepEqual(
      hosts.map(({ host }) => host),
      HOSTS,
    )
    for (const { host, memory, fits } of hosts) {
      const { totalBytes = 0, promisedBytes = 0, freeBytes = 0 } = memory
      assert.equal(freeBytes, totalBytes - 2 ** 30 - promisedBytes, host)
      assert.equal(fits['8Gi'], Math.floor(freeBytes / 2 ** 33))
      assert.equal(fits.small, Math.floor(freeBytes / 2 ** 31))
      if (host === guest().node) assert.ok(promisedBytes >= 2 ** 31)
    }
    assert.match((await cli('capacity', '.')).out, /^HOST .*FITS SMALL/)
    rmSync(folder, { recursive: true })
  })
})
