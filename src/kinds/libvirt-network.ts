import { z } from 'zod'
import { defined } from '../lib/defined.ts'
import type { SettingValue } from '../model/rest.ts'
import { anyCidr, ipv4, ipv4Network, ipv4Number } from './fields/address.ts'
import { annotatedPolicy } from './fields/annotations.ts'
import { croftKind } from './fields/croft-kind.ts'
import { vlanId, whole } from './fields/number.ts'
import { bridgeName, dnsName, line, objectName } from './fields/text.ts'
import { adoptedPlace, libvirtPlace, placeUuid } from './hypervisors/libvirt-places.ts'
import type { FieldProblem } from './kind.ts'

const schema = z.strictObject({
  description: line.optional(),
  host: objectName,
  uuid: placeUuid.optional(),
  mode: z.enum(['nat', 'route', 'open', 'isolated', 'bridge']).default('nat'),
  bridge: bridgeName.optional(),
  addresses: z.array(anyCidr).min(1).max(2).optional(),
  dhcp: z.strictObject({ from: ipv4, to: ipv4 }).optional(),
  dns: z.boolean().optional(),
  domain: dnsName.optional(),
  mtu: whole(576, 65_520).optional(),
  vlan: vlanId.optional(),
  openvswitch: z.boolean().optional(),
  autostart: z.boolean().default(true),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Delete'),
})

export type LibvirtNetworkSpec = z.output<typeof schema>

/** A network that libvirt keeps on a host. */
export const libvirtNetwork = croftKind<LibvirtNetworkSpec>({
  kind: 'LibvirtNetwork',
  plural: 'libvirtnetworks',
  shortNames: ['virtnet'],
  summary: 'A network that libvirt keeps on a host: NAT, routed, isolated, or on a bridge, with a VLAN or without.',
  schema,

  check(spec) {
    const problems: FieldProblem[] = []
    const bad = (field: string, message: string, hint: string) =>
      problems.push({ code: 'bad-value', path: ['spec', field], message, hint })
    if (spec.mode === 'bridge') {
      if (spec.bridge === undefined) bad('mode', 'nothing says which bridge of the host it is on', 'set bridge')
      for (const field of ['addresses', 'dhcp', 'dns', 'domain', 'mtu'] as const)
        if (spec[field] !== undefined) bad(field, `the host's own bridge decides about ${field}`, `leave ${field} out`)
    } else {
      if (spec.addresses === undefined && spec.mode !== 'isolated')
        bad('mode', `${spec.mode} needs an address of the host in it`, 'set addresses')
      if (spec.openvswitch === true) bad('openvswitch', 'libvirt makes a plain bridge here', 'use mode: bridge')
    }
    if (spec.vlan !== undefined && spec.openvswitch !== true)
      bad('vlan', 'only a bridge that knows VLANs takes a tag', 'set openvswitch: true, or use a bridge of that VLAN')
    const families = (spec.addresses ?? []).map((address) => address.includes(':'))
    if (new Set(families).size !== families.length) bad('addresses', 'it has two of one family', 'leave one out')
    if (spec.dhcp !== undefined) problems.push(...checkDhcp(spec.dhcp, spec.addresses ?? []))
    return problems
  },

  policy: (spec, manifest) => ({
    ...annotatedPolicy(manifest),
    ...adoptedPlace(spec),
    deletion: spec.deletionPolicy,
  }),

  expand(declaration, lookup) {
    const { host, uuid: _uuid, description: _words, deletionPolicy: _deletion, ...fields } = declaration.spec
    return libvirtPlace(declaration, 'libvirt-network', host, defined<Record<string, SettingValue>>(fields), lookup)
  },
})

function checkDhcp({ from, to }: { from: string; to: string }, addresses: readonly string[]): readonly FieldProblem[] {
  const own = addresses.find((address) => !address.includes(':'))
  const problem = (message: string): readonly FieldProblem[] => [
    { code: 'bad-value', path: ['spec', 'dhcp'], message, hint: 'correct the range, or leave dhcp out' },
  ]
  if (own === undefined) return problem('leases need an IPv4 address of the host in the network')
  const { first, last } = ipv4Network(own)
  const [low, high] = [ipv4Number(from), ipv4Number(to)]
  if (low > high) return problem(`the range ends (${to}) before it begins (${from})`)
  return low <= first || high >= last ? problem(`${from} to ${to} is not inside ${own}`) : []
}
