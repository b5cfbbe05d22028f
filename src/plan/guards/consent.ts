import type { Consent } from '../../model/consent.ts'
import { maskChange } from '../../model/masked/masked-change.ts'
import type { Births, Doing, PlanEntry } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { isGuest } from '../../model/resource.ts'
import { lossesOf } from './guard.ts'

/**
 * Returns the list that a person reads before lifting a hold: the thing, the destroyed data, and each field from → to.
 * It excludes digests, times and a guest's host, so that a move alone needs no new consent.
 */
export function shownList(
  { connection, type }: Pick<PlanEntry, 'connection' | 'type'>,
  action: Doing,
  births?: Births,
): readonly string[] {
  // The id of a new thing may change in each pass.
  const thing = action.do === 'create' ? type : `${type} ${action.externalId}`
  const changes = 'changes' in action ? action.changes.filter(({ path }) => path !== 'restart') : []
  const takes = new Set(lossesOf(action).flatMap((loss) => loss.takes))
  const losses = action.do === 'delete' ? [] : action.steps.filter(({ disruption }) => disruption === 'data-loss')
  return [
    `${action.do} ${thing} on ${connection}`,
    ...(births === undefined ? [] : [`born as ${births.is ?? 'none that can be read'}`]),
    ...[...takes].map((part) => (isGuest(type) ? `with the data on ${part}` : `with ${part}`)),
    ...changes.map(changeLine),
    ...losses.map(({ summary }) => `data is lost: ${summary}`),
  ]
}

function changeLine(change: Change): string {
  const { path, from, to, secret, effect } = maskChange(change)
  const text = (value: unknown): string => (secret === true ? '***' : (JSON.stringify(value) ?? 'nothing'))
  return `${path}: ${text(from)} → ${text(to)}${effect === 'replace' ? ' (replaces it)' : ''}`
}

/** Returns the consent that covers this action under this guard: the same list, or a shorter one. */
export function consentTo(
  consents: readonly Consent[] | undefined,
  key: string,
  guard: string,
  action: Doing,
  list: readonly string[],
): Consent | undefined {
  return consents?.find((one) => {
    if (one.key !== key || one.guard !== guard) return false
    if (one.shown === undefined)
      return action.do === 'update' && !list.some((line) => line.startsWith('data is lost: '))
    const shown = new Set([...one.shown, ...(one.opened === true ? broughtAbout(one.shown) : [])])
    return list.every((line) => shown.has(line))
  })
}

/** Returns the changes that a started replacement itself causes: it shuts the guest down, or has already deleted it. */
function broughtAbout([first = '']: readonly string[]): readonly string[] {
  const [, thing, connection] = /^replace (\S+) \S+ on (.*)$/.exec(first) ?? []
  const again = thing === undefined || connection === undefined ? [] : [`create ${thing} on ${connection}`]
  return [...again, changeLine({ path: 'power', from: 'stopped', to: 'running', effect: 'live' })]
}
