import { computerOf } from './guest/life.ts'
import { facts } from './guest/node-program.ts'
import type { Trouble } from './guest/types.ts'
import { isConnected } from './k3s/etcd.ts'
import { networkChanged } from './k3s/service.ts'
import { addBox, reboot, switchOff, switchOn, wake } from './metal/box.ts'
import type { Box, World } from './world/types.ts'

/** What goes wrong inside machines and clusters, and the physical boxes beside the hosts. Never used by the product. */
export interface ClusterExperiments {
  /** A guest by its number or a box by its name. `null` takes a trouble away. */
  setTrouble(target: number | string, change: Readonly<Record<string, unknown>>): void
  addBox(name: string, addresses: readonly string[], power?: 'on' | 'off'): void
  /** `crash`: the power is gone; `off`: its system was asked to go down. */
  boxPower(name: string, power: 'on' | 'off' | 'crash' | 'reboot'): void
  /** A magic packet. */
  wakeBox(mac: string): void
  /** So many answers of its management controller get lost, although what was asked is done. */
  loseBmcReplies(name: string, count: number): void
  /** The pod `namespace/name` refuses eviction even where its budget allows it. */
  blockEviction(pod: string, blocked: boolean): void
  /** Every etcd cluster as it really is. */
  clusters(): readonly Record<string, unknown>[]
  /** What the node program would say, without asking it. */
  nodeFacts(target: number | string): unknown
}

const TROUBLES: Readonly<Record<keyof Trouble, 'boolean' | 'number'>> = {
  noNetwork: 'boolean',
  noDns: 'boolean',
  wrongClock: 'boolean',
  diskFull: 'boolean',
  noPackages: 'boolean',
  noCurl: 'boolean',
  notRoot: 'boolean',
  portTaken: 'boolean',
  agentSilent: 'boolean',
  learnerStuck: 'boolean',
  neverStarts: 'boolean',
  slowJoinMs: 'number',
  slowNameMs: 'number',
  slowBootMs: 'number',
  neverBoots: 'boolean',
  neverStops: 'boolean',
}

export function createClusterExperiments(world: World): ClusterExperiments {
  const box = (name: string): Box => {
    const found = world.metal.get(name)
    if (found === undefined) throw new Error(`there is no box ${name}`)
    return found
  }
  const guest = (vmid: number) => {
    const found = world.guests.get(vmid)
    if (found === undefined) throw new Error(`there is no guest ${vmid}`)
    return found
  }
  return {
    setTrouble(target, change) {
      const trouble: Trouble = typeof target === 'number' ? guest(target).trouble : box(target).trouble
      for (const [name, value] of Object.entries(change)) {
        const kind = TROUBLES[name as keyof Trouble]
        if (kind === undefined) throw new Error(`there is no trouble ${name}: take ${Object.keys(TROUBLES).join(', ')}`)
        if (value === null) delete trouble[name as keyof Trouble]
        else if (typeof value !== kind) throw new Error(`${name} is a ${kind}`)
        else Object.assign(trouble, { [name]: value })
      }
      if ('noNetwork' in change)
        networkChanged(typeof target === 'number' ? computerOf(world, guest(target)) : box(target).computer)
    },
    addBox(name, addresses, power) {
      if (world.metal.has(name)) throw new Error(`there is a box ${name} already`)
      addBox(world, { name, addresses, ...(power === undefined ? {} : { power }) })
    },
    boxPower(name, power) {
      if (power === 'on') switchOn(world, box(name))
      else if (power === 'reboot') reboot(world, box(name))
      else switchOff(world, box(name), power === 'off')
    },
    wakeBox: (mac) => wake(world, mac),
    loseBmcReplies(name, count) {
      box(name).bmcRepliesLost = count
    },
    blockEviction(pod, blocked) {
      if (blocked) world.k3s.blockedEvictions.add(pod)
      else world.k3s.blockedEvictions.delete(pod)
    },
    clusters: () =>
      [...world.k3s.clusters.values()].map((cluster) => ({
        id: cluster.id,
        leader: cluster.members.get(cluster.leader ?? '')?.name,
        controllers: cluster.manager?.nodeName,
        revision: cluster.store.revision,
        etcd: cluster.version,
        members: [...cluster.members.values()].map((member) => ({
          id: member.id,
          name: member.name,
          learner: member.learner,
          up: isConnected(member),
          etcd: member.etcd,
        })),
        nodes: [...(cluster.store.tables.get('/nodes')?.keys() ?? [])],
      })),
    nodeFacts: (target) => facts(typeof target === 'number' ? computerOf(world, guest(target)) : box(target).computer),
  }
}
