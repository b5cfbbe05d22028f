import type { VmSpec } from '../../../model/vm.ts'
import { flagOf } from '../foreign.ts'
import { parseProperties } from '../property-string.ts'
import { formatOf, storageOf } from './disks.ts'
import { printFlag, textOf, type VmOption } from './option.ts'

/** The disk that holds UEFI variables. What is on it cannot be carried over to another type, so those are replacements. */
export const efiDisk: VmOption = {
  create({ spec: vm }, params) {
    if (vm.efiDisk !== undefined) params.efidisk0 = newEfiDisk(vm.efiDisk)
  },
  compare({ spec: vm }, config, changes) {
    const declared = vm.efiDisk
    if (declared === undefined) return
    const text = textOf(config.efidisk0)
    if (text === undefined) {
      changes.push({ path: 'efiDisk', from: undefined, to: newEfiDisk(declared), effect: 'restart' })
      return
    }
    const seen = parseProperties(text, 'file')
    const storage = storageOf(seen.get('file') ?? seen.get('volume'))
    if (storage !== declared.storage)
      changes.push({ path: 'efiDisk.storage', from: storage, to: declared.storage, effect: 'live' })
    const format = formatOf(seen.get('file') ?? seen.get('volume'))
    if (declared.format !== undefined && format !== undefined && format !== declared.format)
      changes.push({ path: 'efiDisk.format', from: format, to: declared.format, effect: 'live' })
    const type = seen.get('efitype') ?? '2m'
    if (declared.type !== undefined && declared.type !== type)
      changes.push({ path: 'efiDisk.type', from: type, to: declared.type, effect: 'replace' })
    const keys = flagOf(seen.get('pre-enrolled-keys')) ?? false
    if (declared.preEnrolledKeys !== undefined && declared.preEnrolledKeys !== keys)
      changes.push({ path: 'efiDisk.preEnrolledKeys', from: keys, to: declared.preEnrolledKeys, effect: 'replace' })
  },
  update({ spec: vm }, _config, params, chosen) {
    if (chosen.has('efiDisk') && vm.efiDisk !== undefined) params.efidisk0 = newEfiDisk(vm.efiDisk)
  },
}

function newEfiDisk(declared: NonNullable<VmSpec['efiDisk']>): string {
  const parts = [`${declared.storage}:1`]
  if (declared.type !== undefined) parts.push(`efitype=${declared.type}`)
  if (declared.format !== undefined) parts.push(`format=${declared.format}`)
  if (declared.preEnrolledKeys !== undefined) parts.push(`pre-enrolled-keys=${printFlag(declared.preEnrolledKeys)}`)
  return parts.join(',')
}
