import { countOf } from '../foreign.ts'
import { type Option, textOf } from '../option.ts'
import { parseProperties, printProperties } from '../property-string.ts'

interface Startup {
  readonly order?: number
  readonly upSeconds?: number
  readonly downSeconds?: number
}

const PARTS = [
  ['order', 'order'],
  ['upSeconds', 'up'],
  ['downSeconds', 'down'],
] as const

/** Order and delays when the host starts. Needs Sys.Modify on /. */
export const startup: Option<{ readonly startup?: Startup }> = {
  create({ spec }, params) {
    const text = printStartup(spec.startup)
    if (text !== undefined) params.startup = text
  },
  compare({ spec }, config, changes) {
    if (spec.startup === undefined) return
    const seen = parseProperties(textOf(config.startup) ?? '', 'order')
    for (const [field, key] of PARTS) {
      const to = spec.startup[field]
      const from = countOf(seen.get(key))
      if (to !== undefined && to !== from) changes.push({ path: `startup.${field}`, from, to, effect: 'live' })
    }
  },
  update({ spec }, config, params, chosen) {
    if (spec.startup === undefined || !PARTS.some(([field]) => chosen.has(`startup.${field}`))) return
    const next = parseProperties(textOf(config.startup) ?? '', 'order')
    for (const [field, key] of PARTS) {
      const to = spec.startup[field]
      if (to !== undefined && chosen.has(`startup.${field}`)) next.set(key, String(to))
    }
    params.startup = [...next].map(([key, value]) => `${key}=${value}`).join(',')
  },
}

function printStartup(declared: Startup | undefined): string | undefined {
  const properties = new Map<string, string>()
  for (const [field, key] of PARTS) {
    const value = declared?.[field]
    if (value !== undefined) properties.set(key, String(value))
  }
  return properties.size === 0 ? undefined : printProperties(properties, '')
}
