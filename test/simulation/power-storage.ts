import type { EtcdCluster } from '../../src/sim/k3s/types.ts'
import { all, put, remove } from '../../src/sim/kubernetes/store.ts'
import type { Simulation } from './run.ts'

interface PodObject {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: {
    readonly nodeName?: string
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[]
  }
}

/** Storage that attaches a volume to the node of the pod that uses it, and takes it off a while after the pod is gone. */
export interface SimulatedStorage {
  /** Volumes of this claim stay attached whatever happens. */
  stick(claim: string | undefined): void
  /** Volumes that were on a node when its kubelet went away: what was written last may be lost. */
  readonly torn: readonly string[]
}

const TABLE = 'storage.k8s.io/volumeattachments'
const DETACH_MS = 800

export function attachStorage(simulation: Simulation, cluster: EtcdCluster): SimulatedStorage {
  const torn: string[] = []
  const leaving = new Set<string>()
  let stuck: string | undefined
  const { clock } = simulation

  const keep = () => {
    const pods = all(cluster.store, '/pods') as unknown as readonly PodObject[]
    const wanted = new Map<string, string>()
    for (const { spec } of pods) {
      for (const volume of spec.volumes ?? []) {
        const claim = volume.persistentVolumeClaim?.claimName
        if (claim !== undefined && spec.nodeName !== undefined) wanted.set(`${claim}.${spec.nodeName}`, spec.nodeName)
      }
    }
    const there = new Set(all(cluster.store, TABLE).map(({ metadata }) => metadata.name))
    for (const [name, nodeName] of wanted) {
      if (there.has(name)) continue
      put(cluster.store, TABLE, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name, uid: name },
        spec: { attacher: 'csi.example', nodeName, source: { persistentVolumeName: name } },
      })
    }
    for (const name of there) {
      if (wanted.has(name) || leaving.has(name)) continue
      leaving.add(name)
      clock.schedule(clock.now() + DETACH_MS, () => {
        leaving.delete(name)
        if (stuck === undefined || !name.startsWith(`${stuck}.`)) remove(cluster.store, TABLE, undefined, name)
        else keep()
      })
    }
  }
  cluster.store.listeners.add(({ resource }) => {
    if (resource === '/pods') clock.schedule(clock.now() + 10, keep)
  })

  const alive = new Set<string>()
  const watch = () => {
    const attached = all(cluster.store, TABLE) as unknown as readonly { readonly spec: { readonly nodeName: string } }[]
    for (const { spec } of attached) {
      const lives = cluster.kubelets.get(spec.nodeName)?.alive === true
      if (lives) alive.add(spec.nodeName)
      else if (alive.delete(spec.nodeName)) torn.push(spec.nodeName)
    }
    clock.schedule(clock.now() + 100, watch)
  }
  watch()
  return {
    torn,
    stick(claim) {
      stuck = claim
      if (claim === undefined) keep()
    },
  }
}
