import { type Trouble as Judged, troublesOf } from '../src/model/trouble.ts'
import type { Page } from '../src/server/api/schemas.ts'
import { type Headline, headlineOf } from './headline.ts'
import { serverNow } from './live.ts'
import { hrefTo } from './route.ts'
import { clusterState, isDoing, type Tone, toneOf } from './tone.ts'

/** One line at the top: a trouble, or several with the same word. */
export interface Trouble {
  readonly tone: Tone
  readonly title: string
  readonly detail: string
  readonly href: string
  /** The consent that would help, if known. */
  readonly allow?: string
  /** Since when, where it is known. */
  readonly sinceMs?: number
}

/** More alike troubles than this share one line with their number. */
const ALIKE = 3

function linesOf(troubles: readonly Judged[]): readonly Trouble[] {
  const seen = new Set<string>()
  return troubles.flatMap((trouble): readonly Trouble[] => {
    const { word, tone } = trouble
    const alike = word === undefined ? [] : troubles.filter((one) => one.word === word)
    if (word === undefined || alike.length <= ALIKE) return [lineOf(trouble)]
    if (seen.has(word)) return []
    seen.add(word)
    const names = alike.slice(0, 4).map(({ about }) => nameOf(about))
    const more = alike.length > names.length ? ` and ${alike.length - names.length} more` : ''
    return [
      {
        tone,
        title: `${alike.length} resources ${word === 'drifted' ? 'have' : 'are'} ${word}`,
        detail: `${names.join(', ')}${more}`,
        href: WHERE_MANY[word] ?? hrefTo('estate', 'wrong'),
        ...since(alike),
      },
    ]
  })
}

function lineOf({ tone, title, text, about, word, allow, sinceMs, sort }: Judged): Trouble {
  const short = about.includes('/') && word !== undefined ? title.replace(about, nameOf(about)) : title
  return {
    tone,
    title: short,
    detail: text,
    href: WHERE[sort](about),
    ...(allow === undefined ? {} : { allow }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  }
}

const WHERE_MANY: Readonly<Record<string, string>> = { held: hrefTo('plan'), drifted: hrefTo('drift') }

const WHERE: Readonly<Record<Judged['sort'], (about: string) => string>> = {
  source: () => hrefTo('timeline'),
  manifest: () => hrefTo('plan'),
  connection: () => hrefTo('estate'),
  host: (name) => hrefTo('estate', 'host', name),
  cluster: (name) => hrefTo('cluster', name),
  power: () => hrefTo('power'),
  ups: () => hrefTo('power'),
  resource: (key) => hrefTo('resource', key),
  approval: () => hrefTo('plan'),
  drift: () => hrefTo('drift'),
  check: () => hrefTo('health'),
}

function nameOf(key: string): string {
  return key.split('/').at(-1) ?? key
}

/** Returns the earliest start of several. */
function since(all: readonly { readonly sinceMs?: number | undefined }[]): { readonly sinceMs?: number } {
  const known = all.flatMap(({ sinceMs }) => (sinceMs === undefined ? [] : [sinceMs]))
  return known.length === 0 ? {} : { sinceMs: Math.min(...known) }
}

/** Returns the state of the estate: the first sentence, and the troubles, worst first. */
export function statusOf(page: Page): Headline & { readonly troubles: readonly Trouble[] } {
  const known = statuses.get(page)
  if (known !== undefined) return known
  const troubles = linesOf(troublesOf(page, serverNow()))
  const grave = troubles.filter(({ tone }) => tone === 'bad').length
  const doing = page.rows.filter((row) => isDoing(row.do)).length
  const coming =
    page.rows.filter((row) => !isDoing(row.do) && toneOf(row) === 'busy').length +
    page.clusters.filter((cluster) => clusterState(cluster, page).tone === 'busy').length
  const status = { troubles, ...headlineOf(page, { grave, slight: troubles.length - grave, doing, coming }) }
  statuses.set(page, status)
  return status
}

/** Cached, because several parts of one render use it. */
const statuses = new WeakMap<Page, ReturnType<typeof statusOf>>()
