import type { VmSmbios } from '../../../model/vm.ts'
import { type ApiFields, flagOf } from '../foreign.ts'
import { type Properties, parseProperties, printProperties } from '../property-string.ts'
import { textOf, type VmOption } from './option.ts'

const TEXTS = ['manufacturer', 'product', 'version', 'serial', 'sku', 'family'] as const

/**
 * What the firmware says about the computer. Proxmox makes up a UUID, which stays unless another is declared. Texts
 * are written in base64, because plain ones may hold nearly nothing.
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
