import { type OperatorGuest, type OperatorObject, readGuestObjects, sizeFields } from '../guest-objects.ts'
import type { ForeignFormat } from '../reading.ts'

/** Objects of Cluster API: machines of its provider for Proxmox are taken over by their number. */
export const clusterApi: ForeignFormat = {
  name: 'cluster-api',
  about:
    'objects of a management cluster with Cluster API, its provider for Proxmox and that for K3s: kubectl get proxmoxmachines,clusters,… -A -o yaml',
  groups: /(?:^|\.)cluster\.x-k8s\.io\//,
  read: (files) => readGuestObjects(files, /(?:^|\.)cluster\.x-k8s\.io\//, judge),
}

const BY_NODES =
  'croft keeps a cluster by its nodes: write a Host for each (croft host enroll) and a Cluster with them, and its first plan takes it over'

/** Reasons why objects other than Proxmox machines are not converted. */
const OTHERS: Readonly<Record<string, string>> = {
  Cluster: BY_NODES,
  ProxmoxCluster: 'addresses belong to an AddressPool, the endpoint of the API to endpoint of the Cluster',
  KThreesControlPlane: `${BY_NODES}; its version and flags are read from the nodes`,
  KThreesConfig: 'cloud-init of a node that is there already; croft writes its own for new ones',
  KThreesConfigTemplate: 'agentConfig is flags of agents in the Cluster; the nodes say what they run with',
  KubeadmControlPlane: 'it is not K3s: declare the cluster as type existing, and its add-ons',
  KubeadmConfig: 'it is not K3s: declare the cluster as type existing, and its add-ons',
  KubeadmConfigTemplate: 'it is not K3s: declare the cluster as type existing, and its add-ons',
  Machine: 'its ProxmoxMachine is what runs: that one is taken over',
  MachineSet: 'croft has no sets: each Machine of a Cluster is declared',
  MachineDeployment: 'croft has no sets: each Machine of a Cluster is declared',
  MachineHealthCheck: 'write a HealthCheck; croft replaces no machine by itself',
  ProxmoxMachineTemplate: 'a template of machines that are to be made: write a MachineClass',
  ClusterResourceSet: 'what it applies is an Addon of the Cluster',
}

function judge({ kind, name, spec, status }: OperatorObject): OperatorGuest | { readonly why: string } {
  if (kind !== 'ProxmoxMachine') return { why: OTHERS[kind] ?? 'croft has no kind for it' }
  const { virtualMachineID: id } = spec
  const { proxmoxNode: node } = status
  const tags = Array.isArray(spec.tags) ? spec.tags.filter((one) => typeof one === 'string') : []
  return {
    kind: 'EnvironmentVM',
    node: typeof node === 'string' ? node : undefined,
    id: typeof id === 'number' && id > 0 ? id : undefined,
    // The provider calls the VM as its object is called.
    fields: { name, ...sizeFields(spec.numCores, spec.numSockets, spec.memoryMiB) },
    without: [
      ...['disks', 'network', 'metadataSettings'].flatMap((field) =>
        spec[field] === undefined ? [] : [`${field} is not declared and stays as it is`],
      ),
      ...(tags.length === 0 ? [] : ['tags are not declared and stay as they are']),
      'delete the Machine from Cluster API only after its controllers are gone: with the object they delete the VM',
    ],
  }
}
