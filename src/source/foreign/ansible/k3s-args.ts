import { isIP } from 'node:net'
import { LIMITS } from '../../../lib/limits.ts'
import { wordSet } from '../../../lib/word-list.ts'
import { isFields } from '../../manifest.ts'
import { valuesIn } from '../addon-draft.ts'
import type { NotCarried } from '../reading.ts'
import { UNKNOWN } from './expression.ts'
import { wordsOf } from './ini-inventory.ts'
import { HOLE } from './template.ts'

/** Flags of one node: each with every value that it has. */
export type NodeFlags = ReadonlyMap<string, readonly string[]>

/** Parses the flags in a text like `--disable traefik --tls-san=k3s.home.arpa`, and returns the other words too. */
export function argsIn(
  value: unknown,
  variable: string,
): { readonly args: NodeFlags; readonly lost: readonly NotCarried[] } {
  const args = new Map<string, string[]>()
  const lost: NotCarried[] = []
  if (value === undefined || value === '') return { args, lost }
  const words = typeof value === 'string' ? wordsOf(value.replaceAll('\\\n', ' ')) : undefined
  if (words === undefined || words.length > LIMITS.inventory.flags)
    return { args, lost: [{ what: variable, why: value === UNKNOWN ? NOT_EVALUATED : 'it is not a list of flags' }] }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const match = /^--?([a-z0-9][a-z0-9-]*)(?:=([\s\S]*))?$/.exec(word)
    if (match === null) {
      lost.push({ what: variable, why: word.includes(HOLE) ? NOT_EVALUATED : 'it has a word that is not a flag' })
      continue
    }
    const [, flag = '', given] = match
    const next = words[at + 1]
    const separate = given === undefined && next !== undefined && !next.startsWith('-')
    if (separate) at += 1
    const values = args.get(flag) ?? []
    values.push(given ?? (separate ? next : 'true'))
    args.set(flag, values)
  }
  return { args, lost }
}

const NOT_EVALUATED =
  'it has an expression that only Ansible can evaluate; croft plan says what the nodes run with (taken-over)'

/** Returns the flags in K3s' config.yaml. Undefined: invalid. */
export function argsOfConfig(written: unknown): NodeFlags | undefined {
  const config = typeof written === 'string' ? valuesIn(written) : isFields(written) ? written : undefined
  if (config === undefined || Object.keys(config).length > LIMITS.inventory.flags) return undefined
  return new Map(
    Object.entries(config).map(([key, value]) => [
      key.replace(/\+$/, ''),
      (Array.isArray(value) ? value : [value]).map((one) =>
        one === UNKNOWN || (one !== null && typeof one === 'object') ? HOLE : String(one),
      ),
    ]),
  )
}

/** A node of the cluster with what its playbook starts it with. */
export interface ForeignNode {
  readonly name: string
  readonly args: NodeFlags
  readonly addresses: readonly string[]
}

const FIELD_FLAGS = wordSet(`
  cluster-cidr cluster-domain disable disable-kube-proxy disable-network-policy flannel-backend secrets-encryption
  service-cidr tls-san
`)
/** Flags with a field on each node. */
const NODE_FIELD_FLAGS = new Set(['node-ip', 'node-external-ip', 'node-label', 'node-taint'])
const BY_CROFT = 'croft sets it itself'
/** Flags that are no field and may not be one of `serverFlags`. */
const NOT_FLAGS: Readonly<Record<string, string>> = {
  token: 'it is secret; croft reads the token from a server when it takes the cluster over',
  'agent-token': 'it is secret; croft reads the token from a server when it takes the cluster over',
  'token-file': BY_CROFT,
  'agent-token-file': BY_CROFT,
  server: BY_CROFT,
  'cluster-init': BY_CROFT,
  'cluster-reset': BY_CROFT,
  'cluster-reset-restore-path': BY_CROFT,
  config: 'that file is not among these; write what it says into the Cluster',
  'data-dir': 'croft keeps K3s in /var/lib/rancher/k3s alone',
  'datastore-endpoint': 'croft keeps clusters with etcd or SQLite alone',
  'disable-etcd': 'croft has no servers without etcd',
  'node-name': 'the name of the node in the Cluster says it',
  'with-node-id': 'croft names nodes without an id',
  'etcd-s3-access-key': 'it is secret; write backup.to.s3.credentials',
  'etcd-s3-secret-key': 'it is secret; write backup.to.s3.credentials',
  'etcd-s3-session-token': 'it is secret; write backup.to.s3.credentials',
  'vpn-auth': 'it is secret, and croft has no field for it',
  'write-kubeconfig-mode': 'croft sets it to 0600 when it may change the cluster',
  'tls-san-security': 'croft sets it when it may change the cluster',
}
/** Further flags that all servers must have alike. */
const ALIKE_ON_SERVERS = wordSet(`
  cluster-dns disable-cloud-controller disable-helm-controller egress-selector-mode embedded-registry
  flannel-external-ip flannel-ipv6-masq secrets-encryption-provider supervisor-metrics
`)

/** Flags that prevent adoption of a cluster. */
export const NOT_TAKEN_OVER = [
  'data-dir',
  'datastore-endpoint',
  'disable-etcd',
  'https-listen-port',
  'rootless',
] as const

type K3sClusterFields = Record<string, unknown>

export interface ClusterParts {
  readonly fields: K3sClusterFields
  /** In the order of the given nodes: servers, then agents. */
  readonly nodes: readonly K3sClusterFields[]
  readonly lost: readonly NotCarried[]
}

/** Fields of a Cluster out of the flags of its nodes. */
export function clusterParts(
  servers: readonly ForeignNode[],
  agents: readonly ForeignNode[],
  endpoint: string | undefined,
): ClusterParts {
  const lost: NotCarried[] = []
  const all = [...servers, ...agents]
  const first = servers[0]?.args ?? new Map<string, readonly string[]>()
  const fields = fieldsOf(first, endpoint)
  const flags = new Set(all.flatMap(({ args }) => [...args.keys()]))
  const nodes = all.map((node): K3sClusterFields => nodeFields(node, lost))
  const [serverFlags, nodeFlags]: K3sClusterFields[] = [{}, {}]
  for (const flag of flags) {
    const values = (list: readonly ForeignNode[]) => list.map(({ args }) => args.get(flag)?.join('\n'))
    const alike = (list: readonly ForeignNode[]) => new Set(values(list)).size <= 1
    const why = NOT_FLAGS[flag]
    const what = `the flag ${flag}`
    if (NODE_FIELD_FLAGS.has(flag)) continue
    if (why !== undefined) lost.push({ what, why })
    else if (all.some(({ args }) => args.get(flag)?.some((value) => value.includes(HOLE)) === true))
      lost.push({ what, why: NOT_EVALUATED })
    else if (FIELD_FLAGS.has(flag) || ALIKE_ON_SERVERS.has(flag)) {
      if (!alike(servers))
        lost.push({ what, why: `the servers have different ones, and ${servers[0]?.name ?? ''}'s is taken` })
      if (ALIKE_ON_SERVERS.has(flag) && first.has(flag) && serverFlags !== undefined)
        serverFlags[flag] = flagValue(first.get(flag) ?? [])
    } else if (agents.length > 0 && alike(all) && nodeFlags !== undefined)
      nodeFlags[flag] = flagValue(first.get(flag) ?? [])
    else if (alike(servers) && first.has(flag) && serverFlags !== undefined) {
      serverFlags[flag] = flagValue(first.get(flag) ?? [])
      ownFlag(agents, nodes.slice(servers.length), flag)
    } else ownFlag(all, nodes, flag)
  }
  return { fields: { ...fields, ...unlessEmpty({ serverFlags, nodeFlags }) }, nodes, lost }
}

function unlessEmpty(blocks: Readonly<Record<string, K3sClusterFields | undefined>>): K3sClusterFields {
  return Object.fromEntries(Object.entries(blocks).filter(([, block]) => Object.keys(block ?? {}).length > 0))
}

function ownFlag(of: readonly ForeignNode[], nodes: readonly K3sClusterFields[], flag: string): void {
  for (const [index, { args }] of of.entries()) {
    const node = nodes[index]
    const values = args.get(flag)
    if (node !== undefined && values !== undefined)
      node.flags = { ...(node.flags as K3sClusterFields | undefined), [flag]: flagValue(values) }
  }
}

function fieldsOf(args: NodeFlags, endpoint: string | undefined): K3sClusterFields {
  const list = (flag: string) =>
    (args.get(flag) ?? [])
      .flatMap((value) => value.split(','))
      .map((value) => value.trim())
      .filter((value) => value !== '' && !value.includes(HOLE))
  const isSet = (flag: string) => args.get(flag)?.at(-1) === 'true'
  const listed = (field: string, values: readonly string[]) =>
    values.length === 0 ? {} : { [field]: [...new Set(values)] }
  const [backend] = list('flannel-backend')
  const [domain] = list('cluster-domain')
  return {
    ...listed('podCidrs', list('cluster-cidr')),
    ...listed('serviceCidrs', list('service-cidr')),
    ...(domain === undefined ? {} : { clusterDomain: domain }),
    ...(backend === undefined ? {} : { flannelBackend: backend }),
    ...(isSet('disable-kube-proxy') ? { kubeProxy: false } : {}),
    ...(isSet('disable-network-policy') ? { networkPolicy: false } : {}),
    ...listed('disable', list('disable')),
    ...listed(
      'tlsSans',
      list('tls-san').filter((name) => name !== endpoint),
    ),
    // K3s does not encrypt by default; croft would.
    secretsEncryption: isSet('secrets-encryption'),
  }
}

function nodeFields({ name, args, addresses }: ForeignNode, lost: NotCarried[]): K3sClusterFields {
  const list = (flag: string) => (args.get(flag) ?? []).flatMap((value) => value.split(','))
  const known = (flag: string, why: string) => {
    const values = list(flag)
    if (values.every((value) => !value.includes(HOLE))) return values
    lost.push({ what: `the flag ${flag} of ${name}`, why })
    return []
  }
  const own = known(
    'node-ip',
    'only the machine knows it; croft takes the SSH address, so write addresses if it is another',
  )
  const ips = (own.length > 0 ? own : addresses).filter((one) => isIP(one) !== 0)
  const external = known('node-external-ip', NOT_EVALUATED)
  const labels = known('node-label', NOT_EVALUATED).map((label) => {
    const at = label.indexOf('=')
    return at < 0 ? ([label, ''] as const) : ([label.slice(0, at), label.slice(at + 1)] as const)
  })
  const taints = known('node-taint', NOT_EVALUATED)
  return {
    ...(ips.length === 0 ? {} : { addresses: ips }),
    ...(external.length === 0 ? {} : { externalAddresses: external }),
    ...(labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }),
    ...(taints.length === 0 ? {} : { taints }),
  }
}

/** Returns a flag's value as in config.yaml. */
function flagValue(values: readonly string[]): unknown {
  if (values.length > 1) return [...values]
  const [value = ''] = values
  return value === 'true' || value === 'false' ? value === 'true' : value
}
