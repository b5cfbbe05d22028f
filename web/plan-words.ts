import type { Page } from '../src/server/api/schemas.ts'
import { shortCommit } from './format.ts'

/** Returns the words for an empty plan. It says that Git and the world agree only if the newest commit is followed. */
export function idleWords(page: Pick<Page, 'ready' | 'sources' | 'connections'>): {
  readonly icon: 'ok' | 'warn' | 'busy'
  readonly title: string
  readonly text: string
} {
  if (!page.ready) return { icon: 'busy', title: 'No plan yet', text: 'croft is looking for the first time.' }
  const kept = page.sources.find(({ trouble }) => trouble !== undefined)
  if (kept !== undefined) {
    const { name, commit, unreachable } = kept
    const inForce =
      commit === undefined ? 'nothing is in force' : `${shortCommit(commit)}, which is in force, needs no change`
    const why = unreachable === true ? `${name} cannot be reached` : `The newest commit of ${name} is not in force`
    return { icon: 'warn', title: 'Nothing to do for what is in force', text: `${why}; ${inForce}.` }
  }
  const blind = page.connections.find(({ state }) => state !== 'ok')
  if (blind !== undefined)
    return {
      icon: 'warn',
      title: 'Nothing that croft can plan',
      text: `The connection ${blind.name} is ${blind.state}.`,
    }
  return {
    icon: 'ok',
    title: 'Nothing to do',
    text: 'Git and the world agree. A push, or a change by somebody else, appears here.',
  }
}
