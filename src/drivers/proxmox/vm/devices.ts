import type {
  VmAmdSev,
  VmAudio,
  VmNic,
  VmNumaNode,
  VmPci,
  VmRng,
  VmSpec,
  VmUsb,
  VmVirtiofs,
  VmWatchdog,
} from '../../../model/vm.ts'
import { device, devices } from '../parts.ts'
import { type Properties, parseProperties } from '../property-string.ts'
import { hotplugs, plugsUsb, textOf, type VmOption } from './option.ts'

/* Devices of one property string each. Only USB devices can be plugged while the guest runs. */

const isOn = ({ enabled }: { readonly enabled: boolean }) => enabled

/** The channel to the guest agent. The string's other parts matter only with an agent. */
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
  effect: (config) => (plugsUsb(config) ? 'live' : 'restart'),
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

/** Serial ports: `socket`, or a device of the host, which only root may assign. */
export const serial: VmOption = {
  create({ spec: vm }, params) {
    for (const { slot, device } of vm.serial ?? []) params[slot] = device
  },
  compare({ spec: vm }, config, changes) {
    for (const { slot, device } of vm.serial ?? []) {
      const from = textOf(config[slot])
      if (from !== device) changes.push({ path: `serial.${slot}`, from, to: device, effect: 'restart' })
    }
  },
  update({ spec: vm }, _config, params, chosen) {
    for (const { slot, device } of vm.serial ?? []) if (chosen.has(`serial.${slot}`)) params[slot] = device
  },
}

/** The screen. */
export const vga = device<VmSpec, NonNullable<VmSpec['vga']>>({
  path: 'vga',
  key: 'vga',
  bare: 'type',
  effect: 'restart',
  // Without declared parts nothing is written.
  declared: (vm) => (vm.vga !== undefined && Object.keys(vm.vga).length > 0 ? vm.vga : undefined),
  whenMissing: 'its parts',
  parts: [
    { field: 'type', key: 'type', fallback: 'std' },
    { field: 'clipboard', key: 'clipboard' },
    { field: 'memoryMb', key: 'memory' },
  ],
})

/** Network cards. Proxmox's hardware address stays unless another is declared. */
export const nics: VmOption = devices<VmSpec, VmNic>({
  path: 'nics',
  bare: 'model',
  effect: (config) => (hotplugs(config, 'network') ? 'live' : 'restart'),
  items: (vm) => vm.nics,
  parse: readNic,
  print: printNic,
  parts: [
    { field: 'model', key: 'model' },
    { field: 'mac', key: 'macaddr', anyCase: true },
    // The same card on another bridge: nothing is plugged for that.
    { field: 'bridge', key: 'bridge', effect: 'live' },
    { field: 'firewall', key: 'firewall', fallback: false, effect: 'live' },
    { field: 'disconnected', key: 'link_down', fallback: false, effect: 'live' },
    { field: 'mtu', key: 'mtu', noneAtZero: true },
    { field: 'queues', key: 'queues', noneAtZero: true },
    { field: 'rateMBps', key: 'rate', noneAtZero: true, effect: 'live' },
    { field: 'vlan', key: 'tag', noneAtZero: true, effect: 'live' },
    { field: 'trunks', key: 'trunks', read: expandTrunks, effect: 'live' },
  ],
})

/** Proxmox writes `virtio=BC:24:…` for model and address; both forms become `model` and `macaddr`. */
function readNic(text: string): Properties {
  const properties = parseProperties(text, 'model')
  if (properties.has('model')) return properties
  for (const [key, value] of properties) {
    if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(value)) continue
    properties.delete(key)
    return new Map([['model', key], ['macaddr', value], ...properties])
  }
  return properties
}

function printNic(properties: Properties): string {
  const model = properties.get('model') ?? 'virtio'
  const mac = properties.get('macaddr')
  const parts = [mac === undefined ? model : `${model}=${mac}`]
  for (const [key, value] of properties) if (key !== 'model' && key !== 'macaddr') parts.push(`${key}=${value}`)
  return parts.join(',')
}

/** Returns `10;20-30` as sorted numbers. */
function expandTrunks(text: string): number[] {
  const found = new Set<number>()
  for (const part of text.split(';')) {
    const match = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part.trim())
    if (match === null) continue
    const first = Number(match[1])
    for (let vlan = first; vlan <= Math.min(Number(match[2] ?? first), 4094); vlan++) found.add(vlan)
  }
  return [...found].sort((a, b) => a - b)
}
