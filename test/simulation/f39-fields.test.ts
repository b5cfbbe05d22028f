import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createDatacentre, type Datacentre } from '../../sim/datacentre.ts'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import { simWire } from '../../sim/wire.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { ContainerSpec } from '../../src/model/container.ts'
import { DEFAULT_POLICY, type Policy, resourceUid } from '../../src/model/declaration.ts'
import type { Estate } from '../../src/model/estate.ts'
import type { Action } from '../../src/model/plan.ts'
import type { Change, Desired } from '../../src/model/resource.ts'
import type { VmSpec } from '../../src/model/vm.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { CONTAINER, CONTAINER_CASES, type FieldCase, TEMPLATE, VM, VM_CASES } from './f39-fields.ts'
import { startProcess } from './process.ts'

/*
 * docs/fields.md says what a change of each field does to a running guest. Here each of them is changed, alone, and what
 * the plan says, what it does and what comes of it is held against the table.
 */

type Effect = 'live' | 'restart' | 'replace' | 'root' | 'stopped' | 'birth'
const EFFECTS: readonly string[] = ['live', 'restart', 'replace', 'root', 'stopped', 'birth']

const page = readFileSync(new URL('../../docs/fields.md', import.meta.url), 'utf8')

/** The rows under one heading of the page. */
function tableOf(heading: string): ReadonlyMap<string, Effect> {
  const part = page.split(/^## /m).find((section) => section.startsWith(heading)) ?? ''
  const rows = new Map<string, Effect>()
  for (const line of part.split('\n')) {
    const [, fields, word] = /^\| (.+?) \| (\w+) \|/.exec(line) ?? []
    if (fields === undefined || word === undefined || !EFFECTS.includes(word)) continue
    for (const [, field] of fields.matchAll(/`([^`]+)`/g)) if (field !== undefined) rows.set(field, word as Effect)
  }
  return rows
}

const KEY = 'Machine/f39'
const CONNECTION: Estate['connections'][number] = {
  name: 'default',
  driver: 'proxmox',
  endpoint: 'https://127.0.0.1:8006',
  token: { env: 'TOKEN' },
  estate: 'f39',
  ids: { from: 100, to: 999 },
  limits: { perHost: 2, perStorage: 1, reads: 4 },
  origin: { file: 'a.yaml', line: 1, column: 1 },
}

function estateOf(desired: Desired, policy: Partial<Policy> = {}): Estate {
  return {
    revision: 'r',
    connections: [CONNECTION],
    resources: [
      {
        key: KEY,
        uid: resourceUid('f39', KEY),
        kind: 'Machine',
        name: 'f39',
        driver: 'proxmox',
        connection: 'default',
        estate: 'f39',
        desired,
        needs: [],
        policy: { ...DEFAULT_POLICY, ...policy },
        origin: { file: 'a.yaml', line: 1, column: 1 },
        generation: JSON.stringify([desired, policy]),
      },
    ],
    approvals: [],
    unreadable: [],
    incomplete: false,
    problems: [],
  }
}

const QUICK = {
  callMs: [1, 2],
  allocateMs: [5, 10],
  importBytesPerSecond: 40_000_000_000,
  cloneBytesPerSecond: 40_000_000_000,
  startMs: [10, 20],
  bootMs: [500, 1_000],
  shutdownMs: [50, 100],
} as const

/** A guest that was made as declared and runs. */
async function running(desired: Desired) {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(39), timing: QUICK })
  furnish(datacentre)
  const { disk } = createMemoryStore()
  const wire = simWire(datacentre)
  const { engine } = startProcess({ clock, random: seededRandom(1), disk, wire, token: datacentre.token })
  const { signal } = new AbortController()
  const settle = async (estate: Estate) => {
    const work = engine.settle(estate, { signal, deadlineMs: 3_600_000 })
    return (await clock.runUntil(work, { maxMs: 4_000_000 })).outcome
  }
  const planned = async (estate: Estate) => {
    const plan = await clock.runUntil(engine.plan(estate, signal))
    const entry = plan.entries.find(({ key }) => key === KEY)
    assert.ok(entry)
    return entry
  }
  const guest = () => {
    const found = [...datacentre.world.guests.values()].filter((one) => one.config.get('tags')?.includes('croft'))
    assert.equal(found.length, 1)
    return found[0] ?? assert.fail('it is gone')
  }
  assert.equal(await settle(estateOf(desired)), 'settled')
  assert.equal(guest().run.status, 'running')
  return { clock, datacentre, settle, planned, guest }
}

type Bench = Awaited<ReturnType<typeof running>>

/** What the declarations of this test name: bridges, pools, a template for containers. */
function furnish(datacentre: Datacentre): void {
  const { world } = datacentre
  for (const id of ['web', 'db'])
    world.pools.set(id, { id, comment: undefined, guests: new Set(), storages: new Set() })
  const host = world.hosts.get('fun-bedbug')
  const bridge = { ...host?.interfaces.get('vmbr0'), bridge_vlan_aware: 1 }
  host?.interfaces.set('vmbr0', bridge).set('vmbr1', { ...bridge, iface: 'vmbr1' })
  host?.pci.push({ path: '0000:01:00.0', id: '10de:1b80' })
  host?.usb.push({ path: '1-2', id: '1a6e:089a' })
  const pci = { map: ['node=fun-bedbug,path=0000:01:00.0,id=10de:1b80'] }
  const usb = { map: ['node=fun-bedbug,id=1a6e:089a'] }
  world.shelves.set('mapping/pci', new Map(['gpu', 'gpu2'].map((id) => [id, { id, ...pci }])))
  world.shelves.set('mapping/usb', new Map(['coral', 'stick'].map((id) => [id, { id, ...usb }])))
  const local = host?.volumes.get('local')
  const name = TEMPLATE.slice('local:'.length)
  local?.set(name, { name, content: 'vztmpl', format: 'tzst', sizeBytes: 617, ctimeSeconds: 1 })
}

/** Counts volumes that hold data. */
function dataOf(datacentre: Datacentre): number {
  const volumes = [...datacentre.world.hosts.values()].flatMap((host) =>
    [...host.volumes.values()].flatMap((all) => [...all.values()]),
  )
  return volumes.filter((volume) => volume.vmid !== undefined && volume.sizeBytes >= 5 * 2 ** 30).length
}

/** `disks.scsi1.cache` is `disks[].cache` in the table. */
function fieldOf(path: string): string {
  return path
    .replace(/^(disks|nics|cdrom|serial|numaNodes|usb|pci|virtiofs|mounts|devices)\.[a-z]+\d+/, '$1[]')
    .replace(/^(cloudInit\.addresses)\.\d+$/, '$1')
    .replace(/^cdrom\[\]$/, 'cdrom[]')
}

function changesOf(action: Action): readonly Change[] {
  return 'changes' in action ? action.changes : []
}

/** The changes of the field in question. A change of a field in a list rewrites its device. */
function changeOf(action: Action, field: string): Change {
  const plain = field.replace(/ \(.*\)$/, '')
  const same = (path: string) => fieldOf(path) === plain || (plain === 'cdrom[].file' && fieldOf(path) === 'cdrom[]')
  return changesOf(action).find((change) => same(change.path)) ?? assert.fail(`${field}: ${JSON.stringify(action)}`)
}

async function check(bench: Bench, desired: Desired, field: string, effect: Effect): Promise<void> {
  const { datacentre, settle, planned, guest } = bench
  const estate = estateOf(desired)
  const before = {
    life: guest().run.life,
    born: bornOf(bench),
    writes: datacentre.writes.length,
    data: dataOf(datacentre),
  }
  const entry = await planned(estate)
  const { action } = entry
  const steps = 'steps' in action ? action.steps : []
  const outcome = await settle(estate)
  assert.equal(outcome, 'settled', `${field}: ${JSON.stringify(action)}`)
  const written = datacentre.writes.length - before.writes
  assert.ok(dataOf(datacentre) >= before.data, `${field}: a data disk is gone`)
  switch (effect) {
    case 'live':
      assert.equal(action.do, 'update', JSON.stringify(action))
      assert.equal(changeOf(action, field).effect, 'live')
      assert.ok(!steps.some((step) => step.verb === 'reboot'), field)
      if (field !== 'power') assert.equal(guest().run.life, before.life, `${field}: it was restarted`)
      break
    case 'restart':
      assert.equal(action.do, 'update', JSON.stringify(action))
      assert.equal(changeOf(action, field).effect, 'restart')
      assert.ok(steps.some((step) => step.disruption === 'restart'))
      assert.notEqual(guest().run.life, before.life, `${field}: it was not restarted`)
      assert.equal(guest().pending.size + guest().pendingDelete.size, 0, `${field}: something still waits`)
      break
    case 'replace':
    case 'root':
    case 'stopped': {
      assert.equal(action.do, 'refuse', `${field}: ${JSON.stringify(action)}`)
      const guards = effect === 'replace' ? ['replacement', 'data'] : ['impossible']
      assert.ok(action.do === 'refuse' && guards.includes(action.guard), `${field}: ${JSON.stringify(action)}`)
      assert.equal(written, 0, `${field}: something was written`)
      assert.equal(guest().run.life, before.life)
      break
    }
    case 'birth':
      assert.equal(action.do, 'nothing', `${field}: ${JSON.stringify(action)}`)
      assert.equal(written, 0)
      assert.equal(entry.notes, undefined)
      break
  }
  assert.equal(bornOf(bench), before.born, `${field}: it was made anew`)
  if (effect === 'live' || effect === 'restart') assert.equal((await planned(estate)).action.do, 'nothing', field)
}

/** Which incarnation of the guest this is. */
function bornOf({ guest }: Bench): string {
  const { config, type } = guest()
  return type === 'qemu' ? `${config.get('meta')}` : `${config.get('hostname')?.length !== undefined}`
}

function suite<Spec>(
  heading: string,
  base: Spec,
  cases: readonly FieldCase<Spec>[],
  desiredOf: (spec: Spec) => Desired,
): void {
  const table = tableOf(heading)

  test(`[F-39] the table of ${heading} has every field and no other`, () => {
    const known = new Set(cases.map(({ field }) => field))
    assert.deepEqual([...known].filter((field) => !table.has(field)).sort(), [])
    assert.deepEqual([...table.keys()].filter((field) => !known.has(field)).sort(), [])
  })

  for (const { field, from, to } of cases) {
    test(`[F-39] ${heading}: ${field}: ${table.get(field) ?? 'not in the table'}`, async () => {
      const effect = table.get(field)
      assert.ok(effect, `${field} is not in docs/fields.md`)
      const bench = await running(desiredOf({ ...base, ...from }))
      await check(bench, desiredOf({ ...base, ...to }), field, effect)
    })
  }
}

suite<VmSpec>('VMs', VM, VM_CASES, (vm) => ({ type: 'vm', vm }))
suite<ContainerSpec>('Containers', CONTAINER, CONTAINER_CASES, (container) => ({ type: 'container', container }))

const [SYSTEM] = VM.disks
const NO_DATA: VmSpec = {
  ...VM,
  disks: SYSTEM === undefined ? [] : [SYSTEM],
  efiDisk: { storage: 'local', type: '2m' },
}
const OTHER_FIRMWARE = { efiDisk: { storage: 'local', type: '4m' } } as const

test('[F-39] what only a new machine can have is refused until the declaration allows it, and then done once', async () => {
  const bench = await running({ type: 'vm', vm: NO_DATA })
  const wanted: Desired = { type: 'vm', vm: { ...NO_DATA, ...OTHER_FIRMWARE } }
  const refused = await bench.planned(estateOf(wanted))
  assert.equal(refused.action.do === 'refuse' && refused.action.guard, 'replacement')
  const born = bornOf(bench)
  assert.equal(await bench.settle(estateOf(wanted)), 'settled')
  assert.equal(bornOf(bench), born)
  const allowed = estateOf(wanted, { replace: 'allowed' })
  assert.equal((await bench.planned(allowed)).action.do, 'replace')
  assert.equal(await bench.settle(allowed), 'settled')
  assert.notEqual(bornOf(bench), born)
  assert.match(bench.guest().config.get('efidisk0') ?? '', /efitype=4m/)
  assert.equal((await bench.planned(allowed)).action.do, 'nothing')
})

test('[F-39] no permission to replace is permission to destroy data: attached, detached or not declared any more', async () => {
  const [, data] = VM.disks
  assert.ok(data && SYSTEM)
  const withData: VmSpec = { ...NO_DATA, disks: [SYSTEM, data] }
  const bench = await running({ type: 'vm', vm: withData })
  const volumes = dataOf(bench.datacentre)
  const replace = { replace: 'allowed' } as const
  const attached = estateOf({ type: 'vm', vm: { ...withData, ...OTHER_FIRMWARE } }, replace)
  const held = await bench.planned(attached)
  assert.ok(held.action.do === 'refuse' && held.action.guard === 'data')
  assert.match(held.action.reason, /data on scsi1 /)
  await bench.settle(attached)
  // Taken out of the declaration: detached, still there, and still no reason to destroy it.
  assert.equal(await bench.settle(estateOf({ type: 'vm', vm: NO_DATA }, replace)), 'settled')
  assert.match(bench.guest().config.get('unused0') ?? '', /^local-zfs:/)
  const detached = estateOf({ type: 'vm', vm: { ...NO_DATA, ...OTHER_FIRMWARE } }, replace)
  const still = await bench.planned(detached)
  assert.ok(still.action.do === 'refuse' && still.action.guard === 'data')
  assert.match(still.action.reason, /data on unused0 /)
  await bench.settle(detached)
  assert.equal(dataOf(bench.datacentre), volumes)
})

test('[F-39] a disk and a card that a person added are left alone when nobody declares them', async () => {
  const bench = await running({ type: 'vm', vm: VM })
  bench.datacentre.patchGuest(114, {
    scsi7: 'local-zfs:vm-114-disk-7,size=9G',
    net3: 'virtio=BC:24:11:00:00:09,bridge=vmbr0',
  })
  assert.equal(await bench.settle(estateOf({ type: 'vm', vm: { ...VM, name: 'other' } })), 'settled')
  assert.ok(bench.guest().config.has('scsi7') && bench.guest().config.has('net3'))
})

test('[A24] more memory is plugged into a running machine that can take it, and never costs a restart', async () => {
  const large = (dedicatedMb: number): VmSpec => ({
    ...VM,
    cpu: { cores: 2, numa: true },
    hotplug: 'disk,network,usb,memory',
    memory: { dedicatedMb },
  })
  const bench = await running({ type: 'vm', vm: large(8192) })
  const { life } = bench.guest().run
  const estate = estateOf({ type: 'vm', vm: large(12_288) })
  const { action } = await bench.planned(estate)
  assert.deepEqual(
    changesOf(action).map(({ path, effect }) => [path, effect]),
    [['memory.dedicatedMb', 'live']],
  )
  assert.ok('steps' in action && action.steps.every((step) => step.disruption === 'none'))
  assert.equal(await bench.settle(estate), 'settled')
  assert.equal(bench.guest().config.get('memory'), '12288')
  assert.equal(bench.guest().run.life, life)
})

test('[F-39] rebootAfterUpdate: false writes what needs a restart and leaves the machine running', async () => {
  const bench = await running({ type: 'vm', vm: { ...VM, restart: 'never', cpu: { cores: 2 } } })
  const { life } = bench.guest().run
  const estate = estateOf({ type: 'vm', vm: { ...VM, restart: 'never', cpu: { cores: 4 } } })
  assert.equal(await bench.settle(estate), 'settled')
  assert.equal(bench.guest().pending.get('cores'), '4')
  assert.equal(bench.guest().run.life, life)
  assert.equal((await bench.planned(estate)).action.do, 'nothing')
})
