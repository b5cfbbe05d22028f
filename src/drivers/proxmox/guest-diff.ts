import type { Change, ObservedDetails, ObservedResource, Resource } from '../../model/resource.ts'
import { isUp, powerOf } from '../guests.ts'
import { hostChange, type Moving } from './move-guest.ts'
import { compareAll, createParams, type Option, wantedOf } from './option.ts'

/** Declared values outside the configuration, for every type of guest. */
interface Outside {
  readonly pool?: string
  readonly template?: boolean
  readonly power?: 'running' | 'stopped'
  readonly restart?: 'never'
}

/** The specific parts of a comparison for one type of guest. */
interface GuestSort<Spec> {
  readonly options: readonly Option<Spec>[]
  readonly moving: Moving
  /** Differences outside the options, in addition to those of every guest. */
  readonly also?: (changes: Change[]) => void
  /** Keys that the declaration decides although it sends none. */
  readonly keys?: readonly string[]
  /** Returns the change, with the reason if it is impossible. */
  possible(change: Change, config: ObservedDetails['config'], running: boolean): Change
}

/** Returns the differences between a guest and its declaration. Pure, and called for every guest of every pass. */
export function diffGuest<Spec extends Outside>(
  resource: Resource,
  spec: Spec,
  observed: ObservedResource,
  { options, moving, also, keys = [], possible }: GuestSort<Spec>,
): readonly Change[] {
  const { close } = observed
  if (close === undefined) return []
  const move = hostChange(moving, observed)
  if (move !== undefined) return [move]
  const wanted = wantedOf(resource, spec, observed.externalId, observed.mark, close.pending)
  const configured = withoutTakenBack(close, (config) => compareAll(options, wanted, config))
  const changes: Change[] = [...configured.changes]
  also?.(changes)
  comparePool(spec, observed, changes)
  compareTemplate(spec, observed, changes)
  const running = isUp(powerOf(observed))
  if (running && spec.restart !== 'never' && configured.pending.length > 0) {
    const declared = new Set([...Object.keys(createParams(options, wanted)), ...(wanted.mark.devices ?? []), ...keys])
    const waiting = configured.pending.filter((key) => declared.has(key) && !isOwnAddition(key, close))
    comparePending(waiting, changes)
  }
  comparePower(spec, observed, changes)
  return changes.map((change) => {
    const next = possible(change, close.config, running)
    // A stopped guest needs no restart.
    return !running && next.effect === 'restart' ? { ...next, effect: 'live' } : next
  })
}

function comparePool({ pool }: Outside, observed: ObservedResource, changes: Change[]): void {
  if (pool === undefined || pool === observed.pool) return
  changes.push({ path: 'pool', from: observed.pool, to: pool, effect: 'live' })
}

function compareTemplate({ template }: Outside, observed: ObservedResource, changes: Change[]): void {
  const from = observed.template === true
  if (template === undefined || template === from) return
  // The guest must be off for it. Clones may depend on a template's disks, so there is no safe way back.
  changes.push({ path: 'template', from, to: template, effect: template ? 'restart' : 'replace' })
}

/**
 * Proxmox drops a pending value when the current one is written again, so a declaration of the current value needs no
 * restart: changes that only drop a pending value become `live`, and their keys are not pending. Pure.
 */
export function withoutTakenBack(
  close: Pick<ObservedDetails, 'config' | 'pending' | 'inForce'>,
  compare: (config: ObservedDetails['config']) => readonly Change[],
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
 * In the configuration a pending value looks like the wanted one. Only pending keys that the declaration sets count:
 * croft does not restart a guest for another person's change.
 */
function comparePending(waiting: readonly string[], changes: Change[]): void {
  if (waiting.length === 0) return
  changes.push({
    path: 'restart',
    from: `pending: ${waiting.toSorted().join(', ')}`,
    to: 'in force',
    effect: 'restart',
  })
}

/** Proxmox itself appends a written disc drive to the boot order; that can wait for the next start. */
function isOwnAddition(key: string, { config, inForce }: Pick<ObservedDetails, 'config' | 'inForce'>): boolean {
  const [before, now] = [String(inForce?.boot), String(config.boot)]
  if (key !== 'boot' || !now.startsWith(`${before};`)) return false
  return now
    .slice(before.length + 1)
    .split(';')
    .every((device) => /(?:^|,)media=cdrom(?:,|$)/.test(String(config[device])))
}

function comparePower({ power, template }: Outside, observed: ObservedResource, changes: Change[]): void {
  if (power === undefined || template === true || observed.template === true) return
  const from = powerOf(observed)
  // "unknown" proves nothing: the host may only be unreachable.
  if (from === 'unknown' || from === power) return
  changes.push({ path: 'power', from, to: power, effect: 'live' })
}
