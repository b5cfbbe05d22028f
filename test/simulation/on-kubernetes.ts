import { type KubernetesLab, oneApi } from '../../sim/testing/kubernetes-lab.ts'
import { createKubernetesClient } from '../../src/kubernetes/client.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { openKubernetesStore } from '../../src/store/kubernetes.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { type Simulation, type SimulationOptions, simulate } from './run.ts'

let shared: Promise<KubernetesLab> | undefined
let stores = 0

/** A simulation with its store in a Kubernetes API: a power cut also ends a write to the store in the middle. */
export interface OnKubernetes {
  readonly run: Simulation
  /** The oracles read a disk in memory: shows them what the store holds now. */
  look(): Promise<void>
  /** The next process finds an empty store. */
  lose(): void
}

export async function onKubernetes(options: Omit<SimulationOptions, 'openStore'>): Promise<OnKubernetes> {
  shared ??= oneApi()
  const api = await shared
  let name = `run-${stores++}`
  const random = seededRandom(options.seed)
  const open = (wire = api.wire()): Store =>
    openKubernetesStore({ client: createKubernetesClient(wire), namespace: 'default', name, random })
  const run = simulate({ ...options, openStore: (mortal) => open(mortal(api.wire())) })
  return {
    run,
    lose() {
      name = `run-${stores++}`
    },
    async look() {
      const store = open()
      const { disk } = createMemoryStore()
      for (const record of await store.records()) disk.records.set(record.key, record)
      for (const intention of await store.intentions()) disk.intentions.set(intention.id, intention)
      run.disk = disk
    },
  }
}
