import { hostsAsleep as asleepIn, HOT_C, isComing as isComingAt } from '../src/model/trouble.ts'
import type { ClusterOnPage, HostOnPage, Page, Row } from '../src/server/api/schemas.ts'
import { serverNow } from './live.ts'

/** Five tones for everything. Each has a colour, an icon and a word, so that colour is never the only sign. */
export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'quiet'

/** Returns the tone of a resource, for sorting and for its mark. */
export function toneOf(row: Row): Tone {
  if (row.stalled || row.do === 'refuse') return 'bad'
  if (row.paused) return 'quiet'
  if (row.do === 'hold' || row.drifted) return 'warn'
  if (isOutOfSight(row)) return 'quiet'
  if (row.do === 'wait' || isDoing(row.do)) return 'busy'
  if (row.ready === 'False') return isComing(row) ? 'busy' : 'bad'
  if (row.ready === 'Unknown' || row.synced === 'Unknown') return 'quiet'
  return row.synced === 'False' ? 'busy' : 'ok'
}

/** Reports whether it is briefly not ready after a start, move or change, which is no trouble yet. */
export function isComing(row: Row): boolean {
  return isComingAt(row, serverNow())
}

/** Reports whether the host is off or cut off: nothing changes, and the state is unknown. */
function isOutOfSight(row: Row): boolean {
  return row.do === 'wait' && row.reason === 'HostOffline'
}

export const TONE_ORDER: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, busy: 2, quiet: 3, ok: 4 }

export function isDoing(action: Row['do']): boolean {
  return ['create', 'update', 'adopt', 'replace', 'delete', 'forget'].includes(action)
}

/** Returns the state of a cluster in a word. One that is off on request is healthy. */
export function clusterState(
  cluster: Pick<ClusterOnPage, 'name' | 'phase' | 'operation' | 'unseenSinceMs'>,
  page: Pick<Page, 'power'>,
): { readonly tone: Tone; readonly word: string; readonly ordered: boolean } {
  const power = (page.power ?? []).find((one) => one.cluster === cluster.name)
  if (power?.phase === 'PoweringOn') return { tone: 'busy', word: 'Powering on', ordered: true }
  if (power?.phase === 'PoweringOff') return { tone: 'busy', word: 'Powering off', ordered: true }
  if (power?.phase === 'Off') return { tone: 'quiet', word: 'Off', ordered: true }
  return { ...phaseWords(cluster), ordered: false }
}

function phaseWords({
  phase,
  operation,
  unseenSinceMs,
}: Pick<ClusterOnPage, 'phase' | 'operation' | 'unseenSinceMs'>): { readonly tone: Tone; readonly word: string } {
  const restores = operation?.name.startsWith('restore') === true
  if (operation?.stopped === false) return { tone: 'busy', word: restores ? 'Restoring' : phase }
  if (phase === 'QuorumLost') return { tone: 'bad', word: 'Quorum lost' }
  if (phase === 'Blocked') return { tone: 'bad', word: restores ? 'Restore stopped' : phase }
  if (phase === 'Degraded') return { tone: 'warn', word: phase }
  if (phase === 'AwaitingCNI') return { tone: 'busy', word: 'Awaiting CNI' }
  if (phase === 'Unknown')
    return unseenSinceMs === undefined ? { tone: 'quiet', word: 'Not known' } : { tone: 'bad', word: 'No answer' }
  return { tone: phase === 'Ready' ? 'ok' : 'busy', word: phase }
}

/** Returns a node's tone. Until the cluster has formed, a node without a machine is still to come. */
export function nodeTone(node: ClusterOnPage['nodes'][number], phase?: ClusterOnPage['phase']): Tone {
  if (node.phase === 'NoMachine' && phase === 'Forming') return 'busy'
  if (['NotReady', 'Flapping', 'StaleState', 'Unrecorded', 'Duplicate', 'NoMachine'].includes(node.phase)) return 'bad'
  if (node.phase === 'Ready') return 'ok'
  return ['PoweredOff', 'Unknown', 'Waiting'].includes(node.phase) ? 'quiet' : 'busy'
}

export { HOT_C }

/** Returns the hosts that are off on request or by schedule: they are no trouble. */
export function hostsAsleep(page: Page): ReadonlySet<string> {
  return asleepIn(page)
}

export function hostTone(host: HostOnPage, asleep: ReadonlySet<string>): Tone {
  if (host.online) return (host.temperatureC ?? 0) >= HOT_C ? 'warn' : 'ok'
  return asleep.has(host.name) ? 'quiet' : 'bad'
}

/** The signs of a plan, as people know them. */
export const SIGN_OF: Readonly<Record<string, string>> = {
  create: '+',
  update: '~',
  replace: '-/+',
  delete: '-',
  adopt: '⇐',
  forget: '○',
  hold: '‖',
  refuse: '✕',
  wait: '…',
}

/** Returns a word for the agreement with Git. */
export function syncWord(row: Row): { readonly tone: Tone; readonly word: string } {
  if (row.paused) return { tone: 'quiet', word: 'Suspended' }
  if (row.do === 'hold') return { tone: 'warn', word: 'Held' }
  if (row.do === 'refuse') return { tone: 'bad', word: 'Refused' }
  if (row.drifted) return { tone: 'warn', word: 'Drifted' }
  if (isOutOfSight(row)) return { tone: 'quiet', word: 'Not known' }
  if (isDoing(row.do)) return { tone: 'busy', word: 'Out of sync' }
  if (row.synced === 'Unknown') return { tone: 'quiet', word: 'Not known' }
  return row.synced === 'True' ? { tone: 'ok', word: 'Synced' } : { tone: 'busy', word: 'Waiting' }
}

/** Returns a word for readiness. */
export function readyWord(row: Row): { readonly tone: Tone; readonly word: string } {
  if (row.stalled) return { tone: 'bad', word: row.status }
  if (isOutOfSight(row)) return { tone: 'quiet', word: 'Host offline' }
  if (row.ready === 'True') return { tone: 'ok', word: row.status }
  if (row.ready === 'Unknown') return { tone: 'quiet', word: row.status }
  return { tone: isDoing(row.do) || row.do === 'wait' || isComing(row) ? 'busy' : 'bad', word: row.status }
}
