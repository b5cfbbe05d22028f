import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { type HealthPast, type HealthSeconds, type HealthState, healthOfServices } from '../model/past.ts'
import { type PageFile, pageFile } from './page-files.ts'
import type { Controller } from './port.ts'

/** The public part of the status, as configured. Nothing else of an estate reaches this page. */
export interface StatusOptions {
  readonly title: string
  readonly show: readonly StatusEntry[]
}

export interface StatusEntry {
  readonly what: HealthPast['what']
  readonly subject: string
  /** The public name. */
  readonly as: string
}

/** The page at /status. It is made at most once in a while, however many strangers ask for it. */
export function createStatusPage(
  controller: Pick<Controller, 'view' | 'past'>,
  clock: Clock,
  options: StatusOptions,
  style: string | undefined,
): () => PageFile {
  let made: { readonly file: PageFile; readonly atMs: number } | undefined
  return () => {
    const nowMs = clock.monotonicMs()
    if (made === undefined || nowMs - made.atMs >= LIMITS.statusMs)
      made = {
        file: pageFile(
          'text/html; charset=utf-8',
          Buffer.from(statusHtml(controller, clock.now(), options, style)),
          false,
        ),
        atMs: nowMs,
      }
    return made.file
  }
}

interface Line {
  readonly as: string
  readonly state: HealthState
  readonly days: readonly (HealthSeconds | undefined)[]
}

const WORDS: Readonly<Record<HealthState, string>> = {
  up: 'Up',
  down: 'Down',
  unknown: 'Not known',
  off: 'Off as planned',
}

export function statusHtml(
  { view, past }: Pick<Controller, 'view' | 'past'>,
  nowMs: number,
  { title, show }: StatusOptions,
  style: string | undefined,
): string {
  const states = new Map([...healthOfServices(view())].map((one) => [`${one.what}/${one.subject}`, one.state]))
  const strips = new Map(
    (past?.days(nowMs, LIMITS.historyDays) ?? []).map((one) => [`${one.what}/${one.subject}`, one.spans]),
  )
  const lines = show.map(({ what, subject, as }): Line => {
    const name = `${what}/${subject}`
    return { as, state: states.get(name) ?? 'unknown', days: strips.get(name) ?? [] }
  })
  const { word, tone } = overall(lines)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
${style === undefined ? '' : `<link rel="stylesheet" href="${escaped(style)}">\n`}</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="overall is-${tone}">${word}</p>
<ul>
${lines.map((line) => lineHtml(line, nowMs)).join('\n')}
</ul>
<p class="foot">${legend()}</p>
<p class="foot">${LIMITS.historyDays} days, newest on the right; days in UTC. As of <time>${minute(nowMs)}</time> UTC.</p>
</main>
</body>
</html>
`
}

function overall(lines: readonly Line[]): { readonly word: string; readonly tone: HealthState } {
  const down = lines.filter(({ state }) => state === 'down').length
  if (down > 0) return { word: `${down} of ${lines.length} down`, tone: 'down' }
  const unknown = lines.filter(({ state }) => state === 'unknown').length
  if (unknown > 0) return { word: `${unknown} of ${lines.length} not known`, tone: 'unknown' }
  return { word: 'All up', tone: 'up' }
}

function lineHtml({ as, state, days }: Line, nowMs: number): string {
  const share = shareOf(days)
  const words = share === undefined ? 'no data yet' : `${share} up`
  const worst = worstDay(days, nowMs)
  return `<li>
<div class="head"><b>${escaped(as)}</b><span class="state is-${state}">${WORDS[state]}</span></div>
${strip(days, `${as}: ${words} over ${LIMITS.historyDays} days`)}
<div class="facts"><span>${words}</span>${worst === undefined ? '' : `<span>${worst}</span>`}</div>
</li>`
}

const HEIGHT = 28
const WIDTH = 6
const GAP = 2
/** Bars of bad days are shorter as well as coloured, so that they show without colours. */
const SORTS = [
  ['up', HEIGHT, (one: HealthSeconds | undefined) => one !== undefined && one.down === 0 && one.up > 0],
  ['down', 18, (one: HealthSeconds | undefined) => one !== undefined && one.down > 0],
  ['unknown', 10, (one: HealthSeconds | undefined) => one !== undefined && one.down === 0 && one.up === 0],
  ['none', 4, (one: HealthSeconds | undefined) => one === undefined],
] as const

function strip(days: Line['days'], label: string): string {
  const padded = [...Array.from({ length: LIMITS.historyDays - days.length }, () => undefined), ...days]
  const paths = SORTS.map(([name, height, fits]) => {
    const path = padded
      .map((day, at) => (fits(day) ? `M${at * WIDTH} ${HEIGHT}v-${height}h${WIDTH - GAP}v${height}z` : ''))
      .join('')
    return path === '' ? '' : `<path class="is-${name}" d="${path}"/>`
  }).join('')
  return `<svg viewBox="0 0 ${padded.length * WIDTH - GAP} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${escaped(label)}">${paths}</svg>`
}

function legend(): string {
  const words = { up: 'up all day', down: 'down for a time', unknown: 'not known', none: 'no data' }
  return SORTS.map(
    ([name, height]) =>
      `<span><svg width="${WIDTH - GAP}" height="${HEIGHT}" aria-hidden="true"><path class="is-${name}" d="M0 ${HEIGHT}v-${height}h${WIDTH - GAP}v${height}z"/></svg> ${words[name]}</span>`,
  ).join(' ')
}

/** Returns the share of the known time that was up: unknown time was not down. */
function shareOf(days: Line['days']): string | undefined {
  let [up, down] = [0, 0]
  for (const day of days) {
    up += day?.up ?? 0
    down += day?.down ?? 0
  }
  if (up + down === 0) return undefined
  // Round down: a second of outage must not become 100.
  return `${Math.floor((up / (up + down)) * 10_000) / 100} %`
}

function worstDay(days: Line['days'], nowMs: number): string | undefined {
  const worst = Math.max(0, ...days.map((day) => day?.down ?? 0))
  if (worst === 0) return undefined
  const at = days.findLastIndex((day) => day?.down === worst)
  const date = new Date(nowMs - (days.length - 1 - at) * 86_400_000).toISOString().slice(0, 10)
  return `worst day ${date}: down for ${span(worst)}`
}

function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

function minute(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')
}

const SPECIAL: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => SPECIAL[one] ?? '')
}
