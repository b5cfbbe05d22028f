import type { ClusterOnPage } from '../src/server/api/schemas.ts'
import { plural } from './format.ts'
import type { Tone } from './tone.ts'

export interface QuorumWords {
  readonly tone: Tone
  /** The sentence on how many voters etcd can lose. */
  readonly words: string
  /** Its basis. */
  readonly detail?: string
}

/**
 * Returns the state of etcd in words. States the tolerance of a number of servers only if all of them are up: otherwise
 * a part of it is used up.
 */
export function quorumWords(
  cluster: Pick<ClusterOnPage, 'phase' | 'members' | 'quorumMargin' | 'faultTolerance' | 'holds' | 'operation'>,
): QuorumWords {
  const { phase, members, quorumMargin: margin, faultTolerance, holds, operation } = cluster
  if (operation !== undefined) {
    const name = `${operation.name.charAt(0).toUpperCase()}${operation.name.slice(1)}`
    if (operation.stopped) return { tone: 'bad', words: `${name} has stopped`, detail: `At: ${operation.step}` }
    return { tone: 'busy', words: `${name} is under way`, detail: `Now: ${operation.step}` }
  }
  if (phase === 'Off') return { tone: 'quiet', words: 'etcd is off by order' }
  if (phase === 'Forming' && (margin === 'unknown' || margin <= 0))
    return { tone: 'busy', words: 'etcd is not complete yet', detail: `Once it is: ${faultTolerance}` }
  const seen = holds.find(({ guard }) => guard === 'quorum-lost' || guard === 'quorum-unseen')
  if (margin === 'unknown' || members === 'unknown') {
    if (seen === undefined) return { tone: 'quiet', words: 'Quorum is not known' }
    const words = seen.guard === 'quorum-lost' ? 'Quorum is lost' : 'Quorum is most likely lost'
    return { tone: 'bad', words, detail: seen.reason }
  }
  const voters = members.filter(({ learner }) => !learner)
  const up = voters.filter((member) => member.up === 'yes').length
  const votes = `${up} of ${plural(voters.length, 'vote')} up, ${Math.floor(voters.length / 2) + 1} needed`
  const detail = up < voters.length ? votes : faultTolerance
  if (margin < 0) return { tone: 'bad', words: 'Quorum is lost', detail: votes }
  if (margin === 0) return { tone: 'warn', words: 'No server can fail', detail }
  return { tone: 'ok', words: `${plural(margin, 'server')} can fail`, detail }
}
