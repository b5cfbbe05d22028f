import { computerOf } from '../../sim/guest/life.ts'
import { isPodReady } from '../../sim/k3s/kubelet.ts'
import type { KubeObject } from '../../sim/kubernetes/object.ts'
import { all, put, remove } from '../../sim/kubernetes/store.ts'
import type { EtcdCluster, Machine } from '../../sim/world/types.ts'
import type { Simulation } from './run.ts'

/**
 * Storage in the cluster that it serves. A volume is attached to one node at a time and taken off it a while after the
 * last pod that uses it is gone. Each attached node writes to it all the time; a write is acknowledged when it is
 * on the disk of every node whose storage daemon runs, and is counted there.
 */
export interface SimulatedStorage {
  /** Keeps volumes of this claim attached until it is called without one. */
  stick(claim: string | undefined): void
  /** Volumes that were on a node when its kubelet went away: it was not unmounted in order. */
  readonly torn: string[]
  /** What must never happen: acknowledged writes that are on no disk any more, or two nodes that write at once. */
  lost(): readonly string[]
  acknowledged(claim: string): number
}

const TABLE = 'storage.k8s.io/volumeattachments'
const DETACH_MS = 800
const WRITE_MS = 500

export function attachStorage(simulation: Simulation, cluster: EtcdCluster): SimulatedStorage {
  const { clock } = simulation
  const torn: string[] = []
  const twice = new Set<string>()
  const counts = new Map<string, number>()
  const leaving = new Set<string>()
  const alive = new Set<string>()
  let stuck: string | undefined

  const lives = (node: string) => cluster.kubelets.get(node)?.alive === true
  const attachments = () => all(cluster.store, TABLE) as unknown as readonly Attachment[]
  const diskOf = (node: string): Machine | undefined => {
    const { world } = simulation.datacentre
    const guest = [...world.guests.values()].find((one) => one.config.get('name') === node)
    return guest === undefined ? undefined : (guest.machine ?? computerOf(world, guest).machine)
  }

  const keep = () => {
    const wanted = claimsInUse(cluster)
    const there = attachments()
    for (const [name, { claim, node }] of wanted) {
      // One node at a time: the next one waits until it is off the one before.
      if (there.some(({ metadata }) => metadata.name.startsWith(`${claim}.`))) continue
      put(cluster.store, TABLE, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name, uid: name },
        spec: { attacher: 'csi.example', nodeName: node, source: { persistentVolumeName: claim } },
      })
    }
    for (const { metadata } of there) {
      const { name } = metadata
      if (wanted.has(name) || leaving.has(name)) continue
      leaving.add(name)
      clock.schedule(clock.now() + DETACH_MS, () => {
        leaving.delete(name)
        if (claimsInUse(cluster).has(name)) return
        // It stays attached, since its attacher does not run.
        if (!attacherRuns(cluster)) return
        if (stuck === undefined || !name.startsWith(`${stuck}.`)) remove(cluster.store, TABLE, undefined, name)
        keep()
      })
    }
  }
  cluster.store.listeners.add(({ resource }) => {
    if (resource === '/pods') clock.schedule(clock.now() + 10, keep)
  })

  const watch = () => {
    for (const { spec } of attachments()) {
      if (lives(spec.nodeName)) alive.add(spec.nodeName)
      else if (alive.delete(spec.nodeName)) torn.push(spec.nodeName)
    }
    clock.schedule(clock.now() + 100, watch)
  }
  watch()

  const write = () => {
    const disks = daemons(cluster)
      .filter((node) => lives(node))
      .flatMap((node) => diskOf(node) ?? [])
    const writers = new Map<string, Set<string>>()
    for (const [name, { claim, node, ready }] of claimsInUse(cluster)) {
      const attached = attachments().some(({ metadata, spec }) => metadata.name === name && spec.nodeName === node)
      if (ready && lives(node) && attached) writers.set(claim, (writers.get(claim) ?? new Set()).add(node))
    }
    for (const [claim, nodes] of writers) {
      if (nodes.size > 1) twice.add(`${claim} is written by ${[...nodes].join(' and ')}`)
      if (disks.length === 0) continue
      const next = (counts.get(claim) ?? 0) + 1
      for (const { files } of disks) files.write(placeOf(claim), String(next))
      counts.set(claim, next)
    }
    clock.schedule(clock.now() + WRITE_MS, write)
  }
  write()

  return {
    torn,
    acknowledged: (claim) => counts.get(claim) ?? 0,
    stick(claim) {
      stuck = claim
      if (claim === undefined) keep()
    },
    lost() {
      const nodes = all(cluster.store, '/nodes').map(({ metadata }) => metadata.name)
      const missing = [...counts].flatMap(([claim, count]) => {
        const kept = nodes.map((node) => Number(diskOf(node)?.files.text(placeOf(claim)) ?? 0))
        return Math.max(0, ...kept) < count
          ? [`${claim}: ${count} writes were acknowledged, ${kept.join(', ')} kept`]
          : []
      })
      return [...twice, ...missing]
    },
  }
}

function placeOf(claim: string): string {
  return `/var/lib/storage/${claim}`
}

interface Attachment {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly nodeName: string }
}

interface Use {
  readonly claim: string
  readonly node: string
  readonly ready: boolean
}

/** Which volumes are wanted where, by the name of their attachment. */
function claimsInUse(cluster: EtcdCluster): ReadonlyMap<string, Use> {
  const wanted = new Map<string, Use>()
  for (const pod of all(cluster.store, '/pods')) {
    const spec = pod.spec as PodSpec
    for (const volume of spec.volumes ?? []) {
      const claim = volume.persistentVolumeClaim?.claimName
      if (claim === undefined || spec.nodeName === undefined) continue
      wanted.set(`${claim}.${spec.nodeName}`, { claim, node: spec.nodeName, ready: isPodReady(pod) })
    }
  }
  return wanted
}

interface PodSpec {
  readonly nodeName?: string
  readonly containers?: readonly { readonly name: string }[]
  readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[]
}

/** Does anybody run who detaches volumes? */
function attacherRuns(cluster: EtcdCluster): boolean {
  return all(cluster.store, '/pods').some(
    (pod) => isPodReady(pod) && JSON.stringify((pod.spec as PodSpec).containers).includes('"csi-attacher"'),
  )
}

/** Nodes on which a daemon of the storage system runs. */
function daemons(cluster: EtcdCluster): readonly string[] {
  const isDaemon = ({ metadata }: KubeObject) =>
    metadata.namespace === 'rook-ceph' && metadata.name.startsWith('rook-ceph-osd')
  return all(cluster.store, '/pods')
    .filter((pod) => isDaemon(pod) && isPodReady(pod))
    .flatMap((pod) => (pod.spec as PodSpec).nodeName ?? [])
}
