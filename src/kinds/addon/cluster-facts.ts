import { parseAddress, parseCidr } from '../../k3s/cidr.ts'
import type { Declaration } from '../../model/declaration.ts'
import { rangesOf } from '../cluster/address-ranges.ts'
import type { ClusterFields } from '../cluster/schema.ts'
import type { Lookup } from '../kind.ts'
import type { ClusterFacts } from './presets/preset.ts'

/** What presets must know of a Cluster. Of one that is not declared, what K3s does when it is told nothing. */
export function clusterFacts(lookup: Pick<Lookup, 'declaration'>, name: string): ClusterFacts {
  const cluster = lookup.declaration('Cluster', name) as Declaration<Partial<ClusterFields>> | undefined
  const spec = (cluster?.spec ?? {}) as ClusterFields
  const { families, serviceCidrs: usual } = rangesOf(spec)
  // What others have set up is not K3s' habit: only what is written down is known of it.
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

/** Where K3s puts the DNS of a range of Services: at its tenth address. */
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
