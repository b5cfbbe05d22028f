import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createDatacentre } from '../../../../sim/datacentre.ts'
import { createVirtualClock } from '../../../../sim/virtual-clock.ts'
import { simWire } from '../../../../sim/wire.ts'
import { estateFrom } from '../../../../test/simulation/manifests.ts'
import { startProcess } from '../../../../test/simulation/process.ts'
import type { PassReport } from '../../../engine/engine.ts'
import { seededRandom } from '../../../lib/random.ts'
import type { ResourceKey } from '../../../model/declaration.ts'
import type { Connection, Estate } from '../../../model/estate.ts'
import type { ResourceRecord } from '../../../model/record.ts'
import { Secret } from '../../../model/secret.ts'
import { createMemoryStore } from '../../../store/memory.ts'
import type { Check, Session } from '../../port.ts'
import { proxmoxDriver } from '../driver.ts'
import { setUpCommands } from './commands.ts'
import { examine } from './examine.ts'
import { type Grants, grantsOf } from './grants.ts'
import { leastRole } from './least-role.ts'
import { needsOf } from './needs.ts'
import { pveum } from './testing/pveum.ts'

const NOW_MS = 1_760_000_000_000
const IMAGE = 'noble-server-cloudimg-amd64.qcow2'
const { signal } = new AbortController()
const WHO = { user: 'croft@pve', token: 'croft' }

function files(pool: boolean): Record<string, string> {
  const vm = (name: string, host: string) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: ${host}
    name: ${name}
    started: true
    onBoot: true
    ${pool ? 'poolId: k3s' : ''}
    cpu: [{cores: 2, type: host}]
    memory: [{dedicated: 2048}]
    scsiHardware: virtio-scsi-single
    agent: [{enabled: true}]
    disk: [{interface: scsi0, datastoreId: local-zfs, size: 20, importFrom: "local:import/${IMAGE}"}]
    networkDevice: [{bridge: vmbr0, model: virtio}]
    initialization: [{datastoreId: local-zfs, userAccount: [{username: ubuntu}], ipConfig: [{ipv4: [{address: dhcp}]}]}]
`
  const image = (host: string) => `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: noble-${host}}
spec:
  forProvider: {nodeName: ${host}, datastoreId: local, contentType: import, fileName: ${IMAGE}, url: "https://images.test/${IMAGE}"}
`
  return {
    'connection.yaml': `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 399}}
`,
    'a.yaml': vm('server-1', 'pumped-piglet'),
    'b.yaml': vm('server-2', 'still-fawn'),
    'c.yaml': image('pumped-piglet'),
    'd.yaml': image('still-fawn'),
  }
}

const ESTATES = { 'guests on their own': estateFrom(files(false)), 'guests in a pool': estateFrom(files(true)) }

function connectionOf(estate: Estate): Connection {
  const [connection] = estate.connections
  assert.ok(connection)
  return connection
}

/** A datacentre where a person has run the printed commands, and a controller with the resulting token. */
async function withToken(estate: Estate, commands: readonly string[]) {
  const clock = createVirtualClock(NOW_MS)
  const datacentre = createDatacentre({
    clock,
    random: seededRandom(7),
    preset: 'homelab',
    timing: {
      callMs: [1, 2],
      importBytesPerSecond: 4e9,
      downloadBytesPerSecond: 4e9,
      bootMs: [1000, 2000],
      statusCycleMs: 0,
      statusCacheMs: 0,
    },
  })
  datacentre.world.pools.set('k3s', { id: 'k3s', comment: undefined, guests: new Set(), storages: new Set() })
  const token = await clock.runUntil(pveum(datacentre, commands))
  const { disk } = createMemoryStore()
  const wire = simWire(datacentre)
  const random = seededRandom(8)
  return {
    /** The guests' answers to a user of this token who runs a program in them. */
    async exec(): Promise<readonly number[]> {
      const found: number[] = []
      for (const { vmid, node } of datacentre.world.guests.values()) {
        if (vmid < 300) continue
        const headers = { authorization: `PVEAPIToken=${token}`, 'content-type': 'application/x-www-form-urlencoded' }
        const path = `/api2/json/nodes/${node}/qemu/${vmid}/agent/exec`
        found.push(
          (await clock.runUntil(datacentre.handle({ method: 'POST', path, headers, body: 'command=true' }))).status,
        )
      }
      return found
    },
    doctor: (entered?: ReadonlySet<ResourceKey>): Promise<readonly Check[]> =>
      clock.runUntil(
        examine(
          connectionOf(estate),
          estate.resources,
          { clock, random, openWire: () => wire, resolveSecret: async () => new Secret(token) },
          signal,
          entered,
        ),
      ),
    /** The driver with this token, as commands use it. */
    async opened<T>(work: (session: Session) => Promise<T>): Promise<T> {
      const deps = { clock, random, openWire: () => wire, resolveSecret: async () => new Secret(token) }
      const session = proxmoxDriver.connect(connectionOf(estate), deps)
      try {
        return await clock.runUntil(work(session))
      } finally {
        await session.close()
      }
    },
    guests: () => [...datacentre.world.guests.keys()].filter((vmid) => vmid >= 300),
    async apply(deadlineMs: number, wanted = estate): Promise<{ reached: boolean; said: string }> {
      const { engine } = startProcess({ clock, random, disk, wire, token })
      const reports: PassReport[] = []
      const settled = engine.settle(wanted, { signal, deadlineMs, onPass: (report) => reports.push(report) })
      const { last } = await clock.runUntil(settled, { maxMs: deadlineMs + 600_000 })
      const ready = (record: ResourceRecord) =>
        record.conditions.some((one) => one.type === 'Ready' && one.status === 'True')
      return {
        reached: last.records.length === wanted.resources.length && last.records.every(ready),
        said: JSON.stringify(reports.map(({ events, plan }) => [events, plan.notes, plan.entries])),
      }
    },
  }
}

function ownGrants(estate: Estate): Grants {
  return grantsOf(needsOf(estate.resources, { connection: connectionOf(estate) }).needs)
}

const bad = (checks: readonly Check[]) => checks.filter(({ level }) => level !== 'ok').map(({ found }) => found)

/**
 * What an apply does without one privilege. Not all refusals name it: some only blind croft, and some matter only for
 * changes of an existing guest that these declarations do not make.
 */
const NOT_REFUSED_BY_NAME: Readonly<Record<string, 'settles' | 'stops'>> = {
  // Memory and other users' tasks are hidden; nothing else needs them.
  'Sys.Audit': 'settles',
  // For a person's commands; an apply takes no snapshots.
  'VM.Snapshot': 'settles',
  // Needed to add a cloud-init drive to an existing guest, not at creation.
  'VM.Config.CDROM': 'settles',
  // The same; users who may change the network may also set cloud-init's values.
  'VM.Config.Cloudinit': 'settles',
  // The first boot's result is unknown, so it does not count.
  'VM.GuestAgent.FileRead': 'settles',
  // The agent may not be asked, so the guest never becomes ready.
  'VM.GuestAgent.Audit': 'stops',
  // A storage without read permission looks missing.
  'Datastore.Audit': 'stops',
  // The guest seems to have no pool; adding it to one is refused.
  'Pool.Audit': 'stops',
}

for (const [what, estate] of Object.entries(ESTATES)) {
  describe(`[R47] the smallest role: ${what}`, () => {
    test('it is enough: doctor finds nothing, and apply reaches its end', async () => {
      const commands = leastRole(connectionOf(estate), estate.resources, { nowMs: NOW_MS })
      const { doctor, apply } = await withToken(estate, commands)
      assert.deepEqual(bad(await doctor()), [])
      const { reached, said } = await apply(3_600_000)
      assert.ok(reached, said)
      assert.deepEqual(bad(await doctor()), [])
    })

    for (const [path, privileges] of ownGrants(estate)) {
      for (const privilege of privileges) {
        test(`one less is not: ${privilege} on ${path}`, async () => {
          const fewer = new Map([...ownGrants(estate)].map(([at, held]) => [at, new Set(held)]))
          fewer.get(path)?.delete(privilege)
          const { doctor, apply } = await withToken(estate, setUpCommands(fewer, WHO, 'croft', 2e9))
          const named = (await doctor()).filter(({ code }) => code === 'privileges-missing')
          assert.ok(
            named.some(({ found }) => found.includes(path) && found.includes(privilege)),
            JSON.stringify(named),
          )
          const { reached, said } = await apply(90_000)
          const otherwise = NOT_REFUSED_BY_NAME[privilege]
          assert.equal(reached, otherwise === 'settles')
          if (otherwise === 'settles') return
          if (otherwise === undefined) assert.ok(said.includes(privilege), said.slice(0, 3000))
        })
      }
    }
  })
}

test('[D-08] with the role of a cluster programs run in its nodes, and doctor calls nothing missing or too many', async () => {
  const estate = ESTATES['guests on their own']
  const entered = new Set(estate.resources.filter(({ desired }) => desired.type === 'vm').map(({ key }) => key))
  const commands = leastRole(connectionOf(estate), estate.resources, { nowMs: NOW_MS, entered })
  const { doctor, apply, exec } = await withToken(estate, commands)
  assert.deepEqual(bad(await doctor(entered)), [])
  const { reached, said } = await apply(3_600_000)
  assert.ok(reached, said)
  assert.deepEqual(await exec(), [200, 200])
  assert.deepEqual(bad(await doctor(entered)), [])
  // Without running them it still has too many.
  assert.match(bad(await doctor()).join(), /more than the declarations need/)
})

test('it is enough for the homelab of the examples: two servers taken over, one made', async () => {
  const folder = join(import.meta.dirname, '../../../../examples/homelab')
  const names = globSync('**/*.yaml', { cwd: folder })
  assert.ok(names.length >= 5)
  const estate = estateFrom(Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')])))
  const commands = leastRole(connectionOf(estate), estate.resources, { nowMs: NOW_MS })
  const { doctor, apply } = await withToken(estate, commands)
  assert.deepEqual(bad(await doctor()), [])
  const { reached, said } = await apply(3_600_000)
  assert.ok(reached, said)
})

test('[T-02] it is enough for a whole life: made, entered, changed, saved, imported and destroyed', async () => {
  const container = (memory: number) => `apiVersion: virtualenvironmentcontainer.crossplane.io/v1alpha1
kind: EnvironmentContainer
metadata: {name: box}
spec:
  deletionPolicy: Delete
  forProvider:
    nodeName: pumped-piglet
    started: true
    unprivileged: true
    memory: [{dedicated: ${memory}}]
    disk: [{datastoreId: local-zfs, size: 4}]
    networkInterface: [{name: eth0, bridge: vmbr0}]
    initialization: [{hostname: box, ipConfig: [{ipv4: [{address: dhcp}]}]}]
    operatingSystem: [{templateFileId: 'local:vztmpl/debian-12.tar.zst', type: debian}]
`
  const template = `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: debian}
spec:
  forProvider: {nodeName: pumped-piglet, datastoreId: local, contentType: vztmpl, url: 'https://images.test/debian-12.tar.zst'}
`
  const backup = (keep: number) => `apiVersion: croft.dev/v1alpha1
kind: ProxmoxBackupJob
metadata: {name: nightly}
spec:
  schedule: '02:30'
  storage: local
  all: true
  retention: {keepLast: ${keep}}
  fleecing: {enabled: true, storage: local-zfs}
`
  const { 'connection.yaml': connection = '', 'a.yaml': machine = '', 'c.yaml': image = '' } = files(false)
  const doomed = machine.replace('spec:', 'spec:\n  deletionPolicy: Delete')
  const life = (memory: number) =>
    estateFrom({
      'connection.yaml': connection,
      'a.yaml': doomed.replace('dedicated: 2048', `dedicated: ${memory}`),
      'b.yaml': container(memory),
      'c.yaml': image,
      'd.yaml': template,
      'e.yaml': backup(memory / 512),
    })
  const born = life(1024)
  const entered = new Set(born.resources.filter(({ desired }) => desired.type === 'vm').map(({ key }) => key))
  const commands = leastRole(connectionOf(born), born.resources, { nowMs: NOW_MS, entered })
  const { apply, doctor, exec, guests, opened } = await withToken(born, commands)
  assert.deepEqual(bad(await doctor(entered)), [])
  for (const estate of [born, life(1536)]) {
    const { reached, said } = await apply(3_600_000, estate)
    assert.ok(reached, said.slice(-3000))
  }
  assert.equal(guests().length, 2)
  assert.ok((await exec()).includes(200), 'programs run in the machine')

  const kept = await opened(async (session) => {
    const { resources } = await session.survey(signal)
    const said: unknown[] = []
    const own = resources.filter(({ externalId }) => Number(externalId) >= 300)
    for (const one of own.toSorted((a, b) => (a.type > b.type ? -1 : 1))) {
      const observed = await session.observe(one, { power: true }, signal)
      assert.ok(observed?.close, 'import reads every guest')
      said.push((await proxmoxDriver.importGuests?.manifest(observed))?.kind)
      const { snapshots } = session
      assert.ok(snapshots)
      said.push(await snapshots.take(observed, 'before', signal))
      said.push((await snapshots.list(observed, signal)).map(({ name }) => name))
      said.push(await snapshots.revert(observed, 'before', signal))
      said.push(await snapshots.remove(observed, 'before', signal))
    }
    return said
  })
  const done = { result: 'done' }
  const moments = [done, ['before'], done, done]
  assert.deepEqual(kept, ['EnvironmentVM', ...moments, 'EnvironmentContainer', ...moments])
  assert.deepEqual(bad(await doctor(entered)), [])

  const over = estateFrom({
    'connection.yaml': connection,
    'c.yaml': image,
    'd.yaml': template,
    'e.yaml': `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: all}
spec: {reason: its life is over, maxDeletes: 5, expires: '2099-01-01T00:00:00Z'}
`,
  })
  const { said } = await apply(3_600_000, over)
  assert.deepEqual(guests(), [], said.slice(-3000))
})

test('[T-02] without the right to take snapshots a command is refused by name, and an apply is not', async () => {
  const estate = estateFrom({ ...files(false) })
  const fewer = new Map([...ownGrants(estate)].map(([at, held]) => [at, new Set(held)]))
  assert.ok(fewer.get('/vms')?.delete('VM.Snapshot'))
  const { apply, opened } = await withToken(estate, setUpCommands(fewer, WHO, 'croft', 2e9))
  assert.ok((await apply(3_600_000)).reached)
  const outcome = await opened(async (session) => {
    const { resources } = await session.survey(signal)
    const [one] = resources.filter(({ externalId }) => Number(externalId) >= 300)
    assert.ok(one && session.snapshots)
    return session.snapshots.take(one, 'before', signal)
  })
  assert.match(JSON.stringify(outcome), /refused.*VM\.Snapshot/)
})
