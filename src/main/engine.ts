import type { EngineOptions } from '../cli/runtime.ts'
import type { DriverDeps } from '../drivers/port.ts'
import type { Engine } from '../engine/engine.ts'
import { defined } from '../lib/defined.ts'
import type { Store } from '../store/port.ts'
import { chartsFor } from './charts.ts'
import { openClusters } from './clusters.ts'
import { driverDepsFor, loadDrivers, type Warn } from './drivers.ts'
import { openPower } from './power.ts'

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
    kubernetes({ cluster, name }) {
      if (cluster === undefined) throw new Error(`${name} is no cluster`)
      return kubernetesWay(cluster, async () => (await openClusters(options, plain)).deps)
    },
  }
  return createEngine({
    clock: driverDeps.clock,
    random: driverDeps.random,
    store,
    drivers,
    driverDeps,
    clusters: () => openClusters(options, driverDeps),
    power: () => openPower(driverDeps),
    network: async (probe, signal) => {
      const { networkProbes } = await import('../controller/probes.ts')
      return networkProbes(driverDeps.resolveSecret)(probe, signal)
    },
    ...defined({ retryStalled: options.retryStalled, epoch: options.epoch }),
  })
}
