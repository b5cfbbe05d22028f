import { defined } from '../../lib/defined.ts'
import type { VmPci, VmUsb } from '../../model/vm.ts'
import { proxmox } from '../proxmox.ts'
import type { Hypervisor } from './hypervisor.ts'

export const proxmoxHypervisor: Hypervisor = {
  kinds: [proxmox],
  namesDevices: true,
  processor: 'x86_64',
  check: ({ proxmox: block }) =>
    block?.adopt === true && block.vmid === undefined
      ? [
          {
            code: 'bad-value',
            path: ['spec', 'proxmox', 'adopt'],
            message: 'adopt takes over an existing VM, and vmid does not say which',
            hint: 'set proxmox.vmid',
          },
        ]
      : [],
  adopted: ({ proxmox: block }) => (block?.adopt === true ? block.vmid?.toString() : undefined),
  machine: (_machine, vm) => vm,
  devices(found, machine) {
    const cards = found.flatMap(({ name, spec }) => (spec.pci === undefined ? [] : [{ mapping: name, ...spec.pci }]))
    const plugged = found.flatMap(({ name, spec }) => (spec.usb === undefined ? [] : [{ mapping: name, ...spec.usb }]))
    return {
      pci: cards.map(({ mapping, pcie, primaryGpu }, at) =>
        defined<VmPci>({
          slot: `hostpci${at}`,
          mapping,
          pcie: pcie ?? (machine.spec.proxmox?.machine === 'q35' ? true : undefined),
          primaryGpu,
        }),
      ),
      usb: plugged.map(({ mapping, usb3 }, at) => defined<VmUsb>({ slot: `usb${at}`, mapping, usb3 })),
      needs: found.map(({ key }) => key),
    }
  },
  placesOf: () => [],
  placeOf: () => [],
}
