import { isFields } from '../../manifest.ts'
import { kubeNodes, type ListedNode } from '../ansible/listed-nodes.ts'
import { type MadeHost, madeInventory } from '../ansible/made-inventory.ts'
import { documentsIn } from '../documents.ts'
import { chosenFiles, type Fields, type ForeignFormat, type NotCarried } from '../reading.ts'
import { readInventory } from './k3s-ansible.ts'

/** The configuration of hetzner-k3s. Hetzner chose the addresses of the nodes, so Kubernetes has to say which they are. */
export const hetznerK3s: ForeignFormat = {
  name: 'hetzner-k3s',
  about: 'the directory of a configuration of hetzner-k3s, with nodes.json (kubectl get nodes -o json) and known_hosts',
  names: /^known_hosts$/i,
  read(files, options) {
    const configs = chosenFiles(files, options.under).flatMap(({ path, text }) =>
      (documentsIn(text) ?? [])
        .filter(isFields)
        .filter(isConfig)
        .map((config) => ({ path, config })),
    )
    const [one, second] = configs
    if (one === undefined) return { problem: 'no configuration with masters_pool and k3s_version is among the files' }
    if (second !== undefined)
      return {
        problem: `there are several configurations, ${one.path} and ${second.path}; choose one with --under, like --under ${one.path}`,
      }
    const nodes = kubeNodes(files)
    if (nodes.length === 0)
      return {
        problem:
          'the configuration does not say which addresses the nodes got. Put the output of kubectl get nodes -o json beside it as nodes.json',
      }
    const { config } = one
    const servers = nodes.filter(({ role }) => role === 'server')
    const hosts = nodes.map((node) => hostOf(node, config))
    const found = madeInventory(
      one.path,
      hosts,
      {
        k3s_version: config.k3s_version,
        cluster_context: config.cluster_name,
        api_endpoint: config.api_server_hostname ?? addressOf(servers[0], config),
        ...(at(config, 'datastore', 'mode') === 'external' ? { use_external_database: true } : {}),
      },
      leftOut(config),
    )
    return 'problem' in found ? found : readInventory(found, files, options.cluster)
  },
}

function isConfig(config: Readonly<Record<string, unknown>>): boolean {
  return isFields(config.masters_pool) && typeof config.k3s_version === 'string'
}

/** Returns the value at a path of keys, or undefined. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (here, key) => (isFields(here) && Object.hasOwn(here, key) ? here[key] : undefined),
    value,
  )
}

function addressOf(node: ListedNode | undefined, config: Fields): string | undefined {
  const inside = at(config, 'networking', 'ssh', 'use_private_ip') === true
  return inside ? (node?.internal ?? node?.external) : (node?.external ?? node?.internal)
}

function hostOf(node: ListedNode, config: Fields): MadeHost {
  const ssh = at(config, 'networking', 'ssh')
  const port = at(ssh, 'port')
  const key = at(ssh, 'private_key_path')
  const address = addressOf(node, config)
  const server = node.role === 'server'
  return {
    name: node.name,
    role: node.role,
    variables: {
      ansible_host: address ?? node.name,
      ansible_user: 'root',
      ...(typeof port === 'number' && port !== 22 ? { ansible_port: port } : {}),
      ...(typeof key === 'string' && at(ssh, 'use_agent') !== true ? { ansible_ssh_private_key_file: key } : {}),
      [server ? 'extra_server_args' : 'extra_agent_args']: [
        ...(server ? serverArgs(config) : []),
        ...kubeletArgs(config),
        ...(node.internal === undefined ? [] : [`--node-ip=${node.internal}`]),
        ...(node.external === undefined ? [] : [`--node-external-ip=${node.external}`]),
      ].join(' '),
    },
  }
}

/** The flags that hetzner-k3s starts its servers with, as far as the configuration says them. */
function serverArgs(config: Fields): readonly string[] {
  const network = at(config, 'networking')
  const text = (field: string) => {
    const value = at(network, field)
    return typeof value === 'string' ? value : undefined
  }
  const domain = text('cluster_domain')
  const cni = at(network, 'cni', 'mode') ?? 'flannel'
  const isOn = (addon: string, otherwise: boolean) => {
    const said = at(config, 'addons', addon, 'enabled')
    return typeof said === 'boolean' ? said : otherwise
  }
  const cniOn = at(network, 'cni', 'enabled') !== false
  const flannel = cniOn && cni === 'flannel'
  const kubeProxy = cniOn && cni === 'cilium' ? false : at(network, 'cni', 'flannel', 'disable_kube_proxy') !== true
  const backend = flannel
    ? at(network, 'cni', 'encryption') === false
      ? []
      : ['--flannel-backend=wireguard-native']
    : ['--flannel-backend=none', '--disable-network-policy', ...(kubeProxy ? [] : ['--disable-kube-proxy'])]
  const off = [
    ...(isOn('traefik', false) ? [] : ['traefik']),
    ...(isOn('servicelb', false) ? [] : ['servicelb']),
    ...(isOn('metrics_server', false) ? [] : ['metrics-server']),
    ...(isOn('local_path_storage_class', false) ? [] : ['local-storage']),
  ]
  return [
    '--disable-cloud-controller',
    `--cluster-cidr=${text('cluster_cidr') ?? '10.244.0.0/16'}`,
    `--service-cidr=${text('service_cidr') ?? '10.43.0.0/16'}`,
    `--cluster-dns=${text('cluster_dns') ?? '10.43.0.10'}`,
    ...(domain === undefined ? [] : [`--cluster-domain=${domain}`]),
    ...off.map((one) => `--disable ${one}`),
    ...backend,
    ...(registryMirror(config) ? ['--embedded-registry'] : []),
    '--kube-controller-manager-arg=bind-address=0.0.0.0',
    '--kube-scheduler-arg=bind-address=0.0.0.0',
    ...(kubeProxy ? ['--kube-proxy-arg=metrics-bind-address=0.0.0.0'] : []),
    ...(at(config, 'datastore', 'mode') === 'external' ? [] : ['--etcd-expose-metrics=true']),
    ...componentArgs(config, 'kube-apiserver', 'kube_api_server_args'),
    ...componentArgs(config, 'kube-scheduler', 'kube_scheduler_args'),
    ...componentArgs(config, 'kube-controller-manager', 'kube_controller_manager_args'),
    ...(kubeProxy ? componentArgs(config, 'kube-proxy', 'kube_proxy_args') : []),
    ...(config.schedule_workloads_on_masters === true ? [] : ['--node-taint=CriticalAddonsOnly=true:NoExecute']),
  ]
}

/** Returns the setting, which is top-level until 2.4 and under the add-ons since; default on. */
function registryMirror(config: Fields): boolean {
  const said =
    at(config, 'addons', 'embedded_registry_mirror', 'enabled') ?? at(config, 'embedded_registry_mirror', 'enabled')
  return said !== false
}

/** Arguments of a component of Kubernetes that the configuration lists. */
function componentArgs(config: Fields, component: string, field: string): readonly string[] {
  const listed = config[field]
  const words = Array.isArray(listed) ? listed.filter((one): one is string => typeof one === 'string') : []
  return words.filter((one) => !/\s/.test(one)).map((one) => `--${component}-arg=${one}`)
}

/** Returns the kubelet arguments of all nodes: those that hetzner-k3s always sets, and the listed ones. */
function kubeletArgs(config: Fields): readonly string[] {
  return [
    '--kubelet-arg=cloud-provider=external',
    '--kubelet-arg=resolv-conf=/etc/k8s-resolv.conf',
    ...componentArgs(config, 'kubelet', 'kubelet_args'),
  ]
}

const CARRIED = [
  'embedded_registry_mirror',
  'kube_api_server_args',
  'kube_scheduler_args',
  'kube_controller_manager_args',
  'kube_proxy_args',
  'kubelet_args',
  'k3s_version',
  'cluster_name',
  'api_server_hostname',
  'schedule_workloads_on_masters',
  'config_format_version',
]
const REASONS: Readonly<Record<string, string>> = {
  hetzner_token: 'it is secret, and croft does not ask Hetzner',
  kubeconfig_path: 'croft cluster kubeconfig writes one',
  masters_pool:
    'croft makes no machines at Hetzner: the servers that are there are Hosts, and their sizes stay as they are',
  worker_node_pools:
    'croft makes no machines at Hetzner: the nodes that are there are Hosts; labels and taints stay on them',
  networking: 'addresses, SSH and ranges are carried over; firewalls and networks of Hetzner stay as they are',
  addons: 'what they installed stays; write an Addon for what croft should keep',
  datastore: 'etcd is carried over; write backup of the Cluster for its snapshots',
}

function leftOut(config: Fields): readonly NotCarried[] {
  return Object.keys(config)
    .filter((key) => !CARRIED.includes(key))
    .map((key) => ({
      what: `the setting ${key}`,
      why: REASONS[key] ?? 'croft has no field for it; the plan says what the nodes run with (taken-over)',
    }))
}
