import type { Change } from '../../../model/change.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { flagOf } from '../foreign.ts'
import { type Properties, parseProperties, printProperties } from '../property-string.ts'
import { printFlag, textOf, type VmOption } from './option.ts'

/** The channel to the guest agent. It is a device: switching it needs a restart. */
export const agent: VmOption = {
  create({ spec: vm }, params) {
    if (vm.agent !== undefined) params.agent = printAgent(new Map(), vm.agent, () => true)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.agent === undefined) return
    const seen = readAgent(config.agent)
    compareTo(changes, 'agent.enabled', flagOf(seen.get('enabled')) ?? false, vm.agent.enabled, 'restart')
    // What else is in the string matters only while there is an agent.
    if (!vm.agent.enabled) return
    compareTo(changes, 'agent.trim', flagOf(seen.get('fstrim_cloned_disks')) ?? false, vm.agent.trim, 'live')
    compareTo(changes, 'agent.type', seen.get('type') ?? 'virtio', vm.agent.type, 'restart')
  },
  update({ spec: vm }, config, params, chosen) {
    if (vm.agent === undefined) return
    if (!chosen.has('agent.enabled') && !chosen.has('agent.trim') && !chosen.has('agent.type')) return
    params.agent = printAgent(readAgent(config.agent), vm.agent, (field) => chosen.has(`agent.${field}`))
  },
}

function readAgent(value: unknown): Properties {
  return parseProperties(textOf(value) ?? '', 'enabled')
}

function compareTo(changes: Change[], path: string, from: unknown, to: unknown, effect: Change['effect']): void {
  if (to !== undefined && to !== from) changes.push({ path, from, to, effect })
}

function printAgent(
  properties: Properties,
  declared: NonNullable<VmSpec['agent']>,
  write: (field: 'enabled' | 'trim' | 'type') => boolean,
): string {
  if (write('enabled') || !properties.has('enabled')) properties.set('enabled', printFlag(declared.enabled))
  if (declared.trim !== undefined && write('trim')) properties.set('fstrim_cloned_disks', printFlag(declared.trim))
  if (declared.type !== undefined && write('type')) properties.set('type', declared.type)
  return printProperties(properties, 'enabled')
}
