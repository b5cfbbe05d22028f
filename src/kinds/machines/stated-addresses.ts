import { isIP } from 'node:net'
import { type Declaration, showOrigin } from '../../model/declaration.ts'
import { HYPERVISORS } from '../../model/hypervisors.ts'
import { clusterAddresses } from '../cluster/members.ts'
import type { Lookup } from '../kind.ts'
import type { NetworkSpec } from '../network.ts'
import type { HostSpec } from '../schemas/host.ts'
import type { MachineSpec } from '../schemas/machine.ts'

/** Addresses that manifests name. */
export interface StatedAddresses {
  /** The owner of an address: no machine may have it too. */
  readonly owned: ReadonlyMap<string, string>
  /**
   * Addresses of a name server or a host, which may itself be a machine of the pool. Pools do not assign them; a
   * machine may declare one, or keep one that it has.
   */
  readonly expected: ReadonlyMap<string, string>
}

interface ProviderGuest {
  readonly forProvider: {
    readonly initialization?: {
      readonly ipConfig?: readonly { readonly ipv4?: { readonly address?: string | undefined } | undefined }[]
    }
  }
}

/** The addresses that declarations other than pools state. */
export function statedAddresses(lookup: Lookup, machines: readonly Declaration<MachineSpec>[]): StatedAddresses {
  const owned = new Map<string, string>()
  const expected = new Map<string, string>()
  for (const { key, spec } of lookup.all('Network') as readonly Declaration<NetworkSpec>[]) {
    if (spec.gateway !== undefined) owned.set(spec.gateway, `the gateway of ${key}`)
    for (const server of spec.dns?.servers ?? []) expected.set(server, `the name server of ${key}`)
  }
  for (const { key, spec } of machines)
    for (const server of spec.dns?.servers ?? []) expected.set(server, `the name server of ${key}`)
  for (const { key, spec } of lookup.all('Host') as readonly Declaration<HostSpec>[])
    if (spec.ssh !== undefined) expected.set(spec.ssh.address, key)
  for (const { kind } of HYPERVISORS)
    for (const { key, spec } of lookup.all(kind)) {
      const { endpoint } = spec as { readonly endpoint?: unknown }
      if (typeof endpoint === 'string' && URL.canParse(endpoint)) expected.set(new URL(endpoint).hostname, key)
    }
  for (const kind of ['EnvironmentVM', 'EnvironmentContainer'])
    for (const guest of lookup.all(kind) as readonly Declaration<ProviderGuest>[])
      for (const { ipv4 } of guest.spec.forProvider.initialization?.ipConfig ?? []) {
        const address = ipv4?.address?.split('/')[0] ?? ''
        if (isIP(address) !== 0) owned.set(address, `${guest.key} (${showOrigin(guest.origin)})`)
      }
  for (const { address, owner } of clusterAddresses(lookup)) owned.set(address, owner)
  return { owned, expected }
}
