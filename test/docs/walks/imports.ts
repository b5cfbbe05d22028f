import { type Kind, servedCluster } from '../cluster.ts'
import type { Walk } from '../reader.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
export const file = (name: string, text: string) => `mkdir -p "$(dirname ${name})"\ncat > ${name} <<'END'\n${text}\nEND`

const RELEASE = `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: podinfo, namespace: flux-system}
spec: {url: "https://stefanprodan.github.io/podinfo"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: web}
spec:
  releaseName: podinfo
  chart: {spec: {chart: podinfo, version: 6.9.2, sourceRef: {kind: HelmRepository, name: podinfo, namespace: flux-system}}}`

const APPLICATION = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: web}
  source: {repoURL: "https://charts.example.org", chart: web, targetRevision: 1.2.3}`

const MACHINE = `apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: ProxmoxMachine
metadata: {name: barn-control-plane-x7k2p}
spec: {virtualMachineID: 201, numCores: 2, numSockets: 1, memoryMiB: 2048}
status: {proxmoxNode: pve1, ready: true}`

const KUBEMOX = `apiVersion: proxmox.alperen.cloud/v1alpha1
kind: VirtualMachine
metadata: {name: web, namespace: default}
spec: {name: web, nodeName: pve1, template: {name: noble, cores: 2, socket: 1, memory: 2048}}
status: {status: {state: running, node: pve1, uptime: 1h, id: 201}}`

/** What the pages ask kubectl for, as far as its names are concerned. */
const KINDS: readonly Kind[] = [
  ['infrastructure.cluster.x-k8s.io', 'v1alpha1', 'proxmoxmachines', 'ProxmoxMachine', 'Namespaced'],
  ['cluster.x-k8s.io', 'v1beta1', 'clusters', 'Cluster', 'Namespaced'],
  ['cluster.x-k8s.io', 'v1beta1', 'machinedeployments', 'MachineDeployment', 'Namespaced'],
  ['controlplane.cluster.x-k8s.io', 'v1beta2', 'kthreescontrolplanes', 'KThreesControlPlane', 'Namespaced'],
  ['proxmox.alperen.cloud', 'v1alpha1', 'virtualmachines', 'VirtualMachine', 'Namespaced'],
  ['proxmox.alperen.cloud', 'v1alpha1', 'managedvirtualmachines', 'ManagedVirtualMachine', 'Namespaced'],
  ['proxmox.alperen.cloud', 'v1alpha1', 'containers', 'Container', 'Namespaced'],
  ['virtualenvironmentvm.crossplane.io', 'v1alpha1', 'environmentvms', 'EnvironmentVM', 'Cluster'],
  [
    'virtualenvironmentdownloadfile.crossplane.io',
    'v1alpha1',
    'environmentdownloadfiles',
    'EnvironmentDownloadFile',
    'Cluster',
  ],
  ['crossplane.io', 'v1beta1', 'providerconfigs', 'ProviderConfig', 'Cluster'],
]

const applied = (objects: string) => `kubectl apply -f - <<'END'\n${objects}\nEND`

export const STATE = JSON.stringify({
  version: 4,
  resources: [
    {
      mode: 'managed',
      type: 'proxmox_virtual_environment_vm',
      name: 'web',
      provider: 'provider["registry.terraform.io/bpg/proxmox"]',
      instances: [{ attributes: { id: '201', vm_id: 201, node_name: 'pve1', name: 'web', started: true } }],
    },
  ],
})

/** The pages about other tools: what each tool would have written is there, and croft reads it. */
export const IMPORTS: Walk = {
  name: 'imports from other tools',
  pages: [
    'docs/import/argocd.md',
    'docs/import/flux.md',
    'docs/import/cluster-api.md',
    'docs/import/kubemox.md',
    'docs/import/crossplane.md',
    'docs/import/terraform.md',
    'docs/import/k3s-ansible.md',
    'docs/import/k3sup.md',
  ],
  ground: `mkdir infra ~/.ssh
echo '192.168.14.2 ${KEY}' > ~/.ssh/known_hosts`,
  steps: {
    'croft import argocd repository/ --cluster home --write infra/argocd.yaml': {
      before: file('repository/web.yaml', APPLICATION),
      says: /Imported from repository\/: 1 object\./,
    },
    'croft import flux repository/ --cluster home --write infra/flux.yaml': {
      before: `rm -r repository\n${file('repository/clusters/staging/podinfo.yaml', RELEASE)}`,
      says: /: 1 object\./,
    },
    'croft import flux repository/ --cluster home --under clusters/staging': { says: /chart:/ },
    'kubectl get proxmoxmachines,clusters,kthreescontrolplanes,machinedeployments -A -o yaml > export.yaml': {
      before: `${servedCluster('tools', { name: 'cow', address: '192.168.14.2' }, KINDS)}\n${applied(MACHINE)}`,
    },
    'croft import cluster-api export.yaml --write infra/machines.yaml': { exit: 2, says: /: 1 object\./ },
    'kubectl get virtualmachines,containers,managedvirtualmachines -A -o yaml > export.yaml': {
      before: `rm infra/machines.yaml\n${applied(KUBEMOX)}`,
    },
    'croft import kubemox export.yaml --write infra/machines.yaml': { says: /: 1 object\./ },
    'kubectl get environmentvms,environmentdownloadfiles,providerconfigs -o yaml > export.yaml': {
      before: 'kubectl apply -f examples/homelab/machines/k3s-vm-fun-bedbug.yaml',
    },
    'croft import crossplane export.yaml --write infra/crossplane.yaml': { says: /: 1 object\./ },
    'terraform state pull > state.json': {
      typedIn: { test: 'test/clients/tofu.ts', as: "commandsOf('docs/import/terraform.md')" },
      before: file('state.json', STATE),
    },
    'croft import terraform state.json --write infra/terraform.yaml': { says: /: 1 object\./ },
    'cp ~/.ssh/known_hosts inventory/home/': {
      before: [
        file('inventory/home/hosts.ini', '[server]\ncow ansible_host=192.168.14.2'),
        file('inventory/home/group_vars/all.yml', 'k3s_version: v1.36.3+k3s1\nansible_user: k3s'),
      ].join('\n'),
    },
    'croft import k3s-ansible inventory/home --cluster home --write infra/home.yaml': { says: /: 2 objects\./ },
    'cp ~/.ssh/known_hosts cluster/': {
      before: file('cluster/up.sh', 'k3sup install --ip 192.168.14.2 --user k3s --k3s-version v1.36.3+k3s1'),
    },
    'kubectl get nodes -o json > cluster/nodes.json': { before: 'rm infra/home.yaml' },
    'croft import k3sup cluster --cluster home --write infra/home.yaml': { says: /: 2 objects\./ },
  },
}
