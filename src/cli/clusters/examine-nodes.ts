import type { ClusterSurroundings, NodeReach } from '../../drivers/cluster-port.ts'
import type { Check } from '../../drivers/port.ts'
import type { ClusterTools } from '../../engine/clusters/sessions.ts'
import type { ClusterDeclaration } from '../../model/cluster-declaration.ts'

/** What was found about one machine of a cluster. */
export interface ExaminedNode {
  readonly node: string
  readonly checks: readonly Check[]
}

/**
 * Looks at every machine of a cluster, over SSH or through its guest agent, one after the other. It names the ones that it
 * cannot get into.
 */
export async function* examineNodes(
  cluster: ClusterDeclaration,
  { nodes }: ClusterSurroundings,
  { driver, deps }: ClusterTools,
  signal: AbortSignal,
): AsyncGenerator<ExaminedNode> {
  for (const { name, role } of [...cluster.spec.servers, ...cluster.spec.agents]) {
    const reach = nodes.get(name)
    if (reach?.shell === undefined) yield { node: name, checks: [closedTo(name, role, reach)] }
    else yield { node: name, checks: await driver.examine(cluster, { node: name, role }, reach.shell, deps, signal) }
  }
}

/** Why nobody can get into a machine. One that does not exist yet is no fault: the next apply creates it. */
export function closedTo(node: string, role: 'server' | 'agent', reach: NodeReach | undefined): Check {
  const about = { about: 'hosts', code: 'no-access' } as const
  if (reach?.machine.exists === 'no')
    return {
      ...about,
      level: 'ok',
      found: `${node} (${role}): its machine does not exist yet, so there is nothing to check`,
    }
  const why =
    reach?.machine.power === 'off'
      ? 'its machine is off'
      : reach?.machine.exists === 'yes'
        ? 'nothing leads into its machine'
        : 'its machine cannot be seen now'
  return { ...about, level: 'warning', found: `${node} (${role}) was not checked: ${why}` }
}
