import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { planRestore } from './restore.ts'
import { clusterSpec, observedCluster } from './testing/fixture.ts'

const SPEC = clusterSpec('s1 s2 s3 a1')
const KEPT = ['111111111111', '222222222222']
const REQUEST = { snapshot: 'snap', path: '/snap', server: 's2', tokenHash: '111111111111' }
const list = (operation: ReturnType<typeof planRestore>) =>
  operation.steps.map(({ verb, node }) => `${verb} ${node ?? ''}`.trim())

describe('planning a restore', () => {
  test('[A38] all stop before one starts over, which is the one with the snapshot; the others follow one by one', () => {
    const steps = list(planRestore(SPEC, observedCluster('s1 s2 s3 a1'), KEPT, REQUEST))
    assert.deepEqual(steps, [
      'hold',
      'snapshot s2',
      'stop-k3s s1',
      'stop-k3s s2',
      'stop-k3s s3',
      'write-files s2',
      'restore-snapshot s2',
      'start-k3s s2',
      'forget-db s1',
      'write-files s1',
      'start-k3s s1',
      'forget-db s3',
      'write-files s3',
      'start-k3s s3',
      'write-files a1',
      'restart-k3s a1',
      'delete-node',
      'release',
    ])
  })

  test('what lives is kept in a snapshot first; nobody asks a cluster that does not answer, or where a person does without', () => {
    const takes = (observed: ReturnType<typeof observedCluster>, more: object = {}) =>
      list(planRestore(SPEC, observed, KEPT, { ...REQUEST, ...more })).includes('snapshot s2')
    const alive = observedCluster('s1 s2 s3 a1')
    assert.equal(takes(alive), true)
    assert.equal(takes(alive, { keepNothing: true }), false)
    assert.equal(takes({ ...alive, api: 'no' }), false)
    assert.match(
      planRestore(SPEC, alive, KEPT, REQUEST).warnings[0] ?? '',
      /takes a snapshot of the current state first/,
    )
  })

  test('an older token is taken back before the files are written', () => {
    const steps = list(planRestore(SPEC, observedCluster('s1 s2 s3'), KEPT, { ...REQUEST, tokenHash: '222222222222' }))
    assert.ok(steps.indexOf('take-password') < steps.indexOf('write-files s2'))
    assert.ok(steps.indexOf('take-password') > 0)
  })

  test('[F-31] a server whose machine is gone is left out; one that runs and cannot be reached forbids it', () => {
    const gone = observedCluster('s1 s2 s3', { s3: { machine: { exists: 'no', power: 'off' }, k3s: 'unknown' } })
    const steps = list(planRestore(SPEC, gone, KEPT, REQUEST))
    assert.ok(!steps.some((step) => step.endsWith('s3')))
    const silent = observedCluster('s1 s2 s3', { s3: { k3s: 'unknown' } })
    const refused = planRestore(SPEC, silent, KEPT, REQUEST)
    assert.deepEqual(refused.steps, [])
    assert.match(refused.refusals[0]?.reason ?? '', /s3 cannot be reached/)
  })

  const refusals: readonly (readonly [string, readonly string[], object, RegExp])[] = [
    ['a token that is not kept', KEPT, { tokenHash: 'ffffffffffff' }, /does not have: it cannot be restored/],
    ['no token at all', [], {}, /no token of this cluster is kept/],
    ['a server that is none', KEPT, { server: 'a1' }, /a1 is not a server/],
    ['a release that is older than the snapshot', KEPT, { version: 'v1.35.0+k3s1' }, /is older/],
  ]
  for (const [what, kept, turn, reason] of refusals) {
    test(`[F-33] ${what} is refused before anything is stopped`, () => {
      const operation = planRestore(SPEC, observedCluster('s1 s2 s3'), kept, { ...REQUEST, ...turn })
      assert.deepEqual(operation.steps, [])
      assert.match(operation.refusals.map((one) => one.reason).join(), reason)
    })
  }

  test('[F-33] a snapshot of unknown token needs a person who says which it is', () => {
    const { tokenHash: _, ...unknown } = REQUEST
    assert.deepEqual(planRestore(SPEC, observedCluster('s1 s2 s3'), KEPT, unknown).steps, [])
    assert.ok(planRestore(SPEC, observedCluster('s1 s2 s3'), KEPT, { ...unknown, presentToken: true }).steps.length > 0)
  })

  const down = (names: string) =>
    Object.fromEntries(
      names.split(' ').map((name) => [name, { k3s: { service: 'stopped', version: 'v1.34.3+k3s1' } as const }]),
    )
  const ALIVE = observedCluster('s1 s2 s3 a1')
  const members = (up: readonly ('yes' | 'no' | 'unknown')[]) =>
    up.map((state, at) => ({ id: `${at + 1}`, name: `s${at + 1}-x`, node: `s${at + 1}`, learner: false, up: state }))
  const naming: readonly (readonly [what: string, observed: ReturnType<typeof observedCluster>, reason?: RegExp])[] = [
    ['three members up', ALIVE, /lab runs \(3 of 3 members of etcd are up\)/],
    ['two of three up', { ...ALIVE, members: members(['yes', 'yes', 'no']) }, /2 of 3 members/],
    ['a majority lost, the API still said to answer', { ...ALIVE, members: members(['yes', 'no', 'unknown']) }],
    ['members not known, the API answers', { ...ALIVE, members: 'unknown' }, /its API answers/],
    ['members and API not known, K3s on all', { ...ALIVE, members: 'unknown', api: 'unknown' }, /K3s runs on 3 of 3/],
    [
      'members and API not known, K3s on two',
      { ...observedCluster('s1 s2 s3 a1', down('s3')), members: 'unknown', api: 'unknown' },
      /K3s runs on 2 of 3/,
    ],
    [
      'members not known, K3s on one of three',
      { ...observedCluster('s1 s2 s3 a1', down('s1 s3')), members: 'unknown', api: 'no' },
    ],
  ]
  for (const [what, observed, reason] of naming) {
    test(`[D-01] ${what}: ${reason === undefined ? 'a yes is enough' : 'a person names the cluster'}`, () => {
      const operation = planRestore(SPEC, observed, KEPT, REQUEST)
      assert.ok(operation.steps.length > 0, JSON.stringify(operation.refusals))
      if (reason === undefined) assert.equal(operation.naming, undefined)
      else assert.match(operation.naming?.reason ?? '', reason)
      assert.equal(planRestore(SPEC, observed, KEPT, { ...REQUEST, approved: true }).naming, undefined)
    })
  }

  test('a cluster that is paused or only observed is not restored', () => {
    const refusal = (policy: { manage: 'full' | 'observe'; paused: boolean }) =>
      planRestore(SPEC, ALIVE, KEPT, { ...REQUEST, policy })
        .refusals.map(({ reason }) => reason)
        .join()
    assert.match(refusal({ manage: 'observe', paused: false }), /only observed/)
    assert.match(refusal({ manage: 'full', paused: true }), /is paused/)
    assert.equal(refusal({ manage: 'full', paused: false }), '')
  })
})
