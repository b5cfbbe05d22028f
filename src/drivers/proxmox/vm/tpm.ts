import { parseProperties } from '../property-string.ts'
import { volumeOf } from './disks.ts'
import { textOf, type VmOption } from './option.ts'

const VERSION = 'v2.0'

/** Where the TPM keeps what it knows. Its version cannot be changed: the keys in it would be lost. */
export const tpm: VmOption = {
  create({ spec: vm }, params) {
    if (vm.tpm !== undefined) params.tpmstate0 = newTpm(vm.tpm.storage, vm.tpm.version)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.tpm === undefined) return
    const { storage, version } = vm.tpm
    const text = textOf(config.tpmstate0)
    if (text === undefined) {
      changes.push({ path: 'tpm', from: undefined, to: newTpm(storage, version), effect: 'restart' })
      return
    }
    const seen = parseProperties(text, 'file')
    const from = volumeOf(seen)?.storage
    if (from !== storage) changes.push({ path: 'tpm.storage', from, to: storage, effect: 'live' })
    // Left out, an old guest has the old one.
    const there = seen.get('version') ?? 'v1.2'
    if (version !== undefined && version !== there)
      changes.push({ path: 'tpm.version', from: there, to: version, effect: 'replace' })
  },
  update({ spec: vm }, _config, params, chosen) {
    if (chosen.has('tpm') && vm.tpm !== undefined) params.tpmstate0 = newTpm(vm.tpm.storage, vm.tpm.version)
  },
}

function newTpm(storage: string, version = VERSION): string {
  return `${storage}:1,version=${version}`
}
