import assert from 'node:assert/strict'
import { computerOf } from '../../sim/guest/life.ts'
import { BINARY, memberOnDisk } from '../../sim/k3s/disk.ts'
import { hasQuorum, voters } from '../../sim/k3s/etcd.ts'
import type { Directory } from './directories.ts'
import type { Simulation } from './run.ts'

/** Guests by name, each with everything that croft could have written into its configuration. */
export function guestsOf(run: Simulation): ReadonlyMap<string, { readonly id: string; readonly state: string }> {
  return new Map(
    [...run.datacentre.world.guests].map(([id, guest]) => [
      guest.config.get('name') ?? `${id}`,
      { id: `${id}`, state: JSON.stringify([...guest.config].toSorted(([a], [b]) => (a < b ? -1 : 1))) },
    ]),
  )
}

/** What of K3s lies on the disks of boxes and guests, and since when it runs. */
export function k3sOf(run: Simulation, of: (name: string) => boolean): string {
  const { metal } = run.datacentre.world
  const boxes = [...metal].filter(([name]) => of(name)).map(([name, { machine }]) => [name, machine] as const)
  const guests = [...run.datacentre.world.guests.values()].flatMap((guest) => {
    const name = guest.config.get('name') ?? ''
    return guest.machine === undefined || !of(name) ? [] : [[name, guest.machine] as const]
  })
  return JSON.stringify(
    [...boxes, ...guests].map(([name, { files, k3s }]) => [
      name,
      files.text('/etc/rancher/k3s/config.yaml'),
      files.text('/etc/rancher/k3s/token'),
      files.text(BINARY),
      memberOnDisk(files),
      k3s?.process?.startedMs,
    ]),
  )
}

/**
 * Looks at every etcd that has ever had a majority: it still has one, every voter still has its data on a disk, and
 * no second cluster was formed on the nodes of the first.
 */
export function createLiveQuorums(run: Simulation): { look(told: () => string): void; readonly formed: number } {
  const formed = new Map<string, string>()
  const { world } = run.datacentre
  return {
    look(told) {
      const disks = new Set<string>()
      const machines = [
        ...[...world.metal.values()].map(({ machine }) => machine),
        ...[...world.guests.values()].map((guest) => computerOf(world, guest).machine),
      ]
      for (const { files } of machines) {
        const found = memberOnDisk(files)
        if (found !== undefined) disks.add(`${found.cluster}/${found.member}`)
      }
      for (const [id, cluster] of world.k3s.clusters) {
        const all = voters(cluster)
        const names = all.map(({ name }) => name.replace(/-[0-9a-f]{8}$/, ''))
        const lives = hasQuorum(cluster)
        if (lives) formed.set(id, names[0]?.slice(0, 1) ?? '')
        if (!formed.has(id)) continue
        assert.ok(lives, `the cluster of ${names.join()} has lost its majority; ${told()}`)
        for (const member of all)
          assert.ok(disks.has(`${id}/${member.id}`), `${member.name} has a vote and no data any more; ${told()}`)
      }
      const letters = [...formed.values()]
      assert.equal(new Set(letters).size, letters.length, `a second cluster was formed; ${told()}`)
    },
    get formed() {
      return formed.size
    },
  }
}

/** What a directory asked of the world in one turn. */
export interface Asked {
  readonly proxmox: readonly string[]
  /** Endpoints of Kubernetes that were written to. */
  readonly kubernetes: readonly string[]
}

/** Proves that no thing of another directory, and no foreign one, was written. */
export function touchedItsOwn(
  one: Directory,
  before: ReturnType<typeof guestsOf>,
  after: ReturnType<typeof guestsOf>,
  asked: Asked,
  told: () => string,
): void {
  const isOwn = (name: string) => name.startsWith(`${one.letter}-`)
  const others = new Map([...before].flatMap(([name, { id }]) => (isOwn(name) ? [] : [[id, name]])))
  for (const line of asked.proxmox) {
    const id = /\/(?:qemu|lxc)\/(\d+)/.exec(line)?.[1] ?? ''
    assert.ok(!others.has(id), `${one.title} sent ${line.slice(0, 200)}, and ${id} is ${others.get(id)}; ${told()}`)
  }
  for (const [name, { state }] of before)
    if (!isOwn(name)) assert.equal(after.get(name)?.state, state, `${one.title} changed ${name}; ${told()}`)
}

/** Proves that each deleted thing was undeclared, of this directory, and deleted with an event that names the evidence. */
export function deletedWithProof(
  one: Directory,
  gone: readonly string[],
  known: ReadonlySet<string>,
  seenEvents: number,
  told: () => string,
): void {
  const { machines, servers, agents } = one.files
  const declared = new Set([...machines, ...servers, ...agents])
  for (const name of gone) {
    const isOf = (key: string) => key.endsWith(`/${name}`) || key.endsWith(`@${name}`)
    assert.ok(!declared.has(name), `${name} is declared and gone; ${told()}`)
    const once = one.history.some((files) => [...files.machines, ...files.servers, ...files.agents].includes(name))
    const recorded = [...known].some(isOf)
    assert.ok(recorded || (one.git && once), `${name} went without a record or a commit; ${told()}`)
    const destroyed = one.disk.events
      .slice(seenEvents)
      .filter(({ key, cause }) => key !== undefined && isOf(key) && cause?.call?.startsWith('DELETE') === true)
    assert.ok(destroyed.length > 0, `no event says that ${name} was deleted; ${told()}`)
    for (const { cause } of destroyed) assert.ok(cause?.proof, `the deletion of ${name} has no proof; ${told()}`)
  }
}
