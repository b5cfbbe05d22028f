import type { Declaration } from '../../model/declaration.ts'
import type { VmPci, VmUsb } from '../../model/vm.ts'
import { ordered } from '../fields/ordered.ts'
import { libvirt } from '../libvirt.ts'
import { libvirtNetwork } from '../libvirt-network.ts'
import { libvirtPool } from '../libvirt-pool.ts'
import type { Hypervisor } from './hypervisor.ts'
import { checkLibvirtMachine, onLibvirt } from './libvirt-machine.ts'
import { placesNeeded, poolNeeded } from './libvirt-places.ts'
import type { LibvirtSpec } from './libvirt-schema.ts'

export const libvirtHypervisor: Hypervisor = {
  kinds: [libvirt, ordered(libvirtNetwork), ordered(libvirtPool)],
  namesDevices: false,
  check: checkLibvirtMachine,
  adopted: ({ libvirt: block }) => (block?.adopt === true ? block.uuid : undefined),
  machine: (machine, vm, connection) =>
    connection === undefined ? vm : onLibvirt(machine, vm, connection as Declaration<LibvirtSpec>),
  /** libvirt has no names for devices: it needs a card's slot, and a USB device's own ids. */
  devices(found, _machine, bad) {
    for (const { name, spec } of found) {
      if (spec.pci !== undefined && !/\.[0-7]$/.test(spec.pci.address))
        bad(`libvirt passes on one function, and ${name} names none`, 'add it to pci.address, like 0000:01:00.0')
      if (spec.pci?.mdev === true) bad(`libvirt is given no part of a card, as ${name} asks`, 'leave mdev out')
      if (spec.usb !== undefined && spec.usb.ids.length > 1)
        bad(`libvirt finds a USB device by its id, and ${name} changes it`, 'keep it on a host with Proxmox')
    }
    const cards = found.flatMap(({ spec }) => spec.pci?.address ?? [])
    const plugged = found.flatMap(({ spec }) => spec.usb?.ids[0] ?? [])
    return {
      pci: cards.map((device, at): VmPci => ({ slot: `hostpci${at}`, device })),
      usb: plugged.map((device, at): VmUsb => ({ slot: `usb${at}`, device })),
      // A Device on such a host is only looked up: nothing has to be there first.
      needs: [],
    }
  },
  placesOf: placesNeeded,
  placeOf: poolNeeded,
}
