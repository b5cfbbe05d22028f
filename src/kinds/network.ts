import { z } from 'zod'
import { ipAddress, ipv4, ipv6Gateway } from './fields/address.ts'
import { croftKind } from './fields/croft-kind.ts'
import { vlanId, whole } from './fields/number.ts'
import { fieldProblem } from './fields/problem.ts'
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
    const pool = declaration.spec.addressPool
    if (pool === undefined || lookup.declaration('AddressPool', pool, declaration.namespace) !== undefined)
      return { role: 'fact' }
    return {
      problems: [fieldProblem('unknown-reference', ['spec', 'addressPool'], `there is no AddressPool ${pool}`)],
    }
  },
})
