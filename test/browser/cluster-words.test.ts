import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterOnPage } from '../../src/server/api/schemas.ts'
import { quorumWords } from '../../web/quorum-words.ts'
import { clusterState } from '../../web/tone.ts'

const TOLERANCE = '3 servers, fault tolerance 1: the API survives the loss of one'
const RESTORE = { name: 'restore of edge from old', step: 'stop K3s on s1', sinceMs: 0, stopped: false }
const voters = (...ups: readonly ('yes' | 'no')[]): ClusterOnPage['members'] =>
  ups.map((up, index) => ({ id: `${index}`, name: '', node: `s${index}`, learner: false, leader: false, up }))
const hold = (guard: string) => [{ guard, reason: '2 of 3 servers are away', allow: '' }]
const WELL = {
  name: 'edge',
  phase: 'Ready',
  members: voters('yes', 'yes', 'yes'),
  quorumMargin: 1,
  faultTolerance: TOLERANCE,
  holds: [],
} satisfies Parameters<typeof quorumWords>[0] & { name: string }
const BLIND = { members: 'unknown', quorumMargin: 'unknown' } as const

/** The state of the cluster, then what stands under `etcd`. */
const CASES: readonly [what: string, more: Partial<ClusterOnPage>, state: string, quorum: string][] = [
  ['all is well', {}, 'ok Ready', `ok 1 server can fail: ${TOLERANCE}`],
  [
    'a vote is missing: what three survive is not promised',
    { phase: 'Degraded', members: voters('yes', 'yes', 'no'), quorumMargin: 0 },
    'warn Degraded',
    'warn No server can fail: 2 of 3 votes up, 2 needed',
  ],
  [
    'the majority is counted as lost',
    { phase: 'QuorumLost', members: voters('yes', 'no', 'no'), quorumMargin: -1 },
    'bad Quorum lost',
    'bad Quorum is lost: 1 of 3 votes up, 2 needed',
  ],
  [
    'the machines show that it is lost',
    { phase: 'QuorumLost', ...BLIND, holds: hold('quorum-lost') },
    'bad Quorum lost',
    'bad Quorum is lost: 2 of 3 servers are away',
  ],
  [
    'it is most likely lost',
    { phase: 'Unknown', ...BLIND, unseenSinceMs: 5, holds: hold('quorum-unseen') },
    'bad No answer',
    'bad Quorum is most likely lost: 2 of 3 servers are away',
  ],
  ['nobody knows', { phase: 'Unknown', ...BLIND }, 'quiet Not known', 'quiet Quorum is not known'],
  [
    'it forms',
    { phase: 'Forming', ...BLIND },
    'busy Forming',
    `busy etcd is not complete yet: Once it is: ${TOLERANCE}`,
  ],
  [
    'it is restored: nothing is said to survive a loss',
    { phase: 'Changing', operation: RESTORE },
    'busy Restoring',
    'busy Restore of edge from old is under way: Now: stop K3s on s1',
  ],
  [
    'a restore stopped in the middle',
    { phase: 'Blocked', ...BLIND, operation: { ...RESTORE, stopped: true } },
    'bad Restore stopped',
    'bad Restore of edge from old has stopped: At: stop K3s on s1',
  ],
  [
    'another operation',
    { phase: 'Changing', operation: { ...RESTORE, name: 'rotation of the token' } },
    'busy Changing',
    'busy Rotation of the token is under way: Now: stop K3s on s1',
  ],
]

describe('a cluster in words', () => {
  for (const [what, more, state, quorum] of CASES)
    test(what, () => {
      const one = { ...WELL, ...more }
      const { tone, word } = clusterState(one, {})
      assert.equal(`${tone} ${word}`, state)
      const { tone: colour, words, detail } = quorumWords(one)
      assert.equal(`${colour} ${words}${detail === undefined ? '' : `: ${detail}`}`, quorum)
    })

  test('an order to switch it off speaks first', () => {
    const power = [{ cluster: 'edge', phase: 'PoweringOff' }] as unknown as Parameters<typeof clusterState>[1]['power']
    assert.deepEqual(clusterState({ ...WELL, phase: 'QuorumLost' }, { power }), {
      tone: 'busy',
      word: 'Powering off',
      ordered: true,
    })
  })
})
