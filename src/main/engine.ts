import type { EngineOptions } from '../cli/runtime.ts'
import type { DriverDeps, KubernetesWay } from '../drivers/port.ts'
import type { Engine } from '../engine/engine.ts'
import { defined } from '../lib/defined.ts'
import type { ExistingCluster } from '../model/estate.ts'
import type { Store } from '../store/port.ts'
import { chartsFor, releasesFor } from './charts.ts'
import { openClusters } from './clusters.ts'
import { driverDepsFor, loadDrivers, type Warn } from './drivers.ts'
import { openPower } from './power.ts'

/** Opened on first use, like the way to every other cluster. */
function wayToExisting(existing: ExistingCluster, options: EngineOptions, deps: DriverDeps): KubernetesWay {
  let way: Promise<KubernetesWay> | undefined
  const open = async () => {
    const [{ existingWay }, { existingTools }] = await Promise.all([
      import('../drivers/kubernetes/existing-way.ts'),
      import('./existing-clusters.ts'),
    ])
    return existingWay(existing, await existingTools(options.env ?? process.env, deps))
  }
  return {
    async find(signal) {
      way ??= open()
      return (await way).find(signal)
    },
    others: {
      async login(signal) {
        way ??= open()
        const { others } = await way
        return (await others?.login(signal)) ?? { problem: `nobody logs in to ${existing.name} from here` }
      },
    },
    lost: () => void way?.then((one) => one.lost()),
    close: async () => (await way)?.close(),
  }
}

export async function openEngine(store: Store, options: EngineOptions, warn: Warn): Promise<Engine> {
  const [{ createEngine }, drivers, plain, { kubernetesWay }] = await Promise.all([
    import('../engine/create.ts'),
    loadDrivers(),
    driverDepsFor(options, warn),
    import('../drivers/k3s/kubernetes-way.ts'),
  ])
  const charts = chartsFor(options)
  const driverDeps: DriverDeps = {
    ...plain,
    ...defined({ charts }),
    helm: releasesFor(options.env),
    kubernetes({ cluster, existing, name }) {
      if (existing !== undefined) return wayToExisting(existing, options, plain)
      if (cluster === undefined) throw new Error(`${name} is not a cluster`)
      return kubernetesWay(cluster, async () => (await openClusters(options, plain)).deps)
    },
  }
  return createEngine({
    clock: driverDeps.clock,
    random: driverDeps.random,
    store,
    drivers,
    driverDeps,
    // Only plans of pull requests skip charts that were not fetched before.
    untriedSecrets: options.charts === 'known',
    clusters: () => openClusters(options, driverDeps),
    power: () => openPower(driverDeps),
    network: async (probe, signal) => {
      const { networkProbes } = await import('../controller/checks/probes.ts')
      return networkProbes(driverDeps.resolveSecret)(probe, signal)
    },
    ...defined({ retryStalled: options.retryStalled, epoch: options.epoch, otherClocks: options.otherClocks }),
  })
}
