import { may } from '../../../world/access.ts'
import { parseProperties } from '../../../world/properties.ts'
import { failed } from '../../api-error.ts'
import type { Call, Routes } from '../../call.ts'
import { deletions } from '../collection.ts'
import { allowedTags } from '../guest/tags.ts'
import { fields, shelf, type Thing, textOf } from '../shelf.ts'

export const datacentreOptionRoutes: Routes = {
  'GET /cluster/options': read,
  'PUT /cluster/options': write,
}

/** Options whose parts are shown one by one; the others come back as they were written. */
const IN_PARTS = /^(crs|ha|migration|next-id|notify|replication|tag-style|u2f|user-tag-access|webauthn)$/
const LISTS = /^(user-allow-list)$/
const FLAGS = /^(allow-subdomains|case-sensitive|ha-rebalance-on-start|ha-auto-rebalance)$/

/** What everybody needs to show guests; all else is for auditors. */
const OPEN = ['console', 'tag-style', 'tags']

function read(call: Call): Thing {
  const kept = shelf(call.world, 'options').get('datacenter') ?? {}
  const tags = { 'allowed-tags': allowedTags(call) }
  const shown = Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, shownOption(key, value)]))
  if (may(call.world, call.who, '/', 'Sys.Audit')) {
    return { description: '', mac_prefix: 'BC:24:11', ...shown, ...tags }
  }
  return { ...Object.fromEntries(OPEN.filter((key) => key in shown).map((key) => [key, shown[key]])), ...tags }
}

function shownOption(key: string, value: unknown): unknown {
  const text = String(value)
  if (key === 'registered-tags') return text.split(/[,;\s]+/).sort()
  if (key === 'description') return text === '' ? '' : `${text.replace(/\n+$/, '')}\n`
  if (key === 'migration_unsecure') return Number(text)
  // Each option is one line of a file.
  if (!IN_PARTS.test(key)) return text.split('\n')[0]
  const { main, named } = parseProperties(text, 'type')
  const parts: Thing = main === '' ? {} : { type: main }
  for (const [name, part] of named) {
    parts[name] = LISTS.test(name) ? part.split(';').sort() : FLAGS.test(name) ? Number(part) : part
  }
  return parts
}

function write(call: Call): null {
  const options = shelf(call.world, 'options')
  const kept: Thing = { ...options.get('datacenter'), ...fields(call) }
  for (const name of deletions(call)) delete kept[name]
  // Of old times: one viewer that is gone, and a switch that became a word.
  if (kept.console === 'applet') kept.console = 'html5'
  if (kept.migration_unsecure !== undefined && kept.migration === undefined) {
    kept.migration = `type=${textOf(kept.migration_unsecure) === '1' ? 'insecure' : 'secure'}`
    delete kept.migration_unsecure
  }
  const range = parseProperties(textOf(kept['next-id'])).named
  const [lower, upper] = [Number(range.get('lower') ?? 100), Number(range.get('upper') ?? 1_000_000)]
  if (lower > upper) throw failed(`lower (${lower}) <= upper (${upper}) boundary rule broken`)
  options.set('datacenter', kept)
  return null
}
