import type { ObservedCluster, Remediation } from '../../model/observed-cluster.ts'

/**
 * Returns nodes whose replacement has achieved its purpose: the old machine was seen to be gone, or the node recovered
 * by itself. From then on a machine of this name is a new one or a healthy one, and must not be lost. No clock can tell
 * that: the hypervisor's may be behind ours, and libvirt does not report when a machine was created. Pure.
 */
export function remediationsOver(
  remediations: ReadonlyMap<string, Remediation>,
  { nodes }: Pick<ObservedCluster, 'nodes'>,
): readonly string[] {
  return nodes
    .filter(({ name, machine, kube }) => {
      const begun = remediations.get(name)
      if (begun === undefined || begun.over === true) return false
      const well = typeof kube === 'object' && kube.ready === 'yes' && kube.work === undefined
      return machine.exists === 'no' || well
    })
    .map(({ name }) => name)
}
