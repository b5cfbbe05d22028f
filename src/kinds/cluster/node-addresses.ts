import { isIP } from 'node:net'
import type { Declaration } from '../../model/declaration.ts'
import type { SshTarget } from '../../model/secret.ts'
import type { VmFields } from '../crossplane/vm-schema.ts'
import type { Lookup } from '../kind.ts'
import { givenAddresses } from '../machines/addresses.ts'
import { machinesIn } from '../machines/all-machines.ts'
import { type Member, machineOf } from './members.ts'

/**
 * The addresses that a node is started with, in the order of the cluster's families. Empty where they are not known
 * beforehand: then K3s takes what the machine has. Half an answer would be a wrong one, so it is all or none.
 */
export function nodeAddresses(
  member: Member,
  families: readonly (4 | 6)[],
  lookup: Lookup,
  target: SshTarget | undefined,
): readonly string[] {
  const known = knownAddresses(member, lookup, target)
  if (member.fields.addresses !== undefined) return ordered(known, families)
  const chosen = families.map((family) => known.find((address) => isIP(address) === family))
  return chosen.every((address) => address !== undefined) ? chosen : []
}

function knownAddresses(member: Member, lookup: Lookup, target: SshTarget | undefined): readonly string[] {
  const { fields, on } = member
  if (fields.addresses !== undefined) return fields.addresses
  if (on.kind === 'Host') {
    // Behind a jump host the address is another network's.
    return target !== undefined && target.jump === undefined && target.local !== true ? [target.address] : []
  }
  if (on.kind === 'EnvironmentVM') return providerAddresses(on.of)
  const machine = machinesIn(lookup).find(({ key }) => key === machineOf(member))
  if (machine === undefined) return []
  const v4 = givenAddresses(machine, lookup).addresses[0]?.address
  const v6 = machine.spec.networks[0]?.ipv6?.split('/')
  return [...(v4 === undefined ? [] : [v4]), ...(v6?.length === 2 ? [v6[0] ?? ''] : [])]
}

function providerAddresses(declaration: Declaration): readonly string[] {
  const { forProvider } = declaration.spec as { readonly forProvider: VmFields }
  const first = forProvider.initialization?.ipConfig?.[0]
  return [first?.ipv4?.address, first?.ipv6?.address].flatMap((text) =>
    text?.includes('/') === true ? [text.split('/')[0] ?? ''] : [],
  )
}

/** Keeps all declared addresses, even wrong ones: the check of addresses reports those. */
function ordered(addresses: readonly string[], families: readonly (4 | 6)[]): readonly string[] {
  const rank = (address: string) => {
    const at = families.indexOf(isIP(address) as 4 | 6)
    return at < 0 ? families.length : at
  }
  return [...addresses].sort((a, b) => rank(a) - rank(b))
}
