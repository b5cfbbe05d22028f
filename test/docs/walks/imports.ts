import type { Walk } from '../reader.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
const CLUSTER = "a cluster of that tool; the file that it would print is the reader's own here"
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

const HETZNER = `hetzner_token: word
cluster_name: prod
k3s_version: v1.34.3+k3s1
networking: {ssh: {port: 22, use_agent: false, private_key_path: ~/.ssh/id_ed25519}}
masters_pool: {instance_type: cpx22, instance_count: 1, locations: [fsn1]}`

const node = (name: string, type: string, address: string) =>
  JSON.stringify({
    kind: 'List',
    items: [
      {
        kind: 'Node',
        metadata: { name, labels: { 'node-role.kubernetes.io/control-plane': 'true' } },
        status: { addresses: [{ type, address }], nodeInfo: { kubeletVersion: 'v1.34.3+k3s1' } },
      },
    ],
  })

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
    'docs/import/hetzner-k3s.md',
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
      left: CLUSTER,
      before: file('export.yaml', MACHINE),
    },
    'croft import cluster-api export.yaml --write infra/machines.yaml': { exit: 2, says: /: 1 object\./ },
    'kubectl get virtualmachines,containers,managedvirtualmachines -A -o yaml > export.yaml': {
      left: CLUSTER,
      before: `rm infra/machines.yaml\n${file('export.yaml', KUBEMOX)}`,
    },
    'croft import kubemox export.yaml --write infra/machines.yaml': { says: /: 1 object\./ },
    'kubectl get environmentvms,environmentdownloadfiles,providerconfigs -o yaml > export.yaml': {
      left: CLUSTER,
      before: 'cp examples/homelab/machines/k3s-vm-fun-bedbug.yaml export.yaml',
    },
    'croft import crossplane export.yaml --write infra/crossplane.yaml': { says: /: 1 object\./ },
    'terraform state pull > state.json': { left: 'a state of somebody', before: file('state.json', STATE) },
    'croft import terraform state.json --write infra/terraform.yaml': { says: /: 1 object\./ },
    'cp ~/.ssh/known_hosts inventory/home/': {
      before: [
        file('inventory/home/hosts.ini', '[server]\ncow ansible_host=192.168.14.2'),
        file('inventory/home/group_vars/all.yml', 'k3s_version: v1.34.3+k3s1\nansible_user: k3s'),
      ].join('\n'),
    },
    'kubectl get nodes -o json > inventory/home/nodes.json': {
      left: CLUSTER,
      before: file('inventory/home/nodes.json', node('cow', 'InternalIP', '192.168.14.2')),
    },
    'croft import k3s-ansible inventory/home --cluster home --write infra/home.yaml': { says: /: 2 objects\./ },
    'cp ~/.ssh/known_hosts cluster/': {
      before: file('cluster/up.sh', 'k3sup install --ip 192.168.14.2 --user k3s --k3s-version v1.34.3+k3s1'),
    },
    'docs/import/k3sup.md: kubectl get nodes -o json > cluster/nodes.json': {
      left: CLUSTER,
      before: `rm infra/home.yaml\n${file('cluster/nodes.json', node('cow', 'InternalIP', '192.168.14.2'))}`,
    },
    'croft import k3sup cluster --cluster home --write infra/home.yaml': { says: /: 2 objects\./ },
    'docs/import/hetzner-k3s.md: kubectl get nodes -o json > cluster/nodes.json': {
      left: CLUSTER,
      before: [
        'rm -r cluster',
        file('cluster/cluster.yaml', HETZNER),
        file('cluster/nodes.json', node('prod-master1', 'ExternalIP', '203.0.113.11')),
      ].join('\n'),
    },
    'ssh-keyscan 203.0.113.11 > cluster/known_hosts': {
      left: 'computers at Hetzner',
      before: file('cluster/known_hosts', `203.0.113.11 ${KEY}`),
    },
    'croft import hetzner-k3s cluster --write infra/cluster.yaml': { exit: 2, says: /: 2 objects\./ },
  },
}
