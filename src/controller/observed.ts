import { LIMITS } from '../lib/limits.ts'
import type { Sighting } from '../model/sighting.ts'
import { clean } from './drifts.ts'

/** Names of fields that may hold something secret, whatever the outside system says in them. */
const HIDDEN = /passw|secret|token|private|credential/i

/** What the outside system shows of a thing, by field and as text. Pure; what may be secret is `***`. */
export function observedOf(sighting: Sighting): Readonly<Record<string, string>> {
  const { name, host, power, lock, template, pool, memoryBytes, diskBytes, cpus, close } = sighting
  const bulk = { name, host, power: close?.power ?? power, lock, template, pool, cpus, memoryBytes, diskBytes }
  const inside = { agent: close?.agent, addresses: close?.addresses?.join(', ') }
  const shown: Record<string, string> = {}
  for (const [field, value] of [...Object.entries(bulk), ...Object.entries(inside)]) put(shown, field, value)
  for (const [field, value] of Object.entries(close?.config ?? {}).slice(0, LIMITS.observedFields))
    put(shown, `config.${field}`, value)
  if (close?.pending !== undefined && close.pending.length > 0) put(shown, 'pending', close.pending.join(', '))
  return shown
}

function put(shown: Record<string, string>, field: string, value: unknown): void {
  if (value === undefined || value === null || value === '') return
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  shown[clean(field).slice(0, LIMITS.foreignNameLength)] = HIDDEN.test(field)
    ? '***'
    : clean(text).slice(0, LIMITS.shownValueLength)
}
