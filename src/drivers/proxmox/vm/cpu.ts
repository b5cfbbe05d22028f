import type { VmCpu, VmSpec } from '../../../model/vm.ts'
import { countOf } from '../foreign.ts'
import { device } from '../parts.ts'
import { printProperties } from '../property-string.ts'
import { hotplugs, scalar } from './option.ts'

/** Processors plugged in at start, out of all; 0 means all of them. */
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

/** Type and flags share one property string; whatever else is in it stays. */
export const cpuType = device<VmSpec, VmCpu>({
  path: 'cpu',
  key: 'cpu',
  bare: 'cputype',
  effect: 'restart',
  whenMissing: 'its parts',
  declared: ({ cpu }) => (cpu?.type === undefined && cpu?.flags === undefined ? undefined : cpu),
  // Flags stand behind a type, also behind the one that is so by itself.
  print: (properties) => printProperties(new Map([['cputype', DEFAULT_TYPE], ...properties]), 'cputype'),
  parts: [
    { field: 'type', key: 'cputype', fallback: DEFAULT_TYPE },
    { field: 'flags', key: 'flags' },
  ],
})
