import type { VmNic, VmSpec } from '../../../model/vm.ts'
import { devices } from '../parts.ts'
import { type Properties, parseProperties } from '../property-string.ts'
import { hotplugs, type VmOption } from './option.ts'

/** Network cards. The hardware address that Proxmox chose stays unless another is declared. */
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
    { field: 'bridge', key: 'bridge' },
    { field: 'firewall', key: 'firewall', fallback: false },
    { field: 'disconnected', key: 'link_down', fallback: false },
    { field: 'mtu', key: 'mtu', noneAtZero: true },
    { field: 'queues', key: 'queues', noneAtZero: true },
    { field: 'rateMBps', key: 'rate', noneAtZero: true },
    { field: 'vlan', key: 'tag', noneAtZero: true },
    { field: 'trunks', key: 'trunks', read: expandTrunks },
  ],
})

/** Proxmox writes `virtio=BC:24:…` where it means model and address; both forms become `model` and `macaddr`. */
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

/** `10;20-30` as numbers in order. */
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
