import type { Descriptions } from './describe.ts'

export const device: Descriptions = {
  description: 'One line for people.',
  host: 'Name of the Host that the device is plugged into.',
  pci: 'A PCI card; set either pci or usb.',
  'pci.id': 'Vendor and device id, as lspci -nn shows them, like 10de:2484.',
  'pci.address': 'PCI address, like 0000:01:00.0; without the function number it includes all functions.',
  'pci.subsystemId': 'Vendor and device id of the subsystem; Proxmox compares it with the card.',
  'pci.iommuGroup': 'IOMMU group; Proxmox compares it with the card.',
  'pci.pcie': 'Shows the card to the guest as PCI Express, which needs machine q35; without it true on q35.',
  'pci.primaryGpu': 'Makes the card the primary graphics card of the guest.',
  'pci.mdev': 'Says that the card offers mediated devices.',
  usb: 'A USB device; set either pci or usb.',
  'usb.ids': 'All vendor and product ids that the device ever has, like 1a6e:089a and 18d1:9302 for a Coral.',
  'usb.port': 'USB port, as lsusb -t shows it, like 1-2; with it the guest keeps a device whose id changes.',
  'usb.usb3': 'Attaches the device to a USB 3 controller.',
  files: 'Device files of the host that containers get; alone they are enough for a Device that only containers use.',
  'files.path':
    'Path below /dev on the host, the same inside: /dev/dri/renderD128, /dev/apex_0, /dev/serial/by-id/… for one USB stick.',
  'files.mode': 'Mode of the file inside the container, like 0660.',
  'files.uid': 'Owner of the file inside the container.',
  'files.gid': 'Group of the file inside the container.',
  'files.readOnly': 'Lets the container only read from the device.',
  deletionPolicy: 'What happens to the resource mapping when you remove the declaration: Delete or Orphan.',
}
