import type { Fields, NotCarried } from '../reading.ts'
import type { FoundInventory } from './find-inventory.ts'
import { emptyInventory, readYamlInventory } from './inventory.ts'

/** A box that a tool other than Ansible has K3s on, in the variables of the playbooks. */
export interface MadeHost {
  readonly name: string
  readonly role: 'server' | 'agent'
  readonly variables: Fields
}

/** Converts another tool's description of a cluster to the inventory of a playbook. */
export function madeInventory(
  path: string,
  hosts: readonly MadeHost[],
  variables: Fields,
  notCarried: readonly NotCarried[],
): FoundInventory | { readonly problem: string } {
  const inventory = emptyInventory()
  const group = (role: MadeHost['role']) => ({
    hosts: Object.fromEntries(hosts.filter((host) => host.role === role).map((host) => [host.name, host.variables])),
  })
  const stopped = readYamlInventory(
    { all: { vars: variables }, server: group('server'), agent: group('agent') },
    inventory,
  )
  if (stopped !== undefined) return { problem: stopped }
  return { path, inventory, files: { groups: new Map(), hosts: new Map() }, notCarried }
}
