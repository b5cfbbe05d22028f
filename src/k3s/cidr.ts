import { isIPv4, isIPv6 } from 'node:net'
import type { ClusterNetwork, NodeSpec } from '../model/cluster.ts'

export interface Cidr {
  readonly text: string
  readonly family: 4 | 6
  readonly prefix: number
  readonly first: bigint
  readonly last: bigint
}

/** Something wrong with the declared network, in the words of the declaration. */
export interface NetworkProblem {
  readonly field: string
  readonly message: string
}

/** An address as a number. Strict: `010.0.0.1` is eight to some programs and ten to others, so it is neither here. */
export function parseAddress(text: string): { readonly family: 4 | 6; readonly value: bigint } | undefined {
  if (isIPv4(text) && text.split('.').every((octet) => octet === String(Number(octet)))) {
    return { family: 4, value: text.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n) }
  }
  // Refuse a zone, which is local to a host, and embedded IPv4, which is another form of the same address.
  if (!isIPv6(text) || text.includes('%') || text.includes('.')) return undefined
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [front, back] = [groups(head), groups(tail ?? '')]
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0')
  const all = [...front, ...zeros, ...back]
  return { family: 6, value: all.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n) }
}

/** A range by its first address and prefix. Undefined when it is not exactly that: `10.42.0.1/16`, `10.42.0.0/08`. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefixText = '', more] = text.split('/')
  const parsed = parseAddress(address)
  const prefix = Number(prefixText)
  if (parsed === undefined || more !== undefined || prefixText !== String(prefix)) return undefined
  const bits = parsed.family === 4 ? 32 : 128
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > bits) return undefined
  const size = 1n << BigInt(bits - prefix)
  if (parsed.value % size !== 0n) return undefined
  return { text, family: parsed.family, prefix, first: parsed.value, last: parsed.value + size - 1n }
}

export function overlap(a: Cidr, b: Cidr): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last
}

export function contains(range: Cidr, address: string): boolean {
  const parsed = parseAddress(address)
  return (
    parsed !== undefined && parsed.family === range.family && range.first <= parsed.value && parsed.value <= range.last
  )
}

/** Widest range of services, and the share of the pod range that K3s gives to each node. */
const SERVICE_WIDEST = { 4: 12, 6: 112 } as const
const NODE_MASK = { 4: 24, 6: 64 } as const
/** Kubernetes counts nodes of a range in at most so many bits. */
const NODE_BITS = 16

/** Everything about the ranges and the nodes' addresses that K3s would refuse, or take and suffer from. */
export function networkProblems(network: ClusterNetwork, nodes: readonly NodeSpec[]): readonly NetworkProblem[] {
  const problems: NetworkProblem[] = []
  const add = (field: string, message: string) => problems.push({ field, message })
  const ranges = (field: 'podCidrs' | 'serviceCidrs') =>
    network[field].flatMap((text, index) => {
      const cidr = parseCidr(text)
      if (cidr === undefined)
        add(`network.${field}[${index}]`, `${text} is not a range like 10.42.0.0/16 or fd00:42::/56`)
      return cidr ?? []
    })
  const [pods, services] = [ranges('podCidrs'), ranges('serviceCidrs')]
  if (problems.length > 0) return problems

  for (const [field, list] of [
    ['podCidrs', pods],
    ['serviceCidrs', services],
  ] as const) {
    if (list.length === 0) add(`network.${field}`, 'needs one range, or one of each family')
    for (const family of [4, 6] as const) {
      if (list.filter((cidr) => cidr.family === family).length > 1) {
        add(`network.${field}`, `has more than one IPv${family} range`)
      }
    }
  }
  if (families(pods) !== families(services)) {
    add('network', `pods have ${families(pods)} and services ${families(services)}: both must have the same`)
  }
  for (const pod of pods) {
    for (const service of services) {
      if (overlap(pod, service)) add('network', `the pods' ${pod.text} and the services' ${service.text} overlap`)
    }
    const mask = nodeMask(network, pod.family)
    const room = mask - pod.prefix
    if (room < 0) add('network.podCidrs', `${pod.text} is smaller than the /${mask} of one node`)
    else if (room > NODE_BITS) add('network.podCidrs', `${pod.text} is wider than Kubernetes can divide among nodes`)
    else if (2 ** room < nodes.length) {
      add('network.podCidrs', `${pod.text} has room for ${2 ** room} nodes, ${nodes.length} are declared`)
    }
  }
  for (const service of services) {
    const widest = SERVICE_WIDEST[service.family]
    if (service.prefix < widest) add('network.serviceCidrs', `${service.text} is wider than /${widest}`)
  }
  for (const node of nodes) problems.push(...nodeProblems(node, pods, services))
  problems.push(...sharedAddresses(nodes))
  return problems
}

/** The share of the pod range that each node gets. */
function nodeMask({ nodeMasks }: ClusterNetwork, family: 4 | 6): number {
  return (family === 4 ? nodeMasks?.ipv4 : nodeMasks?.ipv6) ?? NODE_MASK[family]
}

/** A node without declared addresses takes what its machine has: there is nothing to compare. */
function nodeProblems(node: NodeSpec, pods: readonly Cidr[], services: readonly Cidr[]): readonly NetworkProblem[] {
  const field = `${node.name}.nodeIps`
  const bad = node.nodeIps.find((ip) => parseAddress(ip) === undefined)
  if (bad !== undefined) return [{ field, message: `${bad} is not an IP address` }]
  if (node.nodeIps.length === 0) return []
  const problems: NetworkProblem[] = []
  const own = node.nodeIps.map((ip) => ({ family: parseAddress(ip)?.family ?? 4 }))
  if (families(own) !== families(pods)) {
    problems.push({ field, message: `${node.name} has ${families(own)} addresses and the pods ${families(pods)}` })
  } else if (own.length !== pods.length) {
    problems.push({ field, message: `${node.name} has more than one address of a family` })
  }
  for (const ip of node.nodeIps) {
    for (const range of [...pods, ...services]) {
      if (contains(range, ip)) problems.push({ field, message: `${ip} of ${node.name} lies in ${range.text}` })
    }
  }
  return problems
}

function sharedAddresses(nodes: readonly NodeSpec[]): readonly NetworkProblem[] {
  const owners = new Map<string, string>()
  return nodes.flatMap((node) =>
    node.nodeIps.flatMap((ip) => {
      const key = String(parseAddress(ip)?.value ?? ip)
      const owner = owners.get(key)
      owners.set(key, node.name)
      return owner === undefined ? [] : [{ field: `${node.name}.nodeIps`, message: `${ip} is also ${owner}'s` }]
    }),
  )
}

function families(list: readonly { readonly family: 4 | 6 }[]): string {
  const has = (family: 4 | 6) => list.some((entry) => entry.family === family)
  return has(4) && has(6) ? 'IPv4 and IPv6' : has(6) ? 'IPv6' : 'IPv4'
}
