import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observedCluster } from '../../plan/clusters/testing/fixture.ts'
import { lostMajority } from './lost-majority.ts'

test('a lost majority is seen in the machines, where nobody can count votes', () => {
  const off = { machine: { power: 'off' } } as const
  const blind = { api: 'no', members: 'unknown' } as const
  const two = { s2: off, s3: off }
  assert.match(lostMajority(observedCluster('s1 s2 s3', two, blind)) ?? '', /^2 of 3 servers are off and etcd needs 2/)
  assert.match(
    lostMajority(observedCluster('s1 s2', { s2: off }, blind)) ?? '',
    /^1 of 2 servers are off and etcd needs 2/,
  )
  const quiet = {
    'one of three': observedCluster('s1 s2 s3', { s3: off }, blind),
    'agents have no vote': observedCluster('s1 a1 a2', { a1: off, a2: off }, blind),
    'votes are seen': observedCluster('s1 s2 s3', two),
    'never formed': observedCluster('s1 s2 s3', two, {
      ...blind,
      identity: { caHash: 'a', formed: false, recordedMs: 0 },
    }),
    'switched off': observedCluster('s1 s2 s3', two, {
      ...blind,
      requests: { ...observedCluster('s1').requests, hold: { reason: 'off', allow: '', power: 'off' } },
    }),
  }
  for (const [why, observed] of Object.entries(quiet)) assert.equal(lostMajority(observed), undefined, why)
})
