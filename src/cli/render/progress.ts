import type { PassReport } from '../../engine/engine.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import { type Action, isDoing } from '../../model/plan.ts'
import { isFailed, type ResourceRecord } from '../../model/record.ts'
import { causeOf } from './cause.ts'
import { showElapsed } from './duration.ts'
import { clean, type Style } from './text.ts'

export type ChangeInProgress = 'create' | 'update' | 'adopt' | 'replace' | 'delete'

/** One resource in progress, from its first action until it is Ready or gone. */
export interface Tracked {
  readonly key: ResourceKey
  readonly work: ChangeInProgress
  readonly sinceMs: number
  /** When a line about it was last shown; the heartbeat counts from here. */
  readonly shownMs: number
  readonly status: string
  readonly message: string
  readonly endedMs?: number
  readonly failed?: boolean
  /** For a replacement: the old one is destroyed, even if the new one fails. */
  readonly gone?: true
}

export interface Progress {
  readonly startedMs: number
  readonly tracked: ReadonlyMap<ResourceKey, Tracked>
  /** Resources that wait, with the sentence that says what for. */
  readonly waiting: ReadonlyMap<ResourceKey, string>
  /** When a line was last shown, or a sign of life given. */
  readonly shownMs: number
  /** Reported troubles by resource: not repeated at the next attempt. */
  readonly reported: ReadonlyMap<string, readonly string[]>
}

/** One message, printed as a line of text or of JSON. */
export interface ProgressLine {
  readonly atMs: number
  readonly key?: ResourceKey
  readonly tone: 'normal' | 'warning' | 'done' | 'heartbeat'
  readonly reason: string
  readonly message: string
  /** For people, who have read the beginning of the message already. */
  readonly short?: string
}

export interface ProgressStep {
  readonly progress: Progress
  readonly lines: readonly ProgressLine[]
}

export function beginProgress(nowMs: number): Progress {
  return { startedMs: nowMs, tracked: new Map(), waiting: new Map(), shownMs: nowMs, reported: new Map() }
}

/** Adds one pass to the progress. Prints events as they are, and a status only if no event has said it. */
export function advance(progress: Progress, report: PassReport, nowMs: number): ProgressStep {
  const tracked = new Map(progress.tracked)
  const actions = new Map(report.plan.entries.map((entry) => [entry.key, entry.action]))
  const records = new Map(report.records.map((record) => [record.key, record]))
  for (const [key, action] of actions) {
    if (isDoing(action) && !tracked.has(key)) tracked.set(key, begun(key, action.do, nowMs))
  }
  let lines: ProgressLine[] = report.events.map((event) => ({
    atMs: event.atMs,
    ...(event.key === undefined ? {} : { key: event.key }),
    tone: event.type === 'Warning' ? 'warning' : 'normal',
    reason: event.reason,
    message: event.message,
  }))
  // Do not report that a resource in progress is not ready yet.
  lines = lines.filter((line) => line.reason !== 'NotReady' || !isOpen(tracked, line.key))
  const reported = new Set(lines.map((line) => line.key))
  for (const [key, before] of tracked) {
    if (before.endedMs !== undefined && !isOpenAgain(before, actions.get(key), records.get(key))) continue
    const { after, line } = follow(before, actions.get(key), records.get(key), nowMs, reported.has(key))
    const isGone = before.gone === true || (before.work === 'replace' && actions.get(key)?.do === 'create')
    tracked.set(key, isGone ? { ...after, gone: true } : after)
    if (line === undefined) continue
    // The last line of a resource says how long it took: the event of the same moment would only repeat it.
    if (after.endedMs !== undefined) lines = lines.filter((one) => one.key !== key || !LAST_WORDS.has(one.reason))
    lines.push(line)
  }
  const waiting = new Map([
    ...(report.plan.clusters ?? []).flatMap(waitOfCluster),
    ...report.plan.entries.flatMap(({ key, action }) =>
      action.do === 'wait' && !isOpen(tracked, key) ? [[key, action.message] as const] : [],
    ),
  ])
  // Clusters are observed before machines, so sort by time.
  const told = new Map(progress.reported)
  const news = lines.toSorted((a, b) => a.atMs - b.atMs).flatMap((line) => unsaid(line, told))
  const shownMs = news.length > 0 ? nowMs : progress.shownMs
  return { progress: { ...progress, tracked, waiting, shownMs, reported: told }, lines: news }
}

/** A rollout is silent for the whole soak time of a node, so show what it waits for: it must not look stuck. */
function waitOfCluster({ declaration, decision }: ClusterPlan): readonly (readonly [ResourceKey, string])[] {
  const [wait] = decision.waits
  const [step] = decision.steps
  // A drain is repeated until the last pods leave: show what keeps them.
  if (step?.verb === 'drain') return [[declaration.key, `waits for ${step.awaits}: ${step.reason}`]]
  if (wait === undefined || step !== undefined) return []
  return [[declaration.key, `waits for ${wait.awaits}`]]
}

/** Returns nothing for a repeated message, and a shorter line if most of it is repeated. Notes what it prints. */
function unsaid(line: ProgressLine, told: Map<string, readonly string[]>): readonly ProgressLine[] {
  if (line.tone !== 'warning') return [line]
  const before = told.get(line.key ?? '') ?? []
  if (before.includes(line.message)) return []
  told.set(line.key ?? '', [...before, line.message])
  const cause = `\0${causeOf({ what: line.key ?? '', reason: line.message })}`
  const [other] = told.get(cause) ?? []
  if (other !== undefined && line.message.length >= LONG) return [{ ...line, short: `as ${other}` }]
  if (line.key !== undefined) told.set(cause, [line.key])
  const repeated = Math.max(...before.map((message) => repeatedLength(message, line.message)), 0)
  return [repeated < LONG ? line : { ...line, short: `as above${line.message.slice(repeated)}` }]
}

/** Returns how much of the message repeats the one before: all of it, or up to where that one ended. */
function repeatedLength(before: string, message: string): number {
  const at = before.lastIndexOf(message.slice(0, LONG))
  const tail = at < 0 ? '' : before.slice(at)
  if (tail.startsWith(message)) return message.length
  return message.startsWith(tail) ? tail.length : 0
}

/** A message that repeats at least this much of the last one is shortened to "as above". */
const LONG = 60

/** A sign of life for what has been silent for a while, so that a long import does not look like a hang. */
export function heartbeat(progress: Progress, nowMs: number): ProgressStep {
  const tracked = new Map(progress.tracked)
  const lines: ProgressLine[] = []
  for (const [key, one] of tracked) {
    if (one.endedMs !== undefined || nowMs - one.shownMs < LIMITS.heartbeatMs) continue
    tracked.set(key, { ...one, shownMs: nowMs })
    const message = `still ${GERUND[one.work]}… [${showElapsed(nowMs - one.sinceMs)} elapsed]`
    lines.push({ atMs: nowMs, key, tone: 'heartbeat', reason: 'StillWorking', message })
  }
  if (lines.length === 0 && nowMs - progress.shownMs >= LIMITS.heartbeatMs) lines.push(...stillWaiting(progress, nowMs))
  if (lines.length === 0 && nowMs - progress.shownMs >= LIMITS.heartbeatMs * QUIET && progress.reported.size > 0) {
    const message = `${STILL_TRYING} [${showElapsed(nowMs - progress.startedMs)} elapsed]`
    lines.push({ atMs: nowMs, tone: 'heartbeat', reason: 'StillTrying', message })
  }
  return { progress: { ...progress, tracked, shownMs: lines.length > 0 ? nowMs : progress.shownMs }, lines }
}

/** Says what the run waits for if no action is under way. */
function stillWaiting({ tracked, waiting }: Progress, nowMs: number): readonly ProgressLine[] {
  if ([...tracked.values()].some((one) => one.endedMs === undefined)) return []
  return [...waiting].slice(0, LIMITS.progressLinesShown).map(([key, message]) => {
    const reported = `still ${message.startsWith('waits') ? message : `waits: ${message}`}`
    return { atMs: nowMs, key, tone: 'heartbeat', reason: 'StillWaiting', message: reported }
  })
}

/** Counts the results as the plan counts, by the first action of each resource. */
export function outcome(
  progress: Progress,
): Readonly<Record<ChangeInProgress | 'destroyed' | 'failed' | 'unfinished', number>> {
  const all = [...progress.tracked.values()]
  const done = (work: ChangeInProgress) =>
    all.filter((one) => one.work === work && one.endedMs !== undefined && !one.failed).length
  return {
    create: done('create'),
    update: done('update'),
    adopt: done('adopt'),
    replace: done('replace'),
    delete: done('delete'),
    destroyed: done('delete') + all.filter((one) => one.gone === true || isReplaced(one)).length,
    failed: all.filter((one) => one.failed === true).length,
    unfinished: all.filter((one) => one.endedMs === undefined).length,
  }
}

function isReplaced({ work, endedMs, failed }: Tracked): boolean {
  return work === 'replace' && endedMs !== undefined && failed !== true
}

/** `  4.2s  EnvironmentVM/web-1  Created: …`. */
export function renderLine(line: ProgressLine, startedMs: number, style: Style): string {
  const time = showElapsed(line.atMs - startedMs).padStart(6)
  const about = line.key === undefined ? '' : `${style.paint('bold', clean(line.key))}  `
  const sign = SIGN[line.tone]
  const painted = sign.paint === undefined ? sign.text : style.paint(sign.paint, sign.text)
  const reported = joined(line.tone === 'heartbeat' ? '' : clean(line.reason), clean(line.short ?? line.message))
  return `${style.paint('dim', time)} ${painted} ${about}${reported}\n`
}

/** Returns the lines that are redrawn at the bottom of a terminal: running actions, the longest first. */
export function liveLines(progress: Progress, nowMs: number, style: Style): readonly string[] {
  const open = [...progress.tracked.values()].filter((one) => one.endedMs === undefined)
  const shown = open.toSorted((a, b) => a.sinceMs - b.sinceMs).slice(0, LIMITS.progressLinesShown)
  const lines = shown.map((one) => {
    const spinner = SPINNER[Math.floor(nowMs / 250) % SPINNER.length] ?? ''
    const elapsed = showElapsed(nowMs - one.sinceMs)
    const message = one.message === '' ? '' : `  ${clean(one.message, 80)}`
    return `${style.paint('cyan', spinner)} ${style.paint('bold', clean(one.key))}  ${clean(one.status)} ${elapsed}${message}`
  })
  if (open.length > 0)
    return open.length > shown.length ? [...lines, `  … and ${open.length - shown.length} more`] : lines
  if (progress.waiting.size === 0 && progress.reported.size > 0)
    return [`${style.paint('dim', '…')} ${STILL_TRYING} ${showElapsed(nowMs - progress.startedMs)}`]
  return [...progress.waiting]
    .slice(0, LIMITS.progressLinesShown)
    .map(([key, message]) => `${style.paint('dim', '…')} ${style.paint('bold', clean(key))}  ${clean(message, 80)}`)
}

const STILL_TRYING = 'still trying; the trouble above has not changed'
/** If only known trouble recurs, a sign of life is needed less often. */
const QUIET = 6
const LAST_WORDS: ReadonlySet<string> = new Set(['Ready', 'Stalled'])
const SPINNER = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇']
const GERUND: Readonly<Record<ChangeInProgress, string>> = {
  create: 'creating',
  update: 'changing',
  adopt: 'adopting',
  replace: 'replacing',
  delete: 'deleting',
}
const SIGN = {
  normal: { text: '►', paint: 'cyan' },
  warning: { text: '✗', paint: 'yellow' },
  done: { text: '✔', paint: 'green' },
  heartbeat: { text: '◎', paint: undefined },
} as const

function begun(key: ResourceKey, work: ChangeInProgress, nowMs: number): Tracked {
  const status = `${GERUND[work].charAt(0).toUpperCase()}${GERUND[work].slice(1)}`
  return { key, work, sinceMs: nowMs, shownMs: nowMs, status, message: '' }
}

function isOpen(tracked: ReadonlyMap<ResourceKey, Tracked>, key: ResourceKey | undefined): boolean {
  const one = key === undefined ? undefined : tracked.get(key)
  return one !== undefined && one.endedMs === undefined
}

/** Reports whether it has further actions, or the trouble of an earlier run is over. */
function isOpenAgain(before: Tracked, action: Action | undefined, record: ResourceRecord | undefined): boolean {
  if (action !== undefined && isDoing(action)) return true
  return before.failed === true && record !== undefined && !isStalled(record) && !isFailed(record.conditions)
}

function isStalled({ conditions }: ResourceRecord): boolean {
  return conditions.some(({ type, status }) => type === 'Stalled' && status === 'True')
}

function follow(
  before: Tracked,
  action: Action | undefined,
  record: ResourceRecord | undefined,
  nowMs: number,
  reported: boolean,
): { readonly after: Tracked; readonly line: ProgressLine | undefined } {
  const { endedMs: _ended, failed: _failed, ...open } = before
  const elapsed = `after ${showElapsed(nowMs - before.sinceMs)}`
  if (action === undefined && record === undefined) {
    return ended(open, nowMs, false, { reason: 'Gone', message: elapsed })
  }
  const condition = (type: string) => record?.conditions.find((one) => one.type === type)
  if (condition('Stalled')?.status === 'True') {
    return ended(open, nowMs, true, { reason: 'Stalled', message: condition('Stalled')?.message ?? '' })
  }
  const quiet = action === undefined || action.do === 'nothing'
  if (quiet && condition('Ready')?.status === 'True') {
    return ended(open, nowMs, false, { reason: record?.status ?? 'Ready', message: elapsed })
  }
  if (quiet && record !== undefined && isFailed(record.conditions)) {
    return ended(open, nowMs, true, { reason: record.status, message: condition('Ready')?.message ?? '' })
  }
  const status = record?.status ?? open.status
  const message = condition('Ready')?.message ?? ''
  const changed = status !== open.status || message !== open.message
  const after: Tracked = { ...open, status, message, shownMs: changed || reported ? nowMs : open.shownMs }
  if (!changed || reported) return { after, line: undefined }
  return { after, line: { atMs: nowMs, key: open.key, tone: 'normal', reason: status, message } }
}

function ended(
  open: Tracked,
  nowMs: number,
  failed: boolean,
  tell: { readonly reason: string; readonly message: string },
): { readonly after: Tracked; readonly line: ProgressLine } {
  const after: Tracked = { ...open, endedMs: nowMs, shownMs: nowMs, status: tell.reason, failed }
  return { after, line: { atMs: nowMs, key: open.key, tone: failed ? 'warning' : 'done', ...tell } }
}

function joined(reason: string, message: string): string {
  return [reason, message].filter((part) => part !== '').join('  ')
}
