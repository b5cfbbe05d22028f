import type {
  VmAmdSev,
  VmAudio,
  VmNumaNode,
  VmPci,
  VmRng,
  VmSpec,
  VmUsb,
  VmVirtiofs,
  VmWatchdog,
} from '../../../model/vm.ts'
import { device, devices } from '../parts.ts'
import { hotplugs } from './option.ts'

/* Devices that are one property string each. Only USB devices can be plugged while the guest runs. */

const isOn = ({ enabled }: { readonly enabled: boolean }) => enabled

/** The channel to the guest agent. What else is in the string matters only while there is one. */
export const agent = device<VmSpec, NonNullable<VmSpec['agent']>>({
  path: 'agent',
  key: 'agent',
  bare: 'enabled',
  effect: 'restart',
  whenMissing: 'its parts',
  declared: (vm) => vm.agent,
  parts: [
    { field: 'enabled', key: 'enabled', fallback: false },
    { field: 'trim', key: 'fstrim_cloned_disks', fallback: false, effect: 'live', matters: isOn },
    { field: 'type', key: 'type', fallback: 'virtio', matters: isOn },
  ],
})

export const audio = device<VmSpec, VmAudio>({
  path: 'audio',
  key: 'audio0',
  bare: '',
  effect: 'restart',
  declared: (vm) => vm.audio,
  parts: [
    { field: 'device', key: 'device', fallback: 'intel-hda', identifies: true },
    { field: 'driver', key: 'driver', fallback: 'spice' },
  ],
})

export const rng = device<VmSpec, VmRng>({
  path: 'rng',
  key: 'rng0',
  bare: 'source',
  effect: 'restart',
  declared: (vm) => vm.rng,
  parts: [
    { field: 'source', key: 'source' },
    { field: 'maxBytes', key: 'max_bytes', fallback: 1024 },
    { field: 'periodMs', key: 'period', fallback: 1000 },
  ],
})

export const watchdog = device<VmSpec, VmWatchdog>({
  path: 'watchdog',
  key: 'watchdog',
  bare: 'model',
  effect: 'restart',
  declared: (vm) => vm.watchdog,
  parts: [
    { field: 'model', key: 'model', fallback: 'i6300esb', identifies: true },
    { field: 'action', key: 'action', fallback: 'none' },
  ],
})

export const numaNodes = devices<VmSpec, VmNumaNode>({
  path: 'numaNodes',
  bare: '',
  effect: 'restart',
  items: (vm) => vm.numaNodes,
  parts: [
    { field: 'cpus', key: 'cpus' },
    { field: 'memoryMb', key: 'memory', type: 'count' },
    { field: 'hostNodes', key: 'hostnodes' },
    { field: 'policy', key: 'policy' },
  ],
})

export const usb = devices<VmSpec, VmUsb>({
  path: 'usb',
  bare: 'host',
  effect: (config) => (hotplugs(config, 'usb') ? 'live' : 'restart'),
  items: (vm) => vm.usb,
  parts: [
    { field: 'device', key: 'host' },
    { field: 'mapping', key: 'mapping' },
    { field: 'usb3', key: 'usb3', fallback: false },
  ],
})

export const pci = devices<VmSpec, VmPci>({
  path: 'pci',
  bare: 'host',
  effect: 'restart',
  items: (vm) => vm.pci,
  parts: [
    { field: 'device', key: 'host' },
    { field: 'mapping', key: 'mapping' },
    { field: 'mdev', key: 'mdev' },
    { field: 'pcie', key: 'pcie', fallback: false },
    { field: 'romBar', key: 'rombar', fallback: true },
    { field: 'romFile', key: 'romfile' },
    { field: 'primaryGpu', key: 'x-vga', fallback: false },
  ],
})

export const virtiofs = devices<VmSpec, VmVirtiofs>({
  path: 'virtiofs',
  bare: 'dirid',
  effect: 'restart',
  items: (vm) => vm.virtiofs,
  parts: [
    { field: 'mapping', key: 'dirid' },
    { field: 'cache', key: 'cache', fallback: 'auto' },
    { field: 'directIo', key: 'direct-io', fallback: false },
    { field: 'exposeAcl', key: 'expose-acl', fallback: false },
    { field: 'exposeXattr', key: 'expose-xattr', fallback: false },
  ],
})

export const amdSev = device<VmSpec, VmAmdSev>({
  path: 'amdSev',
  key: 'amd-sev',
  bare: 'type',
  effect: 'restart',
  declared: (vm) => vm.amdSev,
  parts: [
    { field: 'type', key: 'type' },
    { field: 'allowSmt', key: 'allow-smt', fallback: true },
    { field: 'kernelHashes', key: 'kernel-hashes', fallback: false },
    { field: 'noDebug', key: 'no-debug', fallback: false },
    { field: 'noKeySharing', key: 'no-key-sharing', fallback: false },
  ],
})
