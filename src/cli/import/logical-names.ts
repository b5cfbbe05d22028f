import type { HostSpec } from '../../kinds/host.ts'
import { hypervisorOf } from '../../kinds/machines/bindings.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { LoadedEstate } from '../runtime.ts'

type Fields = Readonly<Record<string, unknown>>
type Named = Readonly<Record<string, unknown>>

/**
 * A Machine speaks of networks and storages by logical names, and of its host by the name of the Host. What the host
 * itself calls them is turned back into those; a name that nobody binds yet stays, and a note says what is missing.
 */
export function withLogicalNames(
  fields: Fields,
  connection: string,
  { declarations }: LoadedEstate,
): { readonly fields: Fields; readonly notes: readonly string[] } {
  const lookup = {
    all: (kind: string) => declarations.filter((one) => one.kind === kind),
    declaration: (kind: string, name: string) => declarations.find((one) => one.kind === kind && one.name === name),
  }
  const hosts = lookup.all('Host') as readonly Declaration<HostSpec>[]
  const host = hosts.find((one) => hypervisorOf(one, lookup)?.name === connection)
  if (host === undefined) return { fields, notes: [`declare the Host of connection ${connection} with its bindings`] }
  const { networks, storages } = host.spec.bindings
  const notes: string[] = []
  const nameOf = (what: string, bound: ReadonlyMap<string, string>, real: unknown) => {
    const logical = bound.get(String(real))
    if (logical === undefined) notes.push(`bind ${String(real)} as a ${what} of Host ${host.name}`)
    return logical ?? real
  }
  const boundNetworks = new Map(Object.entries(networks).map(([name, { bridge }]) => [bridge, name]))
  const boundStorages = new Map(Object.entries(storages).map(([name, real]) => [real, name]))
  const listed = (value: unknown) => (Array.isArray(value) ? (value as readonly Named[]) : [])
  return {
    fields: {
      ...fields,
      host: host.name,
      disks: listed(fields.disks).map((disk) => ({ ...disk, storage: nameOf('storage', boundStorages, disk.storage) })),
      networks: listed(fields.networks).map((nic) => ({
        ...nic,
        network: nameOf('network', boundNetworks, nic.network),
      })),
    },
    notes: [...new Set(notes)],
  }
}
