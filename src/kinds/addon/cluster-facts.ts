import { parseAddress, parseCidr } from '../../k3s/cidr.ts'
import type { Declaration } from '../../model/declaration.ts'
import { rangesOf } from '../cluster/address-ranges.ts'
import type { ClusterFields } from '../cluster/schema.ts'
import type { Lookup } from '../kind.ts'
import type { ClusterFacts } from './presets/preset.ts'

/** Returns the facts about a Cluster that presets use. For an undeclared one: K3s' defaults. */
export function clusterFacts(lookup: Pick<Lookup, 'declaration'>, name: string): ClusterFacts {
  const cluster = lookup.declaration('Cluster', name) as Declaration<Partial<ClusterFields>> | undefined
  const spec = (cluster?.spec ?? {}) as ClusterFields
  const { families, serviceCidrs: usual } = rangesOf(spec)
  // In an existing cluster, only declared settings are known: K3s' defaults may not apply.
  const serviceCidrs = spec.type === 'existing' ? (spec.serviceCidrs ?? []) : usual
  const declared = spec.serverFlags?.['cluster-dns']
  const dns =
    declared === undefined ? serviceCidrs.flatMap((range) => tenthOf(range) ?? []) : String(declared).split(',')
  return {
    families: families.length === 0 ? [4] : families,
    serviceCidrs,
    dns,
    domain: spec.clusterDomain ?? 'cluster.local',
    nodes: [...(spec.servers ?? []), ...(spec.agents ?? [])].flatMap(({ name: own, machine, addresses }) => {
      const called = own ?? machine?.replace(/^.*\//, '')
      return called === undefined || addresses === undefined ? [] : [{ name: called, addresses }]
    }),
  }
}

/** Returns the address that K3s gives to the DNS of a Services range: the tenth. */
function tenthOf(range: string): string | undefined {
  const cidr = parseCidr(range)
  const [first = ''] = range.split('/')
  if (cidr === undefined || parseAddress(first) === undefined) return undefined
  if (cidr.family === 4) {
    const value = Number(cidr.first) + 10
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
  }
  const last = cidr.first + 10n
  const groups = Array.from({ length: 8 }, (_, at) => ((last >> BigInt(112 - 16 * at)) & 0xffffn).toString(16))
  // The longest run of zeros is left out, as people write it.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
