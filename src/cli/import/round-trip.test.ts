import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTestClient, type TestClient } from '../../../sim/test-client.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { createEngine } from '../../engine/create.ts'
import { seededRandom } from '../../lib/random.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { CONNECTION, driverDeps, imported, loaded } from './testing/simulated.ts'

type Config = Readonly<Record<string, string>>

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const word = fc.stringMatching(/^[a-z][a-z0-9]{1,6}$/)
const flag = fc.constantFrom('0', '1')
const storage = fc.constantFrom('local', 'local-zfs')
const KEY = `ssh-ed25519 ${'AAAAC3NzaC1lZDI1NTE5AAAAI'.padEnd(68, 'x')}`

/** `first,a=1,b=2` with those parts that are there. */
const parts = (first: fc.Arbitrary<string>, rest: Readonly<Record<string, fc.Arbitrary<string>>>) =>
  fc
    .tuple(first, fc.record(Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, maybe(value)]))))
    .map(([head, more]) =>
      [head, ...Object.entries(more).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]))].join(
        ',',
      ),
    )

const disk = (bus: 'scsi' | 'virtio' | 'sata' | 'ide') =>
  parts(
    fc.tuple(storage, fc.integer({ min: 1, max: 3 })).map(([name, size]) => `${name}:${size}`),
    {
      ...(bus === 'scsi' || bus === 'virtio' ? { iothread: flag } : {}),
      ...(bus === 'virtio' ? {} : { ssd: flag }),
      discard: fc.constantFrom('on', 'ignore'),
      cache: fc.constantFrom('none', 'writeback', 'unsafe'),
      aio: fc.constantFrom('io_uring', 'threads'),
      backup: flag,
      replicate: flag,
      serial: fc.constantFrom('ABC-123', 'x'),
      mbps_rd: fc.constantFrom('10', '50.5'),
      iops_wr: fc.constantFrom('100'),
    },
  )

const nic = parts(
  fc
    .tuple(
      fc.constantFrom('virtio', 'e1000', 'vmxnet3', 'ne2k_pci'),
      maybe(fc.constantFrom('BC:24:11:0A:0B:0C', '02:00:00:aa:bb:cc')),
    )
    .map(([model, mac]) => (mac === undefined ? model : `${model}=${mac}`)),
  {
    bridge: fc.constantFrom('vmbr0', 'vmbr1'),
    tag: fc.constantFrom('10', '4094'),
    trunks: fc.constantFrom('10;20', '5;7-9'),
    firewall: flag,
    link_down: flag,
    mtu: fc.constantFrom('1', '1400'),
    queues: fc.constantFrom('0', '4'),
    rate: fc.constantFrom('10', '12.5'),
  },
)

const address = fc.constantFrom(
  'ip=dhcp',
  'ip=10.1.2.3/24,gw=10.1.2.1',
  'ip=10.1.2.3/24,ip6=auto',
  'ip6=fd00::5/64,gw6=fd00::1',
)

const cloudInit = fc.record({
  ide2: storage.map((name) => `${name}:cloudinit`),
  ciuser: maybe(fc.constantFrom('ubuntu', 'Admin User')),
  cipassword: maybe(fc.constant('never-shown-4711')),
  ciupgrade: maybe(flag),
  citype: maybe(fc.constantFrom('nocloud', 'configdrive2')),
  sshkeys: maybe(
    fc.constantFrom(KEY, `${KEY} me@home\n${KEY}`, 'ssh-dss AAAAB3NzaC1kc3MAAAAA old').map(encodeURIComponent),
  ),
  nameserver: maybe(fc.constantFrom('10.1.2.1', '10.1.2.1 fd00::1')),
  searchdomain: maybe(fc.constantFrom('example.org')),
  ipconfig0: maybe(address),
  ipconfig2: maybe(address),
})

const DESCRIPTIONS = [
  'hello',
  'two\nlines\n',
  '  indented\n\n\tand tabbed: yes # no comment',
  '# Titel ÄÖÜ 漢字 🎉\n100% a=b&c "quoted" \'single\' \\back',
  '- not: [a, list]\n---\nno document',
  'yes',
  '0123',
  '2026-01-01',
  '{"json": true}',
  'trailing spaces   \nand more  ',
  'key: value\nother: |\n  text',
]

const guest = fc
  .record({
    name: fc.constantFrom('web', 'Web-2', 'db.example.org', '108', 'on', 'x'),
    cores: maybe(fc.constantFrom('1', '4')),
    sockets: maybe(fc.constantFrom('1', '2')),
    cpu: maybe(fc.constantFrom('host', 'kvm64', 'x86-64-v2-AES,flags=+aes;-pcid', 'host,hidden=1')),
    cpuunits: maybe(fc.constantFrom('100', '1024', '300')),
    cpulimit: maybe(fc.constantFrom('0', '2', '1.5')),
    numa: maybe(flag),
    memory: maybe(fc.constantFrom('512', '2048', '4096')),
    balloon: maybe(fc.constantFrom('0', '512')),
    shares: maybe(fc.constantFrom('500')),
    machine: maybe(fc.constantFrom('pc', 'q35', 'pc-q35-9.0', 'q35,viommu=intel')),
    ostype: maybe(fc.constantFrom('other', 'l26', 'win11')),
    scsihw: maybe(fc.constantFrom('lsi', 'virtio-scsi-single')),
    acpi: maybe(flag),
    tablet: maybe(flag),
    hotplug: maybe(fc.constantFrom('0', '1', 'disk,network', 'usb,network,disk')),
    keyboard: maybe(fc.constantFrom('de', 'en-us')),
    onboot: maybe(flag),
    startup: maybe(fc.constantFrom('order=3', 'order=2,up=30,down=60', 'up=5')),
    protection: maybe(flag),
    agent: maybe(fc.constantFrom('0', '1', 'enabled=1,fstrim_cloned_disks=1', '1,type=isa')),
    tags: maybe(fc.uniqueArray(word, { minLength: 1, maxLength: 3 }).map((tags) => tags.join(';'))),
    description: maybe(fc.constantFrom(...DESCRIPTIONS)),
    serial0: maybe(fc.constant('socket')),
    serial2: maybe(fc.constant('socket')),
    vga: maybe(fc.constantFrom('std', 'serial0', 'virtio,memory=64', 'qxl')),
    audio0: maybe(fc.constantFrom('device=ich9-intel-hda', 'device=AC97,driver=none')),
    watchdog: maybe(fc.constantFrom('i6300esb', 'model=ib700,action=reset')),
    smbios1: maybe(fc.constantFrom(`base64=1,product=${Buffer.from('Box 1').toString('base64')}`)),
    scsi0: maybe(disk('scsi')),
    scsi3: maybe(disk('scsi')),
    virtio1: maybe(disk('virtio')),
    sata0: maybe(disk('sata')),
    ide0: maybe(disk('ide')),
    ide3: maybe(fc.constant('none,media=cdrom')),
    net0: maybe(nic),
    net1: maybe(nic),
    net3: maybe(nic),
    firmware: maybe(fc.constantFrom('', ',efitype=4m,pre-enrolled-keys=1')),
    tpmstate0: maybe(fc.constantFrom('local-zfs:1,version=v2.0')),
    cloudInit: maybe(cloudInit),
  })
  .map(({ cloudInit, firmware, ...plain }) => {
    const uefi = firmware === undefined ? {} : { bios: 'ovmf', efidisk0: `local-zfs:1${firmware}` }
    const all: Readonly<Record<string, string | undefined>> = { ...plain, ...uefi, ...cloudInit }
    const config = Object.fromEntries(
      Object.entries(all).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
    ) as Config
    const drives = Object.keys(config).filter((key) => /^(scsi|virtio|sata|ide)\d$/.test(key))
    return drives.length === 0 ? config : { ...config, boot: `order=${drives.slice(0, 2).join(';')}` }
  })

const estate = fc.array(fc.record({ config: guest, running: fc.boolean(), odd: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
})

const QUICK = { callMs: [1, 1], allocateMs: [1, 2], startMs: [1, 2], bootMs: [5, 5], shortTaskMs: 1 } as const

/** Makes the guests through the API, as a person does at the web page. */
async function made(guests: readonly { config: Config; running: boolean; odd: boolean }[]): Promise<TestClient> {
  const client = createTestClient({ preset: 'empty', hosts: ['pve1'], timing: QUICK })
  for (const [at, { config, running, odd }] of guests.entries()) {
    const vmid = String(200 + at)
    const { firmware: _firmware, ...params } = config
    assert.equal(await client.task('POST', '/nodes/pve1/qemu', { vmid, ...params }), 'OK', JSON.stringify(config))
    // Settings that only root can write, and that manifests do not have.
    if (odd) client.datacentre.patchGuest(Number(vmid), { args: '-no-hpet', freeze: '0', affinity: '0-1' })
    if (running) await client.task('POST', `/nodes/pve1/qemu/${vmid}/status/start`, {})
  }
  await client.pass(60_000)
  return client
}

const configs = (client: TestClient) =>
  [...client.datacentre.world.guests.values()].map((guest) => {
    const { tags: _tags, description: _description, ...rest } = Object.fromEntries(guest.config)
    return { vmid: guest.vmid, status: guest.run.status, ...rest }
  })

test('[R31] whatever a person made: imported, it plans to its adoption only, and settling changes nothing but the mark', async () => {
  await fc.assert(
    fc.asyncProperty(estate, async (guests) => {
      const client = await made(guests)
      const { code, out, err } = await imported(client, { 'c.yaml': CONNECTION }, '--all')
      assert.equal(code, 0, err)
      assert.doesNotMatch(out + err, /never-shown-4711/)
      assert.doesNotMatch(err, /Warning|Error/, out)
      const { estate } = loaded({ 'c.yaml': CONNECTION, 'i.yaml': out })
      assert.deepEqual(
        estate.problems.map(({ message }) => message),
        [],
        out,
      )
      assert.equal(estate.resources.length, guests.length, out)

      const store = createMemoryStore()
      const engine = createEngine({
        clock: client.clock,
        random: seededRandom(3),
        store,
        drivers: [proxmoxDriver],
        driverDeps: driverDeps(client),
      })
      const signal = new AbortController().signal
      const plan = await client.clock.runUntil(engine.plan(estate, signal))
      for (const { action } of plan.entries) {
        assert.equal(action.do, 'adopt', `${JSON.stringify(action)}\n${out}`)
        if (action.do !== 'adopt') continue
        assert.deepEqual([action.changes, action.steps.map(({ verb }) => verb)], [[], ['mark']], out)
      }
      const before = configs(client)
      const writes = client.datacentre.writes.length
      const settled = engine.settle(estate, { signal, deadlineMs: 120_000 })
      await client.clock.runUntil(settled)
      const after = await client.clock.runUntil(engine.plan(estate, signal))
      assert.deepEqual(
        after.entries.map(({ action }) => action.do),
        guests.map(() => 'nothing'),
      )
      assert.deepEqual(configs(client), before)
      // All that was written is the two keys of the mark.
      assert.deepEqual(
        client.datacentre.writes.slice(writes).map(({ params }) => Object.keys(params).sort()),
        guests.map(() => ['description', 'digest', 'tags']),
      )
      await engine.close()
    }),
    { numRuns: 25, seed: 31, endOnFailure: true },
  )
})
