import { createHash } from 'node:crypto'
import { compareEtcd } from '../../src/k3s/version.ts'
import { createStore, type Frozen, freeze } from '../kubernetes/store.ts'
import { between, hexDigits } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess, Member, World } from '../world/types.ts'
import type { Bootstrap, Encryption } from './types.ts'

export interface NewCluster {
  readonly bootstrap: Bootstrap
  readonly encryption: Encryption
  readonly config: ReadonlyMap<string, readonly string[]>
  readonly frozen?: Frozen
  readonly podCidrs?: number
  readonly etcd: string
}

export function createEtcd(world: World, made: NewCluster): EtcdCluster {
  const cluster: EtcdCluster = {
    id: hexDigits(world.random, 16),
    members: new Map(),
    leader: undefined,
    election: undefined,
    tickPhaseMs: 0,
    tick: undefined,
    store: createStore(made.frozen),
    bootstrap: made.bootstrap,
    encryption: made.encryption,
    config: made.config,
    version: minorOf(made.etcd),
    removed: [],
    membershipChanged: false,
    manager: undefined,
    managerTimer: undefined,
    waiting: new Set(),
    reconcile: undefined,
    podCidrs: made.podCidrs ?? 0,
    kubelets: new Map(),
    quorumExits: new Map(),
  }
  world.k3s.clusters.set(cluster.id, cluster)
  return cluster
}

export function minorOf(etcd: string): string {
  return etcd.split('.').slice(0, 2).join('.')
}

export function newMember(world: World, cluster: EtcdCluster, process: K3sProcess, learner: boolean): Member {
  const drawn = hexDigits(world.random, 16)
  const member: Member = {
    // etcd derives the id of a first member from its address alone: a second cluster that begins there has the same.
    id: cluster.members.size === 0 ? firstMemberId(process) : drawn,
    name: `${process.nodeName}-${hexDigits(world.random, 8)}`,
    address: process.nodeIps[0] ?? '',
    learner,
    addedMs: world.clock.now(),
    process: undefined,
    connectedSinceMs: 0,
    etcd: process.etcd,
    repaired: compareEtcd(process.etcd, '3.5.26') >= 0,
  }
  cluster.members.set(member.id, member)
  return member
}

function firstMemberId({ nodeIps }: K3sProcess): string {
  return createHash('sha1')
    .update(`https://${nodeIps[0] ?? ''}:2380`)
    .digest('hex')
    .slice(0, 16)
}

export function voters(cluster: EtcdCluster): readonly Member[] {
  return [...cluster.members.values()].filter(({ learner }) => !learner)
}

export function isConnected({ process }: Member): boolean {
  return process?.alive === true && process.phase !== 'removed' && process.computer.isUp()
}

export function majority(count: number): number {
  return Math.floor(count / 2) + 1
}

export function hasQuorum(cluster: EtcdCluster): boolean {
  const all = voters(cluster)
  return all.length > 0 && all.filter(isConnected).length >= majority(all.length)
}

/** Can something be committed right now? */
export function isWritable(cluster: EtcdCluster): boolean {
  return cluster.leader !== undefined && hasQuorum(cluster)
}

/** The member's etcd runs: it votes, and may make a leader possible. */
export function memberUp(world: World, cluster: EtcdCluster, member: Member, process: K3sProcess): void {
  member.process = process
  member.connectedSinceMs = world.clock.now()
  member.etcd = process.etcd
  if (compareEtcd(process.etcd, '3.5.26') >= 0 && compareEtcd(process.etcd, '3.6.0') < 0) member.repaired = true
  world.k3s.disks.delete(diskKey(cluster, member.id))
  raiseVersion(cluster)
  settle(world, cluster)
}

export function diskKey(cluster: Pick<EtcdCluster, 'id'>, member: string): string {
  return `${cluster.id}/${member}`
}

/** The member's etcd has stopped. What it holds stays on its disk as it is now. `planned`: it handed over first. */
export function memberDown(world: World, cluster: EtcdCluster, id: string, planned: boolean): void {
  const member = cluster.members.get(id)
  world.k3s.disks.set(diskKey(cluster, id), freeze(cluster.store))
  if (member !== undefined) member.process = undefined
  if (cluster.leader === id) {
    cluster.leader = undefined
    const wait = planned ? ([world.k3s.timing.transferMs, world.k3s.timing.transferMs] as const) : undefined
    elect(world, cluster, wait ?? world.k3s.timing.electionMs)
  }
  settle(world, cluster)
}

/** A member can be reached again, or no longer, without having been stopped. */
export function connectionChanged(world: World, cluster: EtcdCluster, id: string): void {
  const member = cluster.members.get(id)
  if (member === undefined) return
  if (isConnected(member)) member.connectedSinceMs = world.clock.now()
  else if (cluster.leader === id) {
    cluster.leader = undefined
    elect(world, cluster, world.k3s.timing.electionMs)
  }
  settle(world, cluster)
  planTick(world, cluster)
}

/** Sees to it that there is a leader where there can be one, and that those who cannot do without one give up. */
export function settle(world: World, cluster: EtcdCluster): void {
  if (!hasQuorum(cluster)) {
    cluster.election?.cancel()
    cluster.election = undefined
    cluster.leader = undefined
    for (const { process } of cluster.members.values()) if (process?.alive) lostQuorum(world, cluster, process)
    return
  }
  if (cluster.leader === undefined && cluster.election === undefined)
    elect(world, cluster, voters(cluster).length === 1 ? [900, 1_100] : [1_000, 6_000])
}

function elect(world: World, cluster: EtcdCluster, afterMs: readonly [number, number]): void {
  if (!hasQuorum(cluster) || cluster.election !== undefined) return
  cluster.election = world.clock.schedule(world.clock.now() + between(world.random, afterMs), () => {
    cluster.election = undefined
    const able = voters(cluster).filter(isConnected)
    if (!hasQuorum(cluster)) return
    cluster.leader = able[between(world.random, [0, able.length - 1])]?.id
    cluster.tickPhaseMs = world.clock.now()
    becameWritable(world, cluster)
  })
}

function becameWritable(world: World, cluster: EtcdCluster): void {
  for (const timer of cluster.quorumExits.values()) timer.cancel()
  cluster.quorumExits.clear()
  for (const { process } of cluster.members.values()) if (process !== undefined) process.sickSinceMs = undefined
  const waiting = [...cluster.waiting]
  cluster.waiting.clear()
  for (const go of waiting) go()
  planTick(world, cluster)
}

/** Probes turn to 500; the one that leads the controllers cannot renew its lease and ends itself. */
function lostQuorum(world: World, cluster: EtcdCluster, process: K3sProcess): void {
  if (process.sickSinceMs !== undefined || process.phase === 'removed') return
  process.sickSinceMs = world.clock.now()
  if (cluster.manager !== process || process.phase !== 'ready') return
  const timer = world.clock.schedule(world.clock.now() + world.k3s.timing.quorumExitMs, () => {
    cluster.quorumExits.delete(process)
    if (process.alive && !isWritable(cluster)) process.exit(1, 'fatal', 'leaderelection lost')
  })
  cluster.quorumExits.set(process, timer)
}

/** Why a member cannot be added now, in etcd's words. */
export function addRefusal(world: World, cluster: EtcdCluster): string | undefined {
  if (!isWritable(cluster)) return 'context deadline exceeded'
  if ([...cluster.members.values()].some(({ learner }) => learner))
    return 'etcdserver: too many learner members in cluster'
  const all = voters(cluster)
  const connected = all.filter((member) => isLongConnected(world, cluster, member)).length
  const leader = cluster.members.get(cluster.leader ?? '')
  const relaxed = compareEtcd(leader?.etcd ?? '', '3.6.11') >= 0
  const enough = relaxed ? all.length === 1 || connected >= majority(all.length + 1) : connected === all.length
  return enough ? undefined : 'etcdserver: unhealthy cluster'
}

/** Why a member cannot be removed now, in etcd's words. */
export function removeRefusal(world: World, cluster: EtcdCluster, id: string): string | undefined {
  const member = cluster.members.get(id)
  if (member === undefined) return 'etcdserver: member not found'
  if (!isWritable(cluster)) return 'context deadline exceeded'
  if (member.learner) return undefined
  const all = voters(cluster)
  const started = all.filter((one) => one !== member && isConnected(one)).length
  if (started < majority(all.length - 1)) {
    return 'etcdserver: re-configuration failed due to not enough started members'
  }
  const connected = all.filter((one) => isLongConnected(world, cluster, one)).length
  if (isConnected(member) && connected - 1 < 1 + Math.floor((all.length - 1) / 2))
    return 'etcdserver: unhealthy cluster'
  return undefined
}

const CONNECTED_MS = 5_000

function isLongConnected(world: World, cluster: EtcdCluster, member: Member): boolean {
  if (member.id === cluster.leader) return true
  return isConnected(member) && world.clock.now() - member.connectedSinceMs >= CONNECTED_MS
}

/** Takes a member out. Answers what refused it. */
export function removeMember(world: World, cluster: EtcdCluster, id: string): string | undefined {
  const refused = removeRefusal(world, cluster, id)
  if (refused !== undefined) return refused
  const member = cluster.members.get(id)
  if (member === undefined) return undefined
  cluster.members.delete(id)
  cluster.membershipChanged = true
  if (!member.learner) cluster.removed.push({ id, name: member.name, address: member.address })
  world.k3s.disks.delete(diskKey(cluster, id))
  if (cluster.leader === id) {
    // It hands over before it goes.
    cluster.leader = voters(cluster).find(isConnected)?.id
    cluster.tickPhaseMs = world.clock.now()
  }
  settle(world, cluster)
  planTick(world, cluster)
  return undefined
}

/**
 * The cluster speaks the least version that all its members have. On the upgrade from 3.5 to 3.6 the new list of members
 * becomes the valid one; unless repaired, it still holds removed members.
 */
function raiseVersion(cluster: EtcdCluster): void {
  const all = [...cluster.members.values()]
  if (cluster.version !== '3.5' || all.some(({ etcd }) => compareEtcd(etcd, '3.6.0') < 0)) return
  cluster.version = '3.6'
  if (all.every(({ repaired }) => repaired)) return
  for (const { id, name, address } of cluster.removed.splice(0)) {
    const zombie: Member = {
      id,
      name,
      address,
      learner: false,
      addedMs: 0,
      process: undefined,
      connectedSinceMs: 0,
      etcd: '',
      repaired: true,
    }
    cluster.members.set(id, zombie)
  }
}

/** What the leader does each fifteen seconds, planned only while there is something to do. */
const tickers = new Set<(world: World, cluster: EtcdCluster) => boolean>()

export function onTick(fn: (world: World, cluster: EtcdCluster) => boolean): void {
  tickers.add(fn)
}

export function nextTickMs(world: World, cluster: EtcdCluster): number {
  const { learnerTickMs } = world.k3s.timing
  const passed = world.clock.now() - cluster.tickPhaseMs
  return cluster.tickPhaseMs + (Math.floor(passed / learnerTickMs) + 1) * learnerTickMs
}

export function planTick(world: World, cluster: EtcdCluster): void {
  if (cluster.tick !== undefined || !isWritable(cluster)) return
  cluster.tick = world.clock.schedule(nextTickMs(world, cluster), () => {
    cluster.tick = undefined
    if (!isWritable(cluster)) return
    let more = false
    for (const ticker of tickers) if (ticker(world, cluster)) more = true
    if (more) planTick(world, cluster)
  })
}

/** Calls back as soon as something can be committed; now if it can be now. Answers how to call it off. */
export function whenWritable(cluster: EtcdCluster, go: () => void): () => void {
  if (isWritable(cluster)) {
    go()
    return () => undefined
  }
  cluster.waiting.add(go)
  return () => cluster.waiting.delete(go)
}
