import { countOf } from '../foreign.ts'
import { type Properties, parseProperties, printProperties } from '../property-string.ts'
import { drop, flag, hotplugs, quantity, textOf, type VmOption, word } from './option.ts'

export const cpuCores = quantity({
  path: 'cpu.cores',
  key: 'cores',
  effect: 'restart',
  fallback: 1,
  declared: (vm) => vm.cpu?.cores,
})

export const cpuSockets = quantity({
  path: 'cpu.sockets',
  key: 'sockets',
  effect: 'restart',
  fallback: 1,
  declared: (vm) => vm.cpu?.sockets,
})

export const cpuNuma = flag({
  path: 'cpu.numa',
  key: 'numa',
  effect: 'restart',
  fallback: false,
  declared: (vm) => vm.cpu?.numa,
})

/** 0 means no limit. */
export const cpuLimit = quantity({
  path: 'cpu.limit',
  key: 'cpulimit',
  effect: 'live',
  fallback: 0,
  declared: (vm) => vm.cpu?.limit,
})

const DEFAULT_UNITS = [100, 1024]

/** Left out, it is 100 or 1024 depending on the host's control groups; both count as the default. */
export const cpuUnits = quantity({
  path: 'cpu.units',
  key: 'cpuunits',
  effect: 'live',
  fallback: 0,
  declared: (vm) => vm.cpu?.units,
  same: (declared, observed) => observed === 0 && DEFAULT_UNITS.includes(declared),
})

/** Processors plugged in at start, out of all; 0 means all of them. */
export const cpuHotplugged: VmOption = {
  create({ spec: vm }, params) {
    if (vm.cpu?.hotplugged) params.vcpus = String(vm.cpu.hotplugged)
  },
  compare({ spec: vm }, config, changes) {
    const to = vm.cpu?.hotplugged
    const from = countOf(config.vcpus) ?? 0
    if (to === undefined || to === from) return
    changes.push({ path: 'cpu.hotplugged', from, to, effect: hotplugs(config, 'cpu') ? 'live' : 'restart' })
  },
  update({ spec: vm }, _config, params, chosen) {
    if (!chosen.has('cpu.hotplugged')) return
    if (vm.cpu?.hotplugged) params.vcpus = String(vm.cpu.hotplugged)
    else drop(params, 'vcpus')
  },
}

/** Only root may set these two. */
export const cpuAffinity = word({
  path: 'cpu.affinity',
  key: 'affinity',
  effect: 'restart',
  fallback: '',
  declared: (vm) => vm.cpu?.affinity,
})

export const cpuArchitecture = word({
  path: 'cpu.architecture',
  key: 'arch',
  effect: 'restart',
  fallback: 'x86_64',
  declared: (vm) => vm.cpu?.architecture,
  // The usual one is not sent: to set it at all takes root.
  unsent: (value) => value === 'x86_64',
})

const DEFAULT_TYPE = 'kvm64'

/** Type and flags share one property string; whatever else is in it stays. */
export const cpuType: VmOption = {
  create({ spec: vm }, params) {
    if (vm.cpu?.type === undefined && vm.cpu?.flags === undefined) return
    params.cpu = printCpu(new Map([['cputype', vm.cpu.type ?? DEFAULT_TYPE]]), vm.cpu.flags)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.cpu?.type === undefined && vm.cpu?.flags === undefined) return
    const seen = readCpu(config.cpu)
    const type = seen.get('cputype') ?? DEFAULT_TYPE
    if (vm.cpu.type !== undefined && vm.cpu.type !== type)
      changes.push({ path: 'cpu.type', from: type, to: vm.cpu.type, effect: 'restart' })
    if (vm.cpu.flags === undefined) return
    const from = sortedFlags(seen.get('flags')?.split(';') ?? [])
    const to = sortedFlags(vm.cpu.flags)
    if (from.join(';') !== to.join(';')) changes.push({ path: 'cpu.flags', from, to, effect: 'restart' })
  },
  update({ spec: vm }, config, params, chosen) {
    if (!chosen.has('cpu.type') && !chosen.has('cpu.flags')) return
    const next = readCpu(config.cpu)
    if (chosen.has('cpu.type') && vm.cpu?.type !== undefined) next.set('cputype', vm.cpu.type)
    if (!next.has('cputype')) next.set('cputype', DEFAULT_TYPE)
    params.cpu = printCpu(next, chosen.has('cpu.flags') ? vm.cpu?.flags : undefined)
  },
}

function readCpu(value: unknown): Properties {
  return parseProperties(textOf(value) ?? '', 'cputype')
}

function printCpu(properties: Properties, flags: readonly string[] | undefined): string {
  if (flags !== undefined) properties.delete('flags')
  if (flags !== undefined && flags.length > 0) properties.set('flags', flags.join(';'))
  return printProperties(properties, 'cputype')
}

function sortedFlags(flags: readonly string[]): string[] {
  return flags.filter((flag) => flag !== '').sort()
}
