import type { Change } from '../../model/change.ts'
import type { CloseLook, Sighting } from '../../model/sighting.ts'
import { powerOf } from './vm/power.ts'

/** What is declared of every sort of guest and lies outside its configuration. */
interface Outside {
  readonly pool?: string
  readonly template?: boolean
  readonly power?: 'running' | 'stopped'
}

export function comparePool({ pool }: Outside, sighting: Sighting, changes: Change[]): void {
  if (pool === undefined || pool === sighting.pool) return
  changes.push({ path: 'pool', from: sighting.pool, to: pool, effect: 'live' })
}

export function compareTemplate({ template }: Outside, sighting: Sighting, changes: Change[]): void {
  const from = sighting.template === true
  if (template === undefined || template === from) return
  // It must be switched off for it. Clones may stand on a template's disks, so there is no safe way back.
  changes.push({ path: 'template', from, to: template, effect: template ? 'restart' : 'replace' })
}

/**
 * Proxmox forgets a pending value when the one in force is written again, so a declaration that asks for what is in force
 * needs no restart: the changes that only take a pending value back become `live`, and their keys wait for nothing. Pure.
 */
export function withoutTakenBack(
  close: Pick<CloseLook, 'config' | 'pending' | 'inForce'>,
  compare: (config: CloseLook['config']) => readonly Change[],
): { readonly changes: readonly Change[]; readonly pending: readonly string[] } {
  let changes = compare(close.config)
  const pending = (close.pending ?? []).filter((key) => {
    const { [key]: _pending, ...others } = close.config
    const before = close.inForce?.[key]
    const left = new Set(compare(before === undefined ? others : { ...others, [key]: before }).map(({ path }) => path))
    const known = new Set(changes.map(({ path }) => path))
    const takenBack = [...known].filter((path) => !left.has(path))
    if (takenBack.length === 0 || [...left].some((path) => !known.has(path))) return true
    changes = changes.map((change) =>
      takenBack.includes(change.path) && change.effect === 'restart' ? { ...change, effect: 'live' } : change,
    )
    return false
  })
  return { changes, pending }
}

/**
 * Values that are written and wait for a restart look like the wanted ones in the configuration. Only those that the
 * declaration has a say in count: a restart for somebody else's change is not ours to make.
 */
export function comparePending(
  declared: ReadonlySet<string>,
  pending: readonly string[] | undefined,
  changes: Change[],
): void {
  const waiting = pending?.filter((key) => declared.has(key)) ?? []
  if (waiting.length === 0) return
  changes.push({ path: 'restart', from: `pending: ${waiting.sort().join(', ')}`, to: 'in force', effect: 'restart' })
}

export function comparePower({ power, template }: Outside, sighting: Sighting, changes: Change[]): void {
  if (power === undefined || template === true || sighting.template === true) return
  const from = powerOf(sighting)
  // Nothing is concluded from "unknown": the host may only be out of sight.
  if (from === 'unknown' || from === power) return
  changes.push({ path: 'power', from, to: power, effect: 'live' })
}
