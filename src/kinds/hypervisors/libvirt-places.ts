import type { Declaration, Policy, ResourceKey } from '../../model/declaration.ts'
import type { SettingValue } from '../../model/rest.ts'
import type { VmSpec } from '../../model/vm.ts'
import { matching } from '../fields/text.ts'
import type { Expanded, FieldProblem, Lookup } from '../kind.ts'
import { connectionOf, findHost, hypervisorOf, nodeOf, unknownHost } from '../machines/bindings.ts'

export const placeUuid = matching(
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'the UUID that libvirt shows, in small letters',
)

/** An adopted object is known by its UUID; all others by one derived from the declaration. */
export function adoptedPlace({ uuid }: { readonly uuid?: string | undefined }): Pick<Policy, 'adopt'> {
  return uuid === undefined ? {} : { adopt: uuid }
}

/** A network or pool as the one thing that the libvirt driver keeps on a host. */
export function libvirtPlace(
  declaration: Declaration,
  definition: 'libvirt-network' | 'libvirt-pool',
  hostName: string,
  fields: Readonly<Record<string, SettingValue>>,
  lookup: Lookup,
): Expanded | { readonly problems: readonly FieldProblem[] } {
  const path = ['spec', 'host']
  const host = findHost(hostName, declaration.namespace, lookup)
  if (host === undefined) return { problems: [unknownHost(hostName, path, lookup)] }
  const connection = connectionOf(host, path, lookup)
  if ('problem' in connection) return { problems: [connection.problem] }
  if (hypervisorOf(host, lookup)?.kind !== 'Libvirt')
    return {
      problems: [
        { code: 'not-possible', path, message: `${hostName} has no libvirt`, hint: 'declare a Libvirt for that host' },
      ],
    }
  const setting = { definition, id: declaration.name, host: nodeOf(host), fields }
  return { role: 'resource', ...connection, desired: { type: 'setting', setting }, needs: [] }
}

/** The declared pools and networks of its host that a machine is made with: they must be there first. */
export function placesNeeded(vm: VmSpec, lookup: Lookup): readonly ResourceKey[] {
  const pools = new Set([...vm.disks.map((disk) => disk.storage), vm.seed?.storage])
  const networks = new Set(vm.nics.map((nic) => nic.bridge))
  return [
    ...placesOn('LibvirtPool', vm.host, (name) => pools.has(name), lookup),
    ...placesOn('LibvirtNetwork', vm.host, (name) => networks.has(name), lookup),
  ]
}

/** The declared pool that a file on a host is kept in. */
export function poolNeeded(host: string, pool: string, lookup: Lookup): readonly ResourceKey[] {
  return placesOn('LibvirtPool', host, (name) => name === pool, lookup)
}

function placesOn(
  kind: 'LibvirtPool' | 'LibvirtNetwork',
  node: string,
  wanted: (name: string) => boolean,
  lookup: Lookup,
): readonly ResourceKey[] {
  return lookup.all(kind).flatMap(({ name, namespace, key, spec }) => {
    const host = findHost((spec as { readonly host: string }).host, namespace, lookup)
    return host !== undefined && nodeOf(host) === node && wanted(name) ? [key] : []
  })
}
