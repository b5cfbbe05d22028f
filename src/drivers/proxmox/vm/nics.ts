import type { Change } from '../../../model/change.ts'
import type { VmNic } from '../../../model/vm.ts'
import { type ApiFields, countOf, flagOf } from '../foreign.ts'
import { type Properties, parseProperties } from '../property-string.ts'
import { hotplugs, printFlag, textOf, type VmOption } from './option.ts'

type NicField =
  | 'model'
  | 'bridge'
  | 'mac'
  | 'vlan'
  | 'trunks'
  | 'firewall'
  | 'disconnected'
  | 'mtu'
  | 'queues'
  | 'rateMBps'

const KEYS: readonly (readonly [NicField, string])[] = [
  ['bridge', 'bridge'],
  ['firewall', 'firewall'],
  ['disconnected', 'link_down'],
  ['mtu', 'mtu'],
  ['queues', 'queues'],
  ['rateMBps', 'rate'],
  ['vlan', 'tag'],
  ['trunks', 'trunks'],
]

const FIELDS: readonly NicField[] = ['model', 'mac', ...KEYS.map(([field]) => field)]

/** Network cards. The hardware address that Proxmox chose stays unless another is declared. */
export const nics: VmOption = {
  create({ spec: vm }, params) {
    for (const nic of vm.nics) params[nic.slot] = newNic(nic)
  },
  compare({ spec: vm }, config, changes) {
    for (const nic of vm.nics) compareNic(nic, config, changes)
  },
  update({ spec: vm }, config, params, chosen) {
    for (const nic of vm.nics) {
      const path = `nics.${nic.slot}`
      const text = textOf(config[nic.slot])
      if (text === undefined) {
        if (chosen.has(path)) params[nic.slot] = newNic(nic)
        continue
      }
      const fields = FIELDS.filter((field) => chosen.has(`${path}.${field}`))
      if (fields.length > 0) params[nic.slot] = changedNic(text, nic, fields)
    }
  },
}

function compareNic(nic: VmNic, config: ApiFields, changes: Change[]): void {
  const effect = hotplugs(config, 'network') ? 'live' : 'restart'
  const path = `nics.${nic.slot}`
  const text = textOf(config[nic.slot])
  if (text === undefined) {
    changes.push({ path, from: undefined, to: newNic(nic), effect })
    return
  }
  const seen = readNic(text)
  for (const field of FIELDS) {
    const to = nic[field]
    if (to === undefined) continue
    const from = seenValue(field, seen)
    if (isSame(field, from, to)) continue
    changes.push({ path: `${path}.${field}`, from, to, effect })
  }
}

function isSame(field: NicField, from: unknown, to: unknown): boolean {
  if (from === to) return true
  if (field === 'mac') return String(from).toUpperCase() === String(to).toUpperCase()
  if (field === 'trunks') return String(from) === [...(to as readonly number[])].sort((a, b) => a - b).join(',')
  // 0 is how a declaration says "none of it".
  return to === 0 && from === undefined
}

function seenValue(field: NicField, seen: Properties): unknown {
  switch (field) {
    case 'model':
    case 'bridge':
      return seen.get(field)
    case 'mac':
      return seen.get('macaddr')
    case 'firewall':
      return flagOf(seen.get('firewall')) ?? false
    case 'disconnected':
      return flagOf(seen.get('link_down')) ?? false
    case 'trunks':
      return expandTrunks(seen.get('trunks') ?? '')
    case 'vlan':
      return countOf(seen.get('tag'))
    case 'mtu':
    case 'queues':
      return countOf(seen.get(field))
    case 'rateMBps':
      return countOf(seen.get('rate'))
  }
}

function newNic(nic: VmNic): string {
  const properties: Properties = new Map([['model', nic.model]])
  if (nic.mac !== undefined) properties.set('macaddr', nic.mac)
  setFields(properties, nic, FIELDS)
  return printNic(properties)
}

function changedNic(text: string, nic: VmNic, fields: readonly NicField[]): string {
  const properties = readNic(text)
  if (fields.includes('model')) properties.set('model', nic.model)
  if (fields.includes('mac') && nic.mac !== undefined) properties.set('macaddr', nic.mac)
  setFields(properties, nic, fields)
  return printNic(properties)
}

function setFields(properties: Properties, nic: VmNic, fields: readonly NicField[]): void {
  for (const [field, key] of KEYS) {
    const value = fields.includes(field) ? nic[field] : undefined
    if (value === undefined) continue
    if (value === 0 || (Array.isArray(value) && value.length === 0)) properties.delete(key)
    else if (Array.isArray(value)) properties.set(key, value.join(';'))
    else properties.set(key, typeof value === 'boolean' ? printFlag(value) : String(value))
  }
}

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
