import { EQUAL_ON_SERVERS, type FurtherDrift, flagDrift, furtherDrift } from '../../k3s/flags.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import { type ClusterFinding, holdFor, NOTHING } from './finding.ts'
import { type ClusterSituation, kubeOf, localOf, type NodeView } from './view.ts'

/**
 * Reports whether the node is a member whose K3s croft neither set up nor may change: it stays as it is. A node that
 * croft started has the hash of its configuration; an unreachable one is judged like the others.
 */
export function isLeftAsFound({ spec, servers, agents }: ClusterSituation, node: NodeView): boolean {
  const kube = kubeOf(node)
  if (kube === undefined || kube.configHash !== undefined || kube.work !== undefined) return false
  if (spec.allow.takeOver === true) return false
  const local = localOf(node)
  return local === undefined ? [...servers, ...agents].some(isStrangers) : isStrangers(node)
}

/** Reports whether another tool wrote the node's config.yaml. */
function isStrangers(node: NodeView): boolean {
  return localOf(node)?.configured === false
}

/** Lists the live settings of found nodes that Git does not declare, as lines for Git. Changes nothing meanwhile. */
export function takenOver(view: ClusterSituation): ClusterFinding {
  const found = [...view.servers, ...view.agents].filter((node) => node.spec !== undefined && isLeftAsFound(view, node))
  const differences = found.flatMap((node) => differencesOf(view.spec, node))
  const further = found.flatMap((node) => furtherOf(view.spec, node))
  if (differences.length === 0 && further.length === 0) return NOTHING
  const texts = [...saidOnce(differences), ...new Set(further.map(({ message }) => message))]
  const lines = linesFor(differences)
  const keep = [
    ...(lines.length === 0 ? [] : [`write into the Cluster: ${lines.join(', ')}`]),
    ...new Set(further.map(({ place, flag }) => `correct ${place}.${flag} in the Cluster`)),
  ]
  return holdFor({
    guard: 'taken-over',
    reason: `${view.spec.name} was not set up by croft and runs otherwise than declared: ${texts.join('; ')}`,
    allow: `to keep it as it runs, ${keep.join(', and ')}; to have it changed, write allow: {takeOver: true}`,
  })
}

/** Groups equal differences of several nodes into one sentence: `s1, s2 run with …`. */
function saidOnce(differences: readonly FlagDifference[]): readonly string[] {
  const nodes = new Map<string, string[]>()
  for (const { node, text } of differences) {
    const rest = text.slice(`${node} runs `.length)
    nodes.set(rest, [...(nodes.get(rest) ?? []), node])
  }
  return [...nodes].map(([rest, names]) => `${names.join(', ')} ${names.length === 1 ? 'runs' : 'run'} ${rest}`)
}

function furtherOf(spec: ClusterSpec, node: NodeView): readonly FurtherDrift[] {
  const declared = [...spec.servers, ...spec.agents].find(({ name }) => name === node.name)
  const args = kubeOf(node)?.args
  return declared === undefined || args === undefined ? [] : furtherDrift(spec, declared, args)
}

interface FlagDifference {
  readonly node: string
  /** `NODE runs …`. */
  readonly text: string
  readonly flag: string
  readonly live: string
}

function differencesOf(spec: ClusterSpec, node: NodeView): readonly FlagDifference[] {
  const kube = kubeOf(node)
  if (kube === undefined) return []
  const version =
    kube.version === spec.version
      ? []
      : [
          {
            node: node.name,
            text: `${node.name} runs ${kube.version}, declared is ${spec.version}`,
            flag: 'version',
            live: kube.version,
          },
        ]
  if (node.role !== 'server' || kube.args === undefined) return version
  const flags = flagDrift(spec, [{ server: node.name, flags: kube.args }])
  return [...version, ...flags.map(({ message, flag, live }) => ({ node: node.name, text: message, flag, live }))]
}

/** Returns the live flags as lines for the spec of the Cluster, one field per line. */
export function linesFor(live: readonly Pick<FlagDifference, 'flag' | 'live'>[]): readonly string[] {
  const lines = new Set<string>()
  const further = new Map<string, string>()
  for (const one of live) {
    const line = lineFor(one.flag, one.live)
    if (line === undefined) further.set(one.flag, one.live)
    else lines.add(line)
  }
  const flags = [...further].map(
    ([flag, value]) => `${flag}: ${value === '' ? (EQUAL_ON_SERVERS[flag] ?? '""') : value}`,
  )
  return [...lines, ...(flags.length === 0 ? [] : [`serverFlags: {${flags.join(', ')}}`])]
}

/** Returns the Cluster field that sets a flag, or undefined for a flag of `serverFlags`. */
function lineFor(flag: string, live: string): string | undefined {
  const list = `[${live
    .split(',')
    .filter((part) => part !== '')
    .join(', ')}]`
  switch (flag) {
    case 'version':
      return `version: ${live}`
    case 'disable':
      return `disable: ${list}`
    case 'cluster-cidr':
      return `podCidrs: ${list}`
    case 'service-cidr':
      return `serviceCidrs: ${list}`
    case 'cluster-domain':
      return `clusterDomain: ${live}`
    case 'flannel-backend':
      return `flannelBackend: ${live}`
    case 'disable-kube-proxy':
      return `kubeProxy: ${live !== 'true'}`
    case 'disable-network-policy':
      return `networkPolicy: ${live !== 'true'}`
    case 'secrets-encryption':
      return `secretsEncryption: ${live === 'true'}`
    default:
      return undefined
  }
}
