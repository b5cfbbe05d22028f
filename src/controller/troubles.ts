import type { EstateView } from '../model/estate-view.ts'
import type { TroubleSort } from '../model/notification.ts'

/** Something that is wrong now and that somebody should know of. The same trouble keeps its id while it lasts. */
export interface Trouble {
  readonly id: string
  readonly sort: TroubleSort
  readonly title: string
  readonly text: string
}

/** Everything that is wrong, out of what is shown. Pure. */
export function troublesOf(view: EstateView): readonly Trouble[] {
  return [
    ...view.sources.flatMap(({ name, trouble }): Trouble[] =>
      trouble === undefined
        ? []
        : [{ id: `source/${name}`, sort: 'source', title: `The source ${name} cannot be followed`, text: trouble }],
    ),
    ...view.connections.flatMap(({ name, state, message }): Trouble[] =>
      state === 'ok' || state === 'incomplete'
        ? []
        : [
            {
              id: `connection/${name}`,
              sort: 'connection',
              title: `The connection ${name} is ${state}`,
              text: message ?? '',
            },
          ],
    ),
    ...view.resources.flatMap(({ key, conditions }): Trouble[] => {
      const stalled = conditions.find((one) => one.type === 'Stalled' && one.status === 'True')
      if (stalled !== undefined)
        return [{ id: `stalled/${key}`, sort: 'resource', title: `${key} needs a person`, text: stalled.message }]
      const ready = conditions.find((one) => one.type === 'Ready')
      return ready?.status !== 'False'
        ? []
        : [{ id: `ready/${key}`, sort: 'resource', title: `${key} is not ready`, text: ready.message }]
    }),
    ...[
      ...new Map(view.drifts.filter(({ policy }) => policy === 'report').map((drift) => [drift.key, drift])).values(),
    ].map(
      ({ key, field, declared, observed, by }): Trouble => ({
        id: `drift/${key}`,
        sort: 'drift',
        title: `${key} has drifted`,
        text: `${field} is ${observed}, Git says ${declared}${by === undefined ? '' : ` (${by.user}, ${by.task})`}`,
      }),
    ),
    ...view.clusters.flatMap(({ name, decision, quorumMargin }): Trouble[] => {
      if (typeof quorumMargin === 'number' && quorumMargin < 0)
        return [
          {
            id: `cluster/${name}`,
            sort: 'cluster',
            title: `${name} has lost its quorum`,
            text: decision.faultTolerance,
          },
        ]
      if (decision.phase !== 'Degraded' && decision.phase !== 'Blocked') return []
      const why = [...decision.refusals, ...decision.holds].map(({ reason }) => reason).join('; ')
      return [
        { id: `cluster/${name}`, sort: 'cluster', title: `${name} is ${decision.phase.toLowerCase()}`, text: why },
      ]
    }),
    ...view.checks.flatMap(({ name, passed, output }): Trouble[] =>
      passed === 'no' ? [{ id: `check/${name}`, sort: 'check', title: `The check ${name} fails`, text: output }] : [],
    ),
  ]
}

/** What was told, and what is still to be told, of each trouble. */
export interface Told {
  readonly id: string
  readonly sort: TroubleSort
  readonly title: string
  readonly sinceMs: number
  /** It was told. */
  readonly told: boolean
  /** Since when it is gone; it counts as over when it stays away. */
  readonly goneMs?: number
}

export interface Notice {
  readonly kind: 'trouble' | 'resolved'
  readonly trouble: Trouble
  readonly sinceMs: number
  readonly atMs: number
}

/**
 * What to tell now. A trouble is told once, when it has lasted a while, and once more when it has been gone for as long:
 * what comes and goes in between is told nobody. Pure.
 */
export function nextNotices(
  before: readonly Told[],
  now: readonly Trouble[],
  about: readonly TroubleSort[],
  afterMs: number,
  atMs: number,
): { readonly notices: readonly Notice[]; readonly told: readonly Told[]; readonly dueMs: number } {
  const wanted = now.filter(({ sort }) => about.length === 0 || about.includes(sort))
  const present = new Map(wanted.map((trouble) => [trouble.id, trouble]))
  const known = new Map(before.map((one) => [one.id, one]))
  const notices: Notice[] = []
  const told: Told[] = []
  let dueMs = Number.POSITIVE_INFINITY
  for (const trouble of wanted) {
    const was = known.get(trouble.id)
    const sinceMs = was?.sinceMs ?? atMs
    const due = was?.told !== true && atMs - sinceMs >= afterMs
    if (due) notices.push({ kind: 'trouble', trouble, sinceMs, atMs })
    else if (was?.told !== true) dueMs = Math.min(dueMs, sinceMs + afterMs)
    told.push({ id: trouble.id, sort: trouble.sort, title: trouble.title, sinceMs, told: was?.told === true || due })
  }
  for (const was of before) {
    if (present.has(was.id) || !was.told) continue
    const goneMs = was.goneMs ?? atMs
    if (atMs - goneMs >= afterMs)
      notices.push({
        kind: 'resolved',
        trouble: { id: was.id, sort: was.sort, title: was.title, text: '' },
        sinceMs: was.sinceMs,
        atMs,
      })
    else {
      told.push({ ...was, goneMs })
      dueMs = Math.min(dueMs, goneMs + afterMs)
    }
  }
  return { notices, told, dueMs }
}
