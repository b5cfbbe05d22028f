import type { ContainerSpec } from '../model/container.ts'
import type { VmSpec } from '../model/vm.ts'

/** Returns the storages that a guest uses. */
export function storagesOf(guest: VmSpec | ContainerSpec): readonly string[] {
  const found =
    'disks' in guest
      ? [
          ...guest.disks.map(({ storage }) => storage),
          guest.efiDisk?.storage,
          guest.tpm?.storage,
          guest.clone?.storage,
          guest.cloudInit?.storage,
          guest.seed?.storage,
          ...documentsOf(guest).map(storageIn),
        ]
      : [guest.rootDisk?.storage, ...guest.mounts.map(({ storage }) => storage)]
  return [...new Set(found.filter((one) => one !== undefined))]
}

/** Returns `local` of `local:snippets/x.yaml`. */
function storageIn(volume: string | undefined): string | undefined {
  return volume?.slice(0, Math.max(0, volume.indexOf(':')))
}

/** Returns a bridge for untagged traffic, and `vmbr0.30` for its VLAN 30. */
export function networksOf(nic: {
  readonly bridge: string
  readonly vlan?: number
  readonly trunks?: readonly number[]
}): readonly string[] {
  const { bridge, vlan, trunks = [] } = nic
  // A NIC without a VLAN receives untagged frames as well, also if it has trunks.
  return [vlan === undefined ? bridge : `${bridge}.${vlan}`, ...trunks.map((tag) => `${bridge}.${tag}`)]
}

/** Returns the sources of a guest: the cloned id, volumes, discs. */
export function templatesOf(guest: VmSpec | ContainerSpec): readonly string[] {
  const found =
    'disks' in guest
      ? [
          guest.clone === undefined ? undefined : String(guest.clone.vmid),
          ...guest.disks.map(({ importFrom }) => importFrom),
          ...(guest.cdrom ?? []).map(({ file }) => file),
          // A document on a granted storage may be another source's, and may hold its secrets.
          ...documentsOf(guest),
        ]
      : [guest.image]
  return [...new Set(found.filter((one) => one !== undefined && one !== 'none'))] as readonly string[]
}

function documentsOf({ cloudInit }: VmSpec): readonly (string | undefined)[] {
  return [cloudInit?.userData, cloudInit?.networkData, cloudInit?.metaData, cloudInit?.vendorData]
}

/** Returns a guest's accesses to its host or its devices. */
export function reaching(guest: VmSpec | ContainerSpec): readonly { readonly what: string; readonly field: RegExp }[] {
  const when = (is: boolean, what: string, field: RegExp) => (is ? [{ what, field }] : [])
  const hook = when(guest.hookScript !== undefined, 'a hook script', /^hookScript/)
  if ('disks' in guest) {
    const usb = guest.usb?.some(({ device }) => device !== 'spice') === true
    return [
      ...hook,
      ...when(usb, 'a USB device', /^(?:usb|devices)$/),
      ...when((guest.pci ?? []).length > 0, 'a PCI device', /^(?:pci|hostPci|hostpci|devices)$/),
      ...when((guest.virtiofs ?? []).length > 0, 'a directory of the host', /^virtiofs$/),
      ...when(guest.serial?.some(({ device }) => device.startsWith('/')) === true, 'a serial device', /^serial/),
      ...when(guest.cdrom?.some(({ file }) => file === 'cdrom') === true, "the host's own drive", /^cdrom$/),
    ]
  }
  const { mknod, mount = [] } = guest.features ?? {}
  return [
    ...hook,
    ...when(guest.unprivileged !== true, 'a privileged container', /^(?:unprivileged|container)$/),
    ...when((guest.devices ?? []).length > 0, 'a device', /^(?:devices|devicePassthrough)$/),
    ...when(mknod === true || mount.length > 0, 'a feature of the container', /^features$/),
    ...when(
      guest.mounts.some(({ source }) => source !== undefined),
      'what it mounts',
      /^(?:mounts|mountPoint)$/,
    ),
  ]
}
