import { countOf } from '../foreign.ts'
import { parseProperties, printProperties } from '../property-string.ts'
import { flag, textOf, type VmOption } from './option.ts'

export const onBoot = flag({
  path: 'onBoot',
  key: 'onboot',
  effect: 'live',
  fallback: false,
  declared: (vm) => vm.onBoot,
})

const PARTS = [
  ['order', 'order'],
  ['upSeconds', 'up'],
  ['downSeconds', 'down'],
] as const

/** Order and delays when the host starts. Needs Sys.Modify on /. */
export const startup: VmOption = {
  create({ spec: vm }, params) {
    const text = printStartup(vm.startup)
    if (text !== undefined) params.startup = text
  },
  compare({ spec: vm }, config, changes) {
    if (vm.startup === undefined) return
    const seen = parseProperties(textOf(config.startup) ?? '', 'order')
    for (const [field, key] of PARTS) {
      const to = vm.startup[field]
      const from = countOf(seen.get(key))
      if (to !== undefined && to !== from) changes.push({ path: `startup.${field}`, from, to, effect: 'live' })
    }
  },
  update({ spec: vm }, config, params, chosen) {
    if (vm.startup === undefined || !PARTS.some(([field]) => chosen.has(`startup.${field}`))) return
    const next = parseProperties(textOf(config.startup) ?? '', 'order')
    for (const [field, key] of PARTS) {
      const to = vm.startup[field]
      if (to !== undefined && chosen.has(`startup.${field}`)) next.set(key, String(to))
    }
    params.startup = [...next].map(([key, value]) => `${key}=${value}`).join(',')
  },
}

function printStartup(declared: { readonly [field: string]: number | undefined } | undefined): string | undefined {
  const properties = new Map<string, string>()
  for (const [field, key] of PARTS) {
    const value = declared?.[field]
    if (value !== undefined) properties.set(key, String(value))
  }
  return properties.size === 0 ? undefined : printProperties(properties, '')
}
