import { countOf } from '../foreign.ts'
import { type Properties, parseProperties, printProperties } from '../property-string.ts'
import { drop, hotplugs, textOf, type VmOption } from './option.ts'

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
