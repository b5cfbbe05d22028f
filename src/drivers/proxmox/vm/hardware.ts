import type { VmCpu, VmSmbios, VmSpec } from '../../../model/vm.ts'
import { type ApiFields, countOf, flagOf } from '../foreign.ts'
import { device } from '../parts.ts'
import { type Properties, parseProperties, printProperties } from '../property-string.ts'
import { hotplugs, scalar, textOf, type VmOption } from './option.ts'

/** Proxmox may pin the version itself (as for Windows): a declared `q35` matches `pc-q35-10.0+pve1`. */
export function sameMachine(declared: string, observed: string): boolean {
  return normalMachine(declared) === normalMachine(observed) || isPinned(declared, observed)
}

/** Compares lists in any order; 1 means the usual three features, 0 none. */
export function sameHotplug(declared: string, observed: string): boolean {
  return normalHotplug(declared) === normalHotplug(observed)
}

function normalHotplug(text: string): string {
  if (text === '0') return ''
  const features = text === '1' ? ['disk', 'network', 'usb'] : text.split(/[;,\s]+/)
  return [...new Set(features)].sort().join(',')
}

function normalMachine(text: string): string {
  const parts = text.replace(/^type=|,type=/, ',').split(',')
  return parts
    .filter((part) => part !== '')
    .map((part) => (part === 'pc-i440fx' ? 'pc' : part))
    .sort()
    .join(',')
}

function isPinned(declared: string, observed: string): boolean {
  if (declared === 'q35') return /^pc-q35-[\d.]+(\+pve\d+)?$/.test(observed)
  return declared === 'pc' && /^pc-i440fx-[\d.]+(\+pve\d+)?$/.test(observed)
}

/** Processors plugged in at start; 0 means all of them. */
export const cpuHotplugged = scalar<number>({
  path: 'cpu.hotplugged',
  key: 'vcpus',
  effect: (_from, _to, config) => (hotplugs(config, 'cpu') ? 'live' : 'restart'),
  declared: (vm) => vm.cpu?.hotplugged,
  observed: (config) => countOf(config.vcpus) ?? 0,
  print: String,
  none: (value) => value === 0,
})

const DEFAULT_TYPE = 'kvm64'

/** Type and flags share one property string; its other parts stay. */
export const cpuType = device<VmSpec, VmCpu>({
  path: 'cpu',
  key: 'cpu',
  bare: 'cputype',
  effect: 'restart',
  whenMissing: 'its parts',
  declared: ({ cpu }) => (cpu?.type === undefined && cpu?.flags === undefined ? undefined : cpu),
  // Flags follow a type, even the default one.
  print: (properties) => printProperties(new Map([['cputype', DEFAULT_TYPE], ...properties]), 'cputype'),
  parts: [
    { field: 'type', key: 'cputype', fallback: DEFAULT_TYPE },
    { field: 'flags', key: 'flags' },
  ],
})

const DEFAULT_MB = 512

export const memoryDedicated = scalar<number>({
  path: 'memory.dedicatedMb',
  key: 'memory',
  effect: (from, to, config) =>
    to > from && hotplugs(config, 'memory') && flagOf(config.numa) === true ? 'live' : 'restart',
  declared: (vm) => vm.memory?.dedicatedMb,
  observed: dedicated,
  print: String,
})

/** If absent, the balloon exists and never shrinks; 0 removes the device, which only a restart can do. */
export const memoryFloating = scalar<number>({
  path: 'memory.floatingMb',
  key: 'balloon',
  effect: (from, to) => (from === 0 || to === 0 ? 'restart' : 'live'),
  declared: (vm) => vm.memory?.floatingMb,
  observed: (config) => countOf(config.balloon) ?? dedicated(config),
  print: String,
})

/** Memory shared with the host (ivshmem), in MiB. Only root may set it; a token gets a clear refusal. */
export const memoryShared: VmOption = {
  create({ spec: vm, externalId }, params) {
    if (vm.memory?.shared) params.ivshmem = printShared(vm.memory.shared, externalId)
  },
  compare({ spec: vm }, config, changes) {
    if (!vm.memory?.shared) return
    const text = textOf(config.ivshmem)
    const from = text === undefined ? 0 : (countOf(parseProperties(text, 'size').get('size')) ?? 0)
    if (from !== vm.memory.shared)
      changes.push({ path: 'memory.shared', from, to: vm.memory.shared, effect: 'restart' })
  },
  update({ spec: vm, externalId }, _config, params, chosen) {
    if (chosen.has('memory.shared') && vm.memory?.shared) params.ivshmem = printShared(vm.memory.shared, externalId)
  },
}

function printShared(sizeMb: number, externalId: string): string {
  return `size=${sizeMb},name=vm-${externalId}-ivshmem`
}

/** `2048`, or on newer versions sometimes `current=2048`. */
function dedicated(config: ApiFields): number {
  const value = config.memory
  if (typeof value === 'string' && value.includes('=')) {
    return countOf(parseProperties(value, 'current').get('current')) ?? DEFAULT_MB
  }
  return countOf(value) ?? DEFAULT_MB
}

const TEXTS = ['manufacturer', 'product', 'version', 'serial', 'sku', 'family'] as const

/**
 * The firmware's data about the computer. Proxmox generates a UUID, which stays unless another is declared. Texts are
 * written in base64, since plain ones allow hardly any characters.
 */
export const smbios: VmOption = {
  create({ spec: vm }, params) {
    if (vm.smbios !== undefined) params.smbios1 = print({}, vm.smbios, () => true)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.smbios === undefined) return
    const seen = read(config)
    for (const field of ['uuid', ...TEXTS] as const) {
      const to = vm.smbios[field]
      const from = seen[field]
      const same = field === 'uuid' ? from?.toLowerCase() === to?.toLowerCase() : (from ?? '') === to
      if (to !== undefined && !same) changes.push({ path: `smbios.${field}`, from, to, effect: 'restart' })
    }
  },
  update({ spec: vm }, config, params, chosen) {
    const isChosen = (field: string) => chosen.has(`smbios.${field}`)
    if (vm.smbios === undefined || !['uuid', ...TEXTS].some(isChosen)) return
    params.smbios1 = print(read(config), vm.smbios, isChosen)
  },
}

function read(config: ApiFields): VmSmbios {
  const seen = parseProperties(textOf(config.smbios1) ?? '', 'uuid')
  const encoded = flagOf(seen.get('base64')) === true
  const decode = (text: string | undefined) =>
    text !== undefined && encoded ? Buffer.from(text, 'base64').toString('utf8') : text
  const uuid = seen.get('uuid')
  const texts = TEXTS.flatMap((field) => {
    const value = decode(seen.get(field))
    return value === undefined ? [] : [[field, value] as const]
  })
  return { ...(uuid === undefined ? {} : { uuid }), ...Object.fromEntries(texts) }
}

function print(seen: VmSmbios, declared: VmSmbios, isChosen: (field: string) => boolean): string {
  const next = { ...seen }
  for (const field of ['uuid', ...TEXTS] as const) {
    const value = declared[field]
    if (value !== undefined && isChosen(field)) Object.assign(next, { [field]: value })
  }
  const properties: Properties = new Map()
  if (next.uuid !== undefined) properties.set('uuid', next.uuid)
  for (const field of TEXTS) {
    const value = next[field]
    if (value === undefined || value === '') continue
    properties.set('base64', '1')
    properties.set(field, Buffer.from(value, 'utf8').toString('base64'))
  }
  return printProperties(properties, '')
}
