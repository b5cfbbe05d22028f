import type { ClusterOperator, ClusterSurroundings } from '../../drivers/cluster-port.ts'
import type { ClusterTools } from '../../engine/clusters/sessions.ts'
import { endpointUrl } from '../../k3s/config.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import type { Store } from '../../store/port.ts'
import type { EngineOptions, Runtime } from '../runtime.ts'
import { CliError } from '../verb.ts'

/** A cluster as a command works on it. */
export interface OpenedCluster {
  readonly declaration: ClusterDeclaration
  readonly operator: ClusterOperator
  secrets(): Promise<ClusterSecrets | undefined>
  /** The secrets, encrypted, as text. */
  sealed(): Promise<string | undefined>
  /** Opens the shells of its nodes. */
  surroundings(): Promise<ClusterSurroundings>
  /** Observes the cluster without changing it. */
  look(): Promise<{ readonly observed: ObservedCluster; readonly surroundings: ClusterSurroundings }>
  close(): Promise<void>
}

/**
 * Opens one declared cluster. The engine finds the shells of its nodes, so that a command reaches them like the rest of
 * croft: through hypervisors and over SSH.
 */
export async function openCluster(
  runtime: Runtime,
  store: Store,
  options: EngineOptions,
  estate: Estate,
  declaration: ClusterDeclaration,
): Promise<OpenedCluster> {
  const { name } = declaration
  const [{ driver, deps }, engine] = await Promise.all([
    clusterTools(runtime, options),
    runtime.openEngine(store, options),
  ])
  const session = driver.connect(declaration, deps)
  const surroundings = async () => {
    const found = await engine.surroundings(estate, name, runtime.signal)
    if (found === undefined) throw new CliError(`There is no Cluster ${name}. Run croft get to see what there is.`)
    return found
  }
  return {
    declaration,
    operator: driver.operate(declaration, deps),
    secrets: () => deps.vault.read(name),
    sealed: async () => deps.vault.sealed?.seal(name),
    surroundings,
    async look() {
      const around = await surroundings()
      return { observed: await session.observe(around, runtime.signal), surroundings: around }
    },
    async close() {
      await session.close()
      await engine.close()
    },
  }
}

export async function clusterTools(runtime: Runtime, options: EngineOptions): Promise<ClusterTools> {
  const tools = await runtime.openClusters?.(options)
  if (tools === undefined) throw new CliError('Nothing here speaks to clusters. Use the croft that keeps them.')
  return tools
}

/** An entry of a kubeconfig for a person, good for so long. Undefined: the cluster has not been made. */
export async function kubeconfigEntry(
  runtime: Runtime,
  options: EngineOptions,
  cluster: ClusterDeclaration,
  lifeMs: number,
) {
  const { driver, deps } = await clusterTools(runtime, options)
  const credentials = await driver.operate(cluster, deps).credentials(lifeMs)
  return credentials === undefined
    ? undefined
    : { name: cluster.name, endpoint: endpointUrl(cluster.spec), ...credentials }
}
