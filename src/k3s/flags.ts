import { jsonIn } from '../lib/foreign-json.ts'
import { wordSet } from '../lib/word-list.ts'
import type { ClusterSpec, FlagValue, NodeSpec } from '../model/cluster.ts'
import { clusterFlags } from './config.ts'

/** Flags as a node was started with: `{ disable: ['traefik'], 'secrets-encryption': ['true'] }`. */
export type LiveFlags = Readonly<Record<string, readonly string[]>>

/**
 * Flags that must be equal on all servers, with K3s' defaults. K3s compares only some of them, and only while joining:
 * it never compares `disable` and `disable-kube-proxy`, so a server without one reverts the others' work at each of its
 * starts.
 */
export const EQUAL_ON_SERVERS: Readonly<Record<string, string>> = {
  'cluster-cidr': '10.42.0.0/16',
  'service-cidr': '10.43.0.0/16',
  'cluster-dns': '',
  'cluster-domain': 'cluster.local',
  disable: '',
  'disable-cloud-controller': 'false',
  'disable-helm-controller': 'false',
  'disable-kube-proxy': 'false',
  'disable-network-policy': 'false',
  'egress-selector-mode': 'agent',
  'embedded-registry': 'false',
  'flannel-backend': 'vxlan',
  'flannel-external-ip': 'false',
  'flannel-ipv6-masq': 'false',
  'secrets-encryption': 'false',
  'secrets-encryption-provider': 'aescbc',
  'supervisor-metrics': 'false',
}

/** croft sets these itself; as further flags they would conflict, or hold a secret in plain text. */
const RESERVED = wordSet(`
  token token-file agent-token agent-token-file server cluster-init cluster-reset cluster-reset-restore-path
  config data-dir datastore-endpoint disable-etcd node-name node-ip node-external-ip node-label node-taint
  with-node-id tls-san etcd-s3-access-key etcd-s3-secret-key etcd-s3-session-token vpn-auth
`)

/** Flags of the declaration that are in the wrong place. */
export function flagProblems(spec: ClusterSpec): readonly string[] {
  const places = [
    ['serverFlags', spec.serverFlags] as const,
    ['nodeFlags', spec.nodeFlags] as const,
    ...[...spec.servers, ...spec.agents].map((node) => [`${node.name}.flags`, node.flags ?? {}] as const),
  ]
  const own = clusterFlags({ ...spec, serverFlags: {} })
  return places.flatMap(([place, flags]) =>
    Object.keys(flags).flatMap((flag) => {
      if (!/^[a-z0-9][a-z0-9-]*$/.test(flag)) return [`${place}: ${JSON.stringify(flag)} is not a flag`]
      if (RESERVED.has(flag)) return [`${place}: ${flag} is set by croft itself`]
      const args = [flags[flag]].flat().map(String)
      if (flag === 'kube-controller-manager-arg' && args.some((arg) => arg.startsWith('node-cidr-mask-size'))) {
        return [`${place}: ${flag}: say how large the share of each node is in nodeMasks`]
      }
      if (flag in own && flag !== 'kube-controller-manager-arg')
        return [`${place}: ${flag} has its own field in the cluster`]
      if (place !== 'serverFlags' && flag in EQUAL_ON_SERVERS) {
        return [`${place}: ${flag} must be alike on all servers; say it in serverFlags`]
      }
      return []
    }),
  )
}

/** Reads the annotation `k3s.io/node-args`. A flag without a value is `true`; one that is repeated is a list. */
export function parseNodeArgs(text: string): LiveFlags | undefined {
  const args = parseStrings(text)
  if (args === undefined) return undefined
  const flags = new Map<string, string[]>()
  for (let at = 1; at < args.length; at++) {
    const match = /^--?([a-z0-9][a-z0-9-]*)(?:=([\s\S]*))?$/.exec(args[at] ?? '')
    if (match === null) continue
    const next = args[at + 1]
    const separate = match[2] === undefined && next !== undefined && !next.startsWith('-')
    if (separate) at += 1
    const value = match[2] ?? (separate ? next : 'true')
    flags.set(match[1] ?? '', [...(flags.get(match[1] ?? '') ?? []), value])
  }
  return Object.fromEntries(flags)
}

/** A server that does not run as declared, with the consequences. */
export interface FlagDrift {
  readonly server: string
  readonly flag: string
  readonly live: string
  readonly declared: string
  readonly message: string
}

/** Compares the servers' flags with the declaration, flag by flag. Skips servers in an unknown state. */
export function flagDrift(
  spec: ClusterSpec,
  live: readonly { readonly server: string; readonly flags: LiveFlags }[],
): readonly FlagDrift[] {
  const declared = clusterFlags(spec)
  return live.flatMap(({ server, flags }) =>
    Object.keys(EQUAL_ON_SERVERS).flatMap((flag): FlagDrift[] => {
      const [is, should] = [canonical(flag, flags[flag]), canonical(flag, listOf(declared[flag]))]
      if (is === should) return []
      const orNothing = (value: string) => (value === '' ? 'nothing' : value)
      const message = `${server} runs with ${flag} ${orNothing(is)}, declared is ${orNothing(should)}${consequence(flag)}`
      return [{ server, flag, live: is, declared: should, message }]
    }),
  )
}

/** A further flag that is declared of a node and that the node does not run with. */
export interface FurtherDrift {
  /** The declaring field: `serverFlags`. */
  readonly place: string
  readonly flag: string
  readonly message: string
}

/** Compares further flags, which need not be alike on all servers. A node may have more of a flag than is declared. */
export function furtherDrift(spec: ClusterSpec, node: NodeSpec, live: LiveFlags): readonly FurtherDrift[] {
  const places = [
    ['nodeFlags', spec.nodeFlags] as const,
    ...(node.role === 'server' ? [['serverFlags', spec.serverFlags] as const] : []),
    [`${node.name}.flags`, node.flags ?? {}] as const,
  ]
  return places.flatMap(([place, flags]) =>
    Object.entries(flags).flatMap(([flag, value]): FurtherDrift[] => {
      const is = live[flag] ?? []
      const missing = (listOf(value) ?? []).filter((one) => !is.includes(one) && (one !== 'false' || is.length > 0))
      if (flag in EQUAL_ON_SERVERS || missing.length === 0) return []
      const message = `${node.name} runs without ${flag} ${missing.join(', ')}, which ${place} declares`
      return [{ place, flag, message }]
    }),
  )
}

/** Explains why K3s failed, with the flag to change if it is about one. */
export function explainFailure(failure: string): string {
  const flag = mismatchedFlag(failure)
  if (flag === undefined) return failure
  return `its ${flag} is not the same as on the servers that run, and it must be: ${failure}`
}

/** The flag that a joining server's warning is about. K3s names Go fields for addresses. */
function mismatchedFlag(logText: string): string | undefined {
  const field = /critical configuration mismatched: ([A-Za-z0-9-]+)/.exec(logText)?.[1]
  if (field === undefined) return undefined
  if (/^ClusterIPRanges?$/.test(field)) return 'cluster-cidr'
  if (/^ServiceIPRanges?$/.test(field)) return 'service-cidr'
  if (/^ClusterDNSs?$/.test(field)) return 'cluster-dns'
  return field
}

function consequence(flag: string): string {
  if (flag === 'disable') return ': each start of it deletes or deploys these components for the whole cluster'
  if (flag === 'secrets-encryption') return ': what it writes may be stored in plain text'
  return ''
}

function canonical(flag: string, values: readonly string[] | undefined): string {
  const parts = (values ?? []).flatMap((value) => value.split(',')).map((value) => value.trim())
  const text = (flag === 'disable' ? [...new Set(parts)].sort() : parts).filter((part) => part !== '').join(',')
  return text === '' ? (EQUAL_ON_SERVERS[flag] ?? '') : text
}

function listOf(value: FlagValue | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined
  return typeof value === 'object' ? value : [String(value)]
}

function parseStrings(text: string): readonly string[] | undefined {
  const value = jsonIn(text)
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}
