import { parseCidr } from '../../k3s/cidr.ts'
import type { ClusterFields } from './schema.ts'

export interface Ranges {
  readonly podCidrs: readonly string[]
  readonly serviceCidrs: readonly string[]
  /** Families of the pods, the primary one first: a node lists its addresses in the same order. */
  readonly families: readonly (4 | 6)[]
}

const PODS = { 4: '10.42.0.0/16', 6: 'fd42:42::/56' } as const
const SERVICES = { 4: '10.43.0.0/16', 6: 'fd42:43::/112' } as const

/** Returns the declared ranges, or the defaults of `family`. */
export function rangesOf(spec: ClusterFields): Ranges {
  const wanted = familiesOf(spec)
  const podCidrs = spec.podCidrs ?? wanted.map((family) => PODS[family])
  return {
    podCidrs,
    serviceCidrs: spec.serviceCidrs ?? wanted.map((family) => SERVICES[family]),
    families: podCidrs.flatMap((text) => parseCidr(text)?.family ?? []),
  }
}

function familiesOf({ family, podCidrs, serviceCidrs }: ClusterFields): readonly (4 | 6)[] {
  if (family !== undefined) return { ipv4: [4] as const, ipv6: [6] as const, dual: [4, 6] as const }[family]
  const stated = (podCidrs ?? serviceCidrs)?.flatMap((text) => parseCidr(text)?.family ?? [])
  return stated === undefined || stated.length === 0 ? [4] : stated
}
