import type { Change } from '../../../model/resource.ts'
import type { VmSpec } from '../../../model/vm.ts'

type RootObjection = NonNullable<Change['blocked']>

/** Options that only root@pam may set, never a token, with their names in `qm set`. */
const OPTIONS: Readonly<Record<string, string>> = {
  'cpu.affinity': 'affinity',
  'cpu.architecture': 'arch',
  'memory.hugepages': 'hugepages',
  'memory.keepHugepages': 'keephugepages',
  'memory.shared': 'ivshmem',
  hookScript: 'hookscript',
}

/** Returns the change, with the reason if the API cannot make it. */
export function withoutRoot(vm: VmSpec, change: Change, rootLane = false): Change {
  if (change.blocked !== undefined || rootLane) return change
  const blocked = rootOnly(vm, change.path)
  return blocked === undefined ? change : { ...change, blocked }
}

function rootOnly(vm: VmSpec, path: string): RootObjection | undefined {
  const option = path.startsWith('amdSev') ? 'amd-sev' : Object.hasOwn(OPTIONS, path) ? OPTIONS[path] : undefined
  if (option !== undefined) {
    return {
      message: `${path} can be set by root@pam only, never by a token: it needs the SSH lane, which is not configured`,
      allow: `take it out of the declaration, and set it on the host with: qm set VMID --${option} VALUE`,
    }
  }
  const [sort, slot] = path.split('.')
  if (sort === 'usb') {
    const device = vm.usb?.find((one) => one.slot === slot)?.device
    if (device !== undefined && device.toLowerCase() !== 'spice') return rawDevice(path, device, 'usb')
  }
  if (sort === 'pci') {
    const device = vm.pci?.find((one) => one.slot === slot)?.device
    if (device !== undefined) return rawDevice(path, device, 'pci')
  }
  const port = sort === 'serial' ? vm.serial?.find((one) => one.slot === slot)?.device : undefined
  if (port === undefined || port === 'socket') return undefined
  return {
    message: `${path} is a port of the host, ${port}, which root@pam alone may give to a guest: it needs the SSH lane, which is not configured`,
    allow: 'declare device: socket, or set it on the host with: qm set VMID --serialN DEVICE',
  }
}

function rawDevice(path: string, device: string, sort: 'usb' | 'pci'): RootObjection {
  return {
    message: `${path} names a device of the host, ${device}, which root@pam alone may give to a guest: it needs the SSH lane, which is not configured`,
    allow: `make a resource mapping of it (pvesh create /cluster/mapping/${sort} --id NAME --map node=HOST,…) and declare mapping: NAME, which a token with Mapping.Use may attach`,
  }
}
