import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatacentre } from '../../sim/datacentre.ts'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import { simWire } from '../../sim/wire.ts'
import { proxmoxDriver } from '../../src/drivers/proxmox/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Shell } from '../../src/lib/shell.ts'
import { Secret } from '../../src/model/secret.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import { estateFrom, filesOf } from './manifests.ts'

const HOST = 'fun-bedbug'
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
const host = (ssh: string) => `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${HOST}}
spec: {${ssh}}
`

const CONTAINER = `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: debian}
spec:
  forProvider: {nodeName: ${HOST}, datastoreId: local, contentType: vztmpl, url: 'https://images.test/debian-12.tar.zst'}
---
apiVersion: virtualenvironmentcontainer.crossplane.io/v1alpha1
kind: EnvironmentContainer
metadata: {name: dns}
spec:
  forProvider:
    nodeName: ${HOST}
    vmId: 204
    operatingSystem: [{templateFileId: 'local:vztmpl/debian-12.tar.zst'}]
    disk: [{datastoreId: local-zfs, size: 8}]
    networkInterface: [{name: eth0, bridge: vmbr0}]
`

/** A datacentre whose hosts know root's `qm destroy`, `pct unlock` and `pct destroy`. */
function world(ssh: string, declared = true) {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({
    clock,
    random: seededRandom(1),
    preset: 'homelab',
    timing: { importBytesPerSecond: 100_000_000, downloadBytesPerSecond: 4e9 },
  })
  const commands: string[] = []
  const disksOf = (vmid: number) =>
    [...(datacentre.world.hosts.get(HOST)?.volumes ?? [])].flatMap(([, volumes]) =>
      [...volumes.values()].filter((volume) => volume.vmid === vmid),
    )
  const openShell = (): Shell => ({
    run: async (argv) => {
      commands.push(argv.join(' '))
      const line = argv[0] === 'sh' ? (argv[2] ?? '') : argv.join(' ')
      for (const [tool, verb, id, ...options] of line.split(/ && |; /).map((one) => one.split(' '))) {
        const guest = datacentre.world.guests.get(Number(id))
        if (guest?.type !== (tool === 'pct' ? 'lxc' : 'qemu')) return { code: 2, stdout: '', stderr: 'no such guest' }
        if (verb === 'unlock') {
          // Then what comes after `;` is done all the same, and what comes after `&&` is not.
          if (!guest.config.delete('lock') && line.includes('&&'))
            return { code: 255, stdout: '', stderr: "no lock found trying to remove lock 'any'" }
        }
        const lifted = tool === 'qm' && options.includes('--skiplock')
        if (tool === 'pct' && options.includes('--skiplock'))
          return { code: 2, stdout: '', stderr: 'Unknown option: skiplock' }
        if (verb !== 'destroy') continue
        if (guest.config.has('lock') && !lifted) return { code: 2, stdout: '', stderr: 'CT is locked (create)' }
        datacentre.world.guests.delete(Number(id))
        // The configuration names no disks: they stay, unless the command asks for those that no configuration names.
        if (!options.includes('--destroy-unreferenced-disks')) continue
        for (const [, volumes] of datacentre.world.hosts.get(HOST)?.volumes ?? [])
          for (const [name, volume] of volumes) if (volume.vmid === Number(id)) volumes.delete(name)
      }
      return { code: 0, stdout: '', stderr: '' }
    },
    readFile: () => Promise.resolve(undefined),
    writeFile: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })
  let disk: MemoryDisk | undefined
  const start = () => {
    const store = createMemoryStore(disk)
    disk = store.disk
    return createEngine({
      clock,
      random: seededRandom(2),
      store,
      drivers: [proxmoxDriver],
      driverDeps: {
        clock,
        random: seededRandom(3),
        openWire: () => simWire(datacentre),
        resolveSecret: async () => new Secret(datacentre.token),
        openShell,
      },
    })
  }
  const estate = estateFrom({
    ...filesOf([{ name: 'server-3', host: HOST, vmid: 203 }]),
    'host.yaml': host(ssh),
    'container.yaml': declared ? CONTAINER : CONTAINER.replace(/ *vmId: 204\n/, ''),
  })
  return { clock, datacentre, commands, disksOf, start, estate }
}

const GUESTS = [
  {
    key: 'EnvironmentVM/server-3',
    vmid: 203,
    tool: 'qm',
    command: 'qm destroy 203 --skiplock 1',
    /** Its disk and the drive of cloud-init. */
    disks: 2,
  },
  {
    key: 'EnvironmentContainer/dns',
    vmid: 204,
    tool: 'pct',
    command: 'sh -c pct unlock 204; pct destroy 204',
    disks: 1,
  },
] as const

for (const { key, vmid, tool, command, disks } of GUESTS)
  for (const [what, ssh, made] of [
    [
      'over the SSH lane croft destroys the remains and makes it anew by itself',
      `ssh: {address: 192.168.4.20, hostKeys: ["${KEY}"]}`,
      true,
    ],
    ['without one a person is told the one command', 'description: no way in', false],
  ] as const)
    test(`[D-13] a host lost power in the middle of a creation of ${key}: ${what}`, async () => {
      const { clock, datacentre, commands, disksOf, start, estate } = world(ssh)
      const { signal } = new AbortController()
      const first = new AbortController()
      void start()
        .settle(estate, { signal: first.signal, deadlineMs: 3_600_000 })
        .catch(() => {})
      const guest = () => datacentre.world.guests.get(vmid)
      await clock.runUntil(() => guest()?.config.get('lock') === 'create' && disksOf(vmid).length > 0, {
        maxMs: 600_000,
      })
      datacentre.hostPower(HOST, 'off')
      first.abort()
      await clock.advanceTo(clock.now() + 60_000)
      datacentre.hostPower(HOST, 'on')
      assert.equal(guest()?.config.get('lock'), 'create')
      const { last, outcome } = await clock.runUntil(start().settle(estate, { signal, deadlineMs: 600_000 }), {
        maxMs: 1_200_000,
      })
      const entry = last.plan.entries.find((one) => one.key === key)
      assert.equal(outcome, 'settled', 'nobody waits for what a person has to do')
      if (!made) {
        assert.ok(entry?.action.do === 'refuse')
        assert.equal(entry.action.allow, `run on ${HOST}: ${tool} unlock ${vmid} && ${tool} destroy ${vmid}`)
        assert.deepEqual(commands, [])
        // A person runs it: no configuration names the disks, so they stay, and croft clears them away by their names.
        datacentre.world.guests.delete(vmid)
        await clock.runUntil(start().settle(estate, { signal, deadlineMs: 600_000 }), { maxMs: 1_200_000 })
        assert.equal(guest()?.run.status, 'running')
        assert.equal(disksOf(vmid).length, disks, 'no orphan')
        return
      }
      assert.equal(entry?.action.do, 'nothing', JSON.stringify(entry))
      assert.ok(commands.includes(command), commands.join('\n'))
      assert.equal(guest()?.run.status, 'running')
      assert.equal(guest()?.config.get('lock'), undefined)
      assert.equal(disksOf(vmid).length, disks, 'no orphan')
    })

for (const [what, declared] of [
  ['under the id that Git names', true],
  ['under an id that croft chose', false],
] as const)
  for (const ssh of [`ssh: {address: 192.168.4.20, hostKeys: ["${KEY}"]}`, 'description: no way in'])
    test(`[D-13] the power fails again between pct unlock and pct destroy, ${what}, ${ssh.slice(0, 4)}: the empty container is taken away and made anew`, async () => {
      const { clock, datacentre, disksOf, start, estate } = world(ssh, declared)
      const { signal } = new AbortController()
      const first = new AbortController()
      void start()
        .settle(estate, { signal: first.signal, deadlineMs: 3_600_000 })
        .catch(() => {})
      const guests = () => [...datacentre.world.guests.values()].filter(({ type }) => type === 'lxc')
      const broken = () => guests().find(({ config }) => config.get('lock') === 'create')
      await clock.runUntil(() => broken() !== undefined && disksOf(broken()?.vmid ?? 0).length > 0, { maxMs: 600_000 })
      const vmid = broken()?.vmid ?? 0
      datacentre.hostPower(HOST, 'off')
      first.abort()
      await clock.advanceTo(clock.now() + 60_000)
      // croft, or a person with the printed command, unlocked it and stopped there.
      broken()?.config.delete('lock')
      datacentre.hostPower(HOST, 'on')
      const { last } = await clock.runUntil(start().settle(estate, { signal, deadlineMs: 600_000 }), {
        maxMs: 1_200_000,
      })
      const entry = last.plan.entries.find((one) => one.key === 'EnvironmentContainer/dns')
      assert.equal(entry?.action.do, 'nothing', JSON.stringify(entry))
      assert.deepEqual(
        guests().map((guest) => [guest.vmid, guest.run.status]),
        [[vmid, 'running']],
        'one container, under the same id',
      )
      assert.equal(disksOf(vmid).length, 1, 'no orphan')
    })
