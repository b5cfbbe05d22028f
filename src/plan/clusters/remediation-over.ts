import type { ObservedCluster, Remediation } from '../../model/observed-cluster.ts'

/**
 * Nodes whose replacement has done what it was begun for: the machine that was to go has been seen to be gone, or the
 * node came back by itself. From then on a machine of this name is a new one, or one that nobody wants to lose. No clock
 * can tell that: the hypervisor's may be behind ours, and libvirt does not say when a machine was made. Pure.
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
