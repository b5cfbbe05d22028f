import type { ClusterOnPage, Row } from '../src/server/api/schemas.ts'

/** Five tones for everything. Each has a colour, an icon and a word; the colour alone never says anything. */
export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'quiet'

/** How bad a resource stands, for sorting and for its mark. */
export function toneOf(row: Row): Tone {
  if (row.stalled || row.do === 'refuse') return 'bad'
  if (row.paused) return 'quiet'
  if (row.do === 'hold' || row.drifted) return 'warn'
  if (row.do === 'wait' || isDoing(row.do)) return row.ready === 'False' && row.do === 'nothing' ? 'bad' : 'busy'
  if (row.ready === 'False') return 'bad'
  if (row.ready === 'Unknown' || row.synced === 'Unknown') return 'quiet'
  return row.synced === 'False' ? 'busy' : 'ok'
}

export const TONE_ORDER: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, busy: 2, quiet: 3, ok: 4 }

export function isDoing(action: Row['do']): boolean {
  return ['create', 'update', 'adopt', 'replace', 'delete', 'forget'].includes(action)
}

export function clusterTone(cluster: ClusterOnPage): Tone {
  if (['QuorumLost', 'Blocked'].includes(cluster.phase)) return 'bad'
  if (cluster.phase === 'Degraded') return 'warn'
  if (cluster.phase === 'Unknown') return 'quiet'
  return cluster.phase === 'Ready' ? 'ok' : 'busy'
}

export function nodeTone(node: ClusterOnPage['nodes'][number]): Tone {
  if (['NotReady', 'Flapping', 'StaleState', 'Duplicate', 'NoMachine'].includes(node.phase)) return 'bad'
  if (node.phase === 'Ready') return 'ok'
  return ['PoweredOff', 'Unknown', 'Waiting'].includes(node.phase) ? 'quiet' : 'busy'
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
