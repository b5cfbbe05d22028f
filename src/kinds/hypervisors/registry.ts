import { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import type { Declaration } from '../../model/declaration.ts'
import { HYPERVISORS } from '../../model/hypervisors.ts'
import type { Lookup } from '../kind.ts'
import { hypervisorOf } from '../machines/bindings.ts'
import type { HostSpec } from '../schemas/host.ts'
import type { WrittenMachine } from '../schemas/machine.ts'
import type { Hypervisor } from './hypervisor.ts'
import { libvirtHypervisor } from './libvirt.ts'
import { libvirtHardware, libvirtMachine } from './libvirt-schema.ts'
import { proxmoxHypervisor } from './proxmox.ts'

const BY_KIND: Readonly<Record<(typeof HYPERVISORS)[number]['kind'], Hypervisor>> = {
  Proxmox: proxmoxHypervisor,
  Libvirt: libvirtHypervisor,
}

/** In the table's order. */
export const ALL_HYPERVISORS: readonly Hypervisor[] = HYPERVISORS.map(({ kind }) => BY_KIND[kind])

/** Blocks of a Machine for one hypervisor. Its host decides whether they apply. */
export const machineBlocks = { libvirt: libvirtMachine.optional() }

/** Blocks of a MachineClass and of a node: only hardware. */
export const hardwareBlocks = { libvirt: z.strictObject(libvirtHardware).optional() }

type Blocks = Pick<WrittenMachine, keyof typeof machineBlocks>

/** The blocks of all hypervisors that have one, each as the function says. */
export function blocksOf(block: (field: keyof Blocks) => Blocks[keyof Blocks]): Blocks {
  const fields = Object.keys(machineBlocks) as (keyof Blocks)[]
  return defined(Object.fromEntries(fields.map((field) => [field, block(field)]))) as Blocks
}

/** The hypervisor that keeps a host's machines, with the connection that it has to this host alone. */
export function keeperOf(
  host: Declaration<HostSpec> | undefined,
  lookup: Lookup,
): { readonly hypervisor: Hypervisor; readonly connection: Declaration | undefined } {
  const connection = host === undefined ? undefined : hypervisorOf(host, lookup)
  const kind = HYPERVISORS.find((row) => row.kind === connection?.kind)?.kind ?? 'Proxmox'
  return { hypervisor: BY_KIND[kind], connection }
}
