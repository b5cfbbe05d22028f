import { createHash } from 'node:crypto'
import type { ClusterSpec, Flags, FlagValue, NodeSpec } from '../model/cluster.ts'
import { backupFlags } from './backup-flags.ts'
import { parseAddress } from './cidr.ts'

export const CONFIG_FILE = '/etc/rancher/k3s/config.yaml'

/** Files of secrets on a node, readable by root alone. config.yaml names the files and holds no secret. */
export const TOKEN_FILE = '/etc/rancher/k3s/token'
export const AGENT_TOKEN_FILE = '/etc/rancher/k3s/agent-token'

/** first: starts a new cluster. member: joins an existing one, even if it was once the first. */
export type ServerPlace = 'first' | 'member'

/**
 * Everything that config.yaml of one node holds. `voter`: the address of another server that is known to vote. There
 * is no command line beside it: that would be lost or doubled.
 */
export function nodeConfig(spec: ClusterSpec, node: NodeSpec, place: ServerPlace = 'member', voter?: string): Flags {
  const common: Record<string, FlagValue> = {
    'node-name': node.name,
    ...(node.nodeIps.length === 0 ? {} : { 'node-ip': node.nodeIps.join(',') }),
    ...(node.externalIps === undefined ? {} : { 'node-external-ip': node.externalIps.join(',') }),
    ...listUnlessEmpty(
      'node-label',
      Object.entries(node.labels).map(([key, value]) => `${key}=${value}`),
    ),
    ...listUnlessEmpty('node-taint', node.taints),
    ...spec.nodeFlags,
  }
  if (node.role === 'agent') {
    return { ...common, ...node.flags, server: endpointUrl(spec), 'token-file': AGENT_TOKEN_FILE }
  }
  return {
    ...common,
    ...clusterFlags(spec),
    ...node.flags,
    // On an empty disk, either option is right only once: never set both.
    ...(place === 'first' ? { 'cluster-init': true } : { server: joinUrl(spec, node, voter) }),
    'token-file': TOKEN_FILE,
    'agent-token-file': AGENT_TOKEN_FILE,
  }
}

/** Returns the flags that all servers share, from the cluster's declaration. */
export function clusterFlags(spec: ClusterSpec): Flags {
  const { network } = spec
  return {
    'cluster-cidr': network.podCidrs.join(','),
    'service-cidr': network.serviceCidrs.join(','),
    ...(network.clusterDomain === undefined ? {} : { 'cluster-domain': network.clusterDomain }),
    'flannel-backend': network.flannelBackend,
    'disable-kube-proxy': !network.kubeProxy,
    'disable-network-policy': !network.networkPolicy,
    ...listUnlessEmpty('disable', [...spec.disable].sort()),
    'secrets-encryption': spec.secretsEncryption,
    ...listUnlessEmpty('tls-san', tlsSans(spec)),
    'tls-san-security': true,
    'write-kubeconfig-mode': '0600',
    ...backupFlags(spec.backup),
    ...spec.serverFlags,
    ...listUnlessEmpty('kube-controller-manager-arg', controllerManagerArgs(spec)),
  }
}

/** Masks of the nodes have no flag of their own; with one family Kubernetes wants the one name, with two the others. */
function controllerManagerArgs({ network, serverFlags }: ClusterSpec): readonly string[] {
  const stated = serverFlags['kube-controller-manager-arg']
  const own = stated === undefined ? [] : typeof stated === 'object' ? stated : [String(stated)]
  const { ipv4, ipv6 } = network.nodeMasks ?? {}
  const dual = network.podCidrs.length > 1
  const mask = (family: 'ipv4' | 'ipv6', bits: number | undefined) =>
    bits === undefined ? [] : [`node-cidr-mask-size${dual ? `-${family}` : ''}=${bits}`]
  return [...own, ...mask('ipv4', ipv4), ...mask('ipv6', ipv6)]
}

/** The endpoint first: without it in the certificate, its users are locked out. */
export function tlsSans(spec: ClusterSpec): readonly string[] {
  const { endpoint } = spec
  const own = 'vip' in endpoint ? [endpoint.vip] : 'dns' in endpoint ? [endpoint.dns] : []
  return [...new Set([...own, ...spec.tlsSans])]
}

export function endpointUrl(spec: ClusterSpec): string {
  const { endpoint } = spec
  if ('vip' in endpoint) return apiUrl(endpoint.vip)
  if ('dns' in endpoint) return apiUrl(endpoint.dns)
  const server = spec.servers.find(({ name }) => name === endpoint.server)
  return apiUrl(server?.nodeIps[0] ?? endpoint.server)
}

/**
 * Returns the URL by which a server joins: a voter's address, if known. The API's name resolves to all servers, itself
 * included, and a server that asks itself for the members waits for ever. So the name is for clients and agents.
 */
function joinUrl(spec: ClusterSpec, node: NodeSpec, voter: string | undefined): string {
  const { endpoint } = spec
  if (voter !== undefined) return apiUrl(voter)
  if ('vip' in endpoint) return endpointUrl(spec)
  if ('server' in endpoint && endpoint.server !== node.name) return endpointUrl(spec)
  const others = spec.servers.filter(({ name }) => name !== node.name)
  const other = others.find(({ nodeIps }) => nodeIps.length > 0) ?? others[0]
  return apiUrl(other?.nodeIps[0] ?? other?.name ?? node.nodeIps[0] ?? node.name)
}

function apiUrl(host: string): string {
  return parseAddress(host)?.family === 6 ? `https://[${host}]:6443` : `https://${host}:6443`
}

/** Keys of config.yaml about joining, not about running: changing them needs no restart. */
const ARRIVAL = new Set(['cluster-init', 'server', 'token-file', 'agent-token-file'])
/** K3s reads these only for a new Node, or adds them at a start. On an existing Node, the API changes them. */
const OF_THE_API = new Set(['node-label', 'node-taint'])

/** Changes when, and only when, a running node would have to be restarted to be as declared. */
export function configHash(spec: ClusterSpec, node: NodeSpec): string {
  const known = hashes.get(spec) ?? new Map<NodeSpec, string>()
  hashes.set(spec, known)
  const hash = known.get(node) ?? computeHash(spec, node)
  known.set(node, hash)
  return hash
}

/** Asked for many times in each pass, and a declaration never changes: a new one is a new object. */
const hashes = new WeakMap<ClusterSpec, Map<NodeSpec, string>>()

function computeHash(spec: ClusterSpec, node: NodeSpec): string {
  const config = Object.entries(nodeConfig(spec, node)).filter(([key]) => !ARRIVAL.has(key) && !OF_THE_API.has(key))
  // K3s reads registries.yaml when it starts, like config.yaml.
  const entries: [string, unknown][] =
    spec.registries === undefined ? config : [...config, ['registries.yaml', spec.registries]]
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16)
}

/**
 * Returns config.yaml of a declared node. Its first line has the declaration's hash: the node itself shows when it runs
 * with another one. A file without the line is foreign.
 */
export function configFile(spec: ClusterSpec, node: NodeSpec, place: ServerPlace, voter?: string): string {
  return `# croft: ${configHash(spec, node)}\n${configYaml(nodeConfig(spec, node, place, voter))}`
}

/** The hash in the first line of a config.yaml that we wrote. */
export function hashInConfig(text: string): string | undefined {
  return /^# croft: ([0-9a-f]+)\n/.exec(text)?.[1]
}

/** Prints config.yaml. JSON is YAML, and quotes each value safely on one line. */
export function configYaml(config: Flags): string {
  return Object.entries(config)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}\n`)
    .join('')
}

function listUnlessEmpty(key: string, list: readonly string[]): Flags {
  return list.length === 0 ? {} : { [key]: [...list] }
}
