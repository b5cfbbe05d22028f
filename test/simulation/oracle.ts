import assert from 'node:assert/strict'
import type { Datacentre } from '../../sim/datacentre.ts'
import { type Simulation, storedText } from './run.ts'

/** What strangers own, as it was before croft came: must be the same afterwards. */
export interface Strangers {
  readonly guests: ReadonlyMap<number, string>
}

export function strangersOf(datacentre: Datacentre): Strangers {
  const foreign = [...datacentre.world.guests].filter(([, guest]) => !isOurs(guest.config) && !guest.config.has('lock'))
  return { guests: new Map(foreign.map(([id, guest]) => [id, configText(guest.config)])) }
}

function isOurs(config: ReadonlyMap<string, string>): boolean {
  return (config.get('tags') ?? '').includes('croft') && !(config.get('description') ?? '').includes('estate=other')
}

function configText(config: ReadonlyMap<string, string>): string {
  return [...config]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n')
}

function marks(datacentre: Datacentre): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const [id, guest] of datacentre.world.guests) {
    for (const tag of (guest.config.get('tags') ?? '').split(/[;, ]+/)) {
      if (tag.startsWith('croft-') && isOurs(guest.config)) found.set(tag, [...(found.get(tag) ?? []), id])
    }
  }
  return found
}

/** O1 no duplicates, O2 no orphans, O3 nothing foreign touched, O6 no secret anywhere. Holds at any moment. */
export function nothingDoubledOrLost(simulation: Simulation, strangers: Strangers, hint: string): void {
  const { datacentre, estate } = simulation
  for (const [tag, ids] of marks(datacentre)) {
    assert.equal(ids.length, 1, `O1 ${tag} is on guests ${ids.join(', ')}; ${hint}`)
  }
  for (const [id, before] of strangers.guests) {
    const guest = datacentre.world.guests.get(id)
    assert.ok(guest, `O3 the foreign guest ${id} is gone; ${hint}`)
    assert.equal(configText(guest.config), before, `O3 the foreign guest ${id} was changed; ${hint}`)
  }
  const secret = datacentre.token.split('=')[1] ?? datacentre.token
  const shown = storedText(simulation.disk) + JSON.stringify(estate)
  for (const form of [
    secret,
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
    encodeURIComponent(secret),
  ]) {
    assert.ok(!shown.includes(form), `O6 the token is in the store; ${hint}`)
  }
}

/** What a settled estate looks like: each machine once, running, with its disk grown, and no volume left over. */
export function asDeclared(simulation: Simulation, hint: string): void {
  const { datacentre, estate, disk } = simulation
  const found = marks(datacentre)
  const machines = estate.resources.filter((resource) => resource.desired.type === 'vm')
  assert.equal(found.size, machines.length, `O2 ${found.size} marked guests for ${machines.length} machines; ${hint}`)
  for (const machine of machines) {
    const ids = found.get(`croft-${machine.uid}`)
    assert.ok(ids, `${machine.key} was not made; ${hint}`)
    const guest = datacentre.world.guests.get(ids[0] ?? 0)
    assert.ok(guest && machine.desired.type === 'vm')
    const { vm } = machine.desired
    if (vm.vmid !== undefined) assert.equal(ids[0], vm.vmid, `${machine.key} has another id; ${hint}`)
    assert.equal(guest.config.get('memory'), String(vm.memory?.dedicatedMb), `${machine.key} memory; ${hint}`)
    assert.match(
      guest.config.get('scsi0') ?? '',
      new RegExp(`size=${vm.disks[0]?.sizeGb}G`),
      `${machine.key} disk; ${hint}`,
    )
    assert.equal(guest.run.status, vm.power, `${machine.key} power; ${hint}`)
    const record = disk.records.get(machine.key)
    assert.equal(record?.externalId, String(ids[0]), `O2 the record of ${machine.key}; ${hint}`)
    assert.equal(
      record?.conditions.find((condition) => condition.type === 'Ready')?.status,
      'True',
      `${machine.key} Ready; ${hint}`,
    )
  }
  for (const host of datacentre.world.hosts.values()) {
    for (const [storage, volumes] of host.volumes) {
      for (const volume of volumes.values()) {
        if (volume.vmid === undefined) continue
        assert.ok(
          datacentre.world.guests.has(volume.vmid),
          `O2 volume ${storage}:${volume.name} on ${host.name} belongs to nobody; ${hint}`,
        )
      }
    }
  }
  assert.equal(disk.intentions.size, 0, `O2 an intention is left; ${hint}`)
}

/** O7: settled means settled. Twenty more passes write nothing. */
export async function quietFor(simulation: Simulation, passes: number, hint: string): Promise<void> {
  const process = simulation.start()
  const reports = await simulation.passes(process, passes)
  const writes = reports.reduce((sum, report) => sum + report.effects, 0)
  assert.equal(writes, 0, `O7 ${writes} writes after it had settled; ${hint}`)
  for (const report of reports) assert.ok(report.settled, `O7 not settled any more; ${hint}`)
}

/** K of the reliability table. */
export function mostReconciles(machines: number): number {
  return 40 + 6 * machines
}
