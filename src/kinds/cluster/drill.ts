import { defined } from '../../lib/defined.ts'
import { type Policy, resourceKey } from '../../model/declaration.ts'
import { blocksOf } from '../hypervisors/registry.ts'
import type { Lookup } from '../kind.ts'
import { type Cluster, isMade, type MadeMember, membersOf } from './members.ts'
import type { ServerFields } from './node-schema.ts'

/**
 * Returns the temporary machine on which a backup is tried: a renamed copy of the first server that is made here.
 * Undefined: no drill is declared, or no server is made here.
 */
export function drillMember(cluster: Cluster, lookup: Lookup): MadeMember | undefined {
  const drill = cluster.spec.backup?.drill
  const like = membersOf(cluster, lookup).members.find(
    (member): member is MadeMember => member.role === 'server' && isMade(member),
  )
  if (drill === undefined || like === undefined) return undefined
  const name = drillName(cluster.name)
  const { class: ofClass, cpu, memory, disks, proxmox } = like.fields
  return {
    name,
    // Rules for servers and their votes do not apply to it.
    role: 'agent',
    fields: defined<ServerFields>({
      name,
      class: ofClass,
      cpu,
      memory,
      disks,
      proxmox: withoutId(proxmox),
      ...blocksOf((field) => like.fields[field]),
      address: drill.address ?? 'dhcp',
      power: 'always',
    } as ServerFields),
    path: ['spec', 'backup', 'drill'],
    on: { kind: 'made', key: resourceKey('Machine', name, cluster.namespace), host: drill.host ?? like.on.host },
  }
}

export function drillName(cluster: string): string {
  return `${cluster}-drill`
}

/** The drill's machine is always deletable, regardless of the cluster's policy. */
export function drillPolicy({ policy }: Cluster): Policy {
  const { adopt: _adopt, rotate: _rotate, ...rest } = policy
  return { ...rest, deletion: 'Delete', protect: false }
}

function withoutId(proxmox: ServerFields['proxmox']): ServerFields['proxmox'] {
  if (proxmox === undefined) return undefined
  const { id: _id, ...rest } = proxmox as { readonly id?: number } & NonNullable<ServerFields['proxmox']>
  return rest as ServerFields['proxmox']
}
