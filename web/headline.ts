import type { Page } from '../src/server/api/schemas.ts'
import { plural } from './format.ts'
import type { Tone } from './tone.ts'

export interface Headline {
  readonly tone: Tone
  readonly text: string
}

/** Returns the first sentence of the page. It never claims health if nothing was observed or declared. */
export function headlineOf(
  page: Pick<Page, 'ready' | 'sources' | 'rows' | 'clusters'>,
  counts: {
    readonly grave: number
    readonly slight: number
    readonly doing: number
    /** Resources without further steps that are not ready yet: machines that boot, nodes that join. */
    readonly coming: number
  },
): Headline {
  const { grave, slight, doing, coming } = counts
  if (grave > 0) return { tone: 'bad', text: `${plural(grave, 'thing')} ${grave === 1 ? 'is' : 'are'} wrong` }
  if (!page.ready) return { tone: 'busy', text: 'Looking for the first time' }
  if (page.sources.length === 0) return { tone: 'warn', text: 'No Git source is followed' }
  if (page.sources.every(({ commit }) => commit === undefined)) return { tone: 'busy', text: 'Waiting for Git' }
  if (slight > 0) return { tone: 'warn', text: `${plural(slight, 'thing')} to look at` }
  if (page.rows.length === 0 && page.clusters.length === 0) return { tone: 'quiet', text: 'Nothing is declared yet' }
  if (doing > 0) return { tone: 'busy', text: `${plural(doing, 'change')} under way` }
  if (coming > 0)
    return { tone: 'busy', text: `${plural(coming, 'thing')} ${coming === 1 ? 'is' : 'are'} not ready yet` }
  return { tone: 'ok', text: 'All is as declared' }
}
