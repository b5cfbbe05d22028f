import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTestClient, type TestClient } from '../../../sim/test-client.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { createEngine } from '../../engine/create.ts'
import { seededRandom } from '../../lib/random.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { CONNECTION, driverDeps, imported, loaded } from './testing/simulated.ts'

const TEMPLATE = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const flag = fc.constantFrom('0', '1')

const net = fc
  .record({
    hwaddr: maybe(fc.constantFrom('BC:24:11:0A:0B:0C', '02:00:00:aa:bb:cc')),
    tag: maybe(fc.constantFrom('10', '4094')),
    firewall: maybe(flag),
    mtu: maybe(fc.constantFrom('1400')),
    rate: maybe(fc.constantFrom('10', '12.5')),
    ip: maybe(fc.constantFrom('dhcp', '10.1.2.3/24')),
    ip6: maybe(fc.constantFrom('auto', 'dhcp', 'fd00::5/64')),
  })
  .map((parts) => Object.entries(parts).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`])))

const card = (at: number) => net.map((parts) => [`name=eth${at}`, `bridge=vmbr0`, ...parts].join(','))

const mount = (at: number) =>
  fc
    .record({
      backup: maybe(flag),
      ro: maybe(flag),
      acl: maybe(flag),
      mountoptions: maybe(fc.constantFrom('noatime', 'nodev;nosuid')),
    })
    .map((parts) =>
      [
        'local-zfs:2',
        `mp=/srv/data${at}`,
        ...Object.entries(parts).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`])),
      ].join(','),
    )

const container = fc.record({
  hostname: maybe(fc.constantFrom('web', 'Web-2', 'db.example.org', '108', 'on')),
  cores: maybe(fc.constantFrom('1', '4')),
  cpulimit: maybe(fc.constantFrom('0', '2')),
  cpuunits: maybe(fc.constantFrom('100', '300')),
  memory: maybe(fc.constantFrom('512', '2048')),
  swap: maybe(fc.constantFrom('0', '512', '1024')),
  unprivileged: fc.constantFrom('0', '1'),
  onboot: maybe(flag),
  protection: maybe(flag),
  startup: maybe(fc.constantFrom('order=3', 'order=2,up=30,down=60')),
  console: maybe(flag),
  tty: maybe(fc.constantFrom('0', '2', '4')),
  cmode: maybe(fc.constantFrom('tty', 'shell')),
  nameserver: maybe(fc.constantFrom('10.1.2.1', '10.1.2.1 fd00::1')),
  searchdomain: maybe(fc.constantFrom('example.org')),
  description: maybe(fc.constantFrom('hello', 'two\nlines', 'key: value', '0123', 'Grüße')),
  tags: maybe(fc.constantFrom('a', 'a;b')),
  rootfs: fc.constantFrom('local-zfs:4', 'local:8', 'local-zfs:4,mountoptions=noatime', 'local-zfs:4,replicate=0'),
  mp0: maybe(mount(0)),
  mp1: maybe(mount(1)),
  mp3: maybe(mount(3)),
  net0: maybe(card(0)),
  net1: maybe(card(1)),
  net3: maybe(card(3)),
})

const estates = fc.array(fc.record({ config: container, running: fc.boolean() }), { minLength: 1, maxLength: 5 })

async function made(containers: readonly { config: Readonly<Record<string, string | undefined>>; running: boolean }[]) {
  const client = createTestClient({
    timing: { callMs: [1, 1], allocateMs: [1, 2], startMs: [1, 2], bootMs: [5, 5], shortTaskMs: 1 },
  })
  const local = client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')
  local?.set(TEMPLATE, { name: TEMPLATE, content: 'vztmpl', format: 'tzst', sizeBytes: 617, ctimeSeconds: 1 })
  for (const [at, { config, running }] of containers.entries()) {
    const params = Object.fromEntries(Object.entries(config).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])))
    const vmid = String(200 + at)
    assert.equal(
      await client.task('POST', '/nodes/fun-bedbug/lxc', { vmid, ostemplate: `local:${TEMPLATE}`, ...params }),
      'OK',
    )
    if (running) await client.task('POST', `/nodes/fun-bedbug/lxc/${vmid}/status/start`, {})
  }
  await client.pass(60_000)
  return client
}

const configs = (client: TestClient) =>
  [...client.datacentre.world.guests.values()]
    .filter(({ vmid }) => vmid >= 200)
    .map((guest) => {
      const { tags: _tags, description: _description, ...rest } = Object.fromEntries(guest.config)
      return { vmid: guest.vmid, status: guest.run.status, ...rest }
    })

test('[R31] whatever containers there are: imported, they plan to their adoption only, and settling changes nothing but the mark', async () => {
  await fc.assert(
    fc.asyncProperty(estates, async (containers) => {
      const client = await made(containers)
      const { code, out, err } = await imported(
        client,
        { 'c.yaml': CONNECTION },
        '--guest',
        containers.map((_, at) => 200 + at).join(','),
      )
      assert.equal(code, 0, err)
      assert.doesNotMatch(err, /Warning|Error/, out)
      const { estate } = loaded({ 'c.yaml': CONNECTION, 'i.yaml': out })
      assert.deepEqual(
        estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
        [],
        out,
      )
      assert.equal(estate.resources.length, containers.length, out)
      const engine = createEngine({
        clock: client.clock,
        random: seededRandom(3),
        store: createMemoryStore(),
        drivers: [proxmoxDriver],
        driverDeps: driverDeps(client),
      })
      const signal = new AbortController().signal
      const plan = await client.clock.runUntil(engine.plan(estate, signal))
      for (const { action } of plan.entries) {
        assert.equal(action.do, 'adopt', `${JSON.stringify(action)}\n${out}`)
        if (action.do === 'adopt')
          assert.deepEqual([action.changes, action.steps.map(({ verb }) => verb)], [[], ['mark']], out)
      }
      const before = configs(client)
      await client.clock.runUntil(engine.settle(estate, { signal, deadlineMs: 120_000 }))
      const after = await client.clock.runUntil(engine.plan(estate, signal))
      for (const { action } of after.entries) assert.equal(action.do, 'nothing')
      assert.deepEqual(configs(client), before)
      await engine.close()
    }),
    { numRuns: 25, seed: 31, endOnFailure: true },
  )
})
