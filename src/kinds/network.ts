import { z } from 'zod'
import type { Declaration } from '../model/declaration.ts'
import type { AddressPoolSpec } from './address-pool.ts'
import { ipAddress, ipv4, ipv4InNetwork, ipv6Gateway } from './fields/address.ts'
import { croftKind } from './fields/croft-kind.ts'
import { vlanId, whole } from './fields/number.ts'
import { badValue, fieldProblem } from './fields/problem.ts'
import { dnsName, line, objectName } from './fields/text.ts'

const schema = z.strictObject({
  description: line.optional(),
  addressPool: objectName.optional(),
  vlan: vlanId.optional(),
  gateway: ipv4.optional(),
  gateway6: ipv6Gateway.optional(),
  dns: z.strictObject({ servers: z.array(ipAddress).max(10).optional(), domain: dnsName.optional() }).optional(),
  mtu: whole(576, 65_520).optional(),
})

export type NetworkSpec = z.output<typeof schema>

/** A network by the name that people use for it; each Host binds it to a bridge. */
export const network = croftKind<NetworkSpec>({
  kind: 'Network',
  plural: 'networks',
  shortNames: ['net'],
  summary: 'A logical network: gateway, name servers and the pool that its addresses come from.',
  schema,
  expand(declaration, lookup) {
    const { addressPool: pool, gateway } = declaration.spec
    if (pool === undefined) return { role: 'fact' }
    const found = lookup.declaration('AddressPool', pool, declaration.namespace)
    if (found === undefined)
      return {
        problems: [fieldProblem('unknown-reference', ['spec', 'addressPool'], `there is no AddressPool ${pool}`)],
      }
    const { cidr } = (found as Declaration<AddressPoolSpec>).spec
    if (gateway === undefined || ipv4InNetwork(gateway, cidr)) return { role: 'fact' }
    return {
      problems: [
        badValue(
          ['spec', 'gateway'],
          `gateway ${gateway} is not in ${cidr}, the network of AddressPool ${pool}: no machine could reach it`,
          `write the address that the router has in ${cidr}, or correct cidr of AddressPool ${pool}`,
        ),
      ],
    }
  },
})
