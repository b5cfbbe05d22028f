import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { backupTrouble, judgeBackups, planBackup, planDrill } from './backup.ts'
import { planRotation } from './rotate.ts'
import { clusterSpec, HOUR, member, NOW, observedCluster } from './testing/fixture.ts'

const BACKUP = { schedule: '0 */6 * * *', keep: 12, to: { directory: '/srv' } }
const SPEC = clusterSpec('s1 s2 s3', { backup: BACKUP })
const taken = (name: string, atMs: number, tokenKept: 'yes' | 'no' | 'unknown', bytes = 10) => ({
  name,
  atMs,
  tokenKept,
  bytes,
})

describe('backups', () => {
  test('[A39] without its token a backup is unusable from the day it is taken; newest first', () => {
    const verdicts = judgeBackups([
      taken('a', 1, 'yes'),
      taken('b', 3, 'no'),
      taken('c', 2, 'unknown'),
      taken('d', 4, 'yes', 0),
    ])
    assert.deepEqual(
      verdicts.map(({ name, usable }) => [name, usable]),
      [
        ['d', 'no'],
        ['b', 'no'],
        ['c', 'unknown'],
        ['a', 'yes'],
      ],
    )
  })

  const rows: readonly (readonly [string, Parameters<typeof judgeBackups>[0], RegExp | undefined])[] = [
    ['a young usable one', [taken('a', NOW - HOUR, 'yes')], undefined],
    ['an old one', [taken('a', NOW - 30 * HOUR, 'yes')], /a, is 30 h old/],
    ['[A39] a young one without its token', [taken('a', NOW - HOUR, 'no')], /no backup that could be restored/],
    ['none', [], /no backup that could be restored/],
  ]
  for (const [what, snapshots, expected] of rows) {
    test(`with ${what}: ${expected === undefined ? 'nothing is wrong' : 'it is said'}`, () => {
      const said = backupTrouble(SPEC, observedCluster('s1 s2 s3', {}, { snapshots }), 7 * HOUR, NOW)
      if (expected === undefined) assert.equal(said, undefined)
      else assert.match(said ?? '', expected)
    })
  }

  test('one is taken on a server that votes, and on none while nobody does', () => {
    const members = [member('s1', { up: 'no' }), member('s2', { learner: true }), member('s3')]
    assert.equal(planBackup(SPEC, observedCluster('s1 s2 s3', {}, { members })).steps[0]?.node, 's3')
    assert.equal(planBackup(SPEC, observedCluster('s1 s2 s3', {}, { members: 'unknown' })).refusals.length, 1)
  })

  test('a drill ends with a wiped machine, never uses a node of the cluster, and no backup without its token', () => {
    const snapshot = { name: 'a', path: '/a', server: 's1', usable: 'yes' as const }
    const drill = planDrill(SPEC, snapshot, 'spare')
    assert.equal(drill.steps.at(-2)?.verb, 'wipe-k3s')
    assert.ok(drill.steps.every(({ node }) => node === undefined || node === 'spare'))
    assert.equal(planDrill(SPEC, snapshot, 's2').steps.length, 0)
    assert.equal(planDrill(SPEC, { ...snapshot, usable: 'no' }, 'spare').steps.length, 0)
    assert.ok(planDrill(SPEC, { ...snapshot, usable: 'unknown' }, 'spare').steps.length > 0, 'trying it tells')
  })
})

describe('rotations', () => {
  for (const what of ['token', 'ca', 'encryption-keys'] as const) {
    test(`of ${what}: written down first, servers one at a time, released at the end`, () => {
      const { steps, refusals } = planRotation(what, SPEC, observedCluster('s1 s2 s3'), NOW)
      assert.deepEqual(refusals, [])
      const verbs = steps.map(({ verb, node }) => `${verb} ${node ?? ''}`.trim())
      assert.deepEqual([verbs[0], verbs.at(-1)], ['hold', 'release'])
      const restarts = steps.filter(({ verb }) => verb === 'restart-k3s')
      assert.deepEqual(
        restarts.map(({ node, until }) => [node, until]),
        [
          ['s1', 'node-well'],
          ['s2', 'node-well'],
          ['s3', 'node-well'],
        ],
      )
      const made = verbs.findIndex((verb) => verb.startsWith('make-'))
      if (what !== 'encryption-keys')
        assert.ok(made > 0 && made < verbs.findIndex((verb) => verb.startsWith('rotate-')))
    })
    test(`of ${what} is refused while a server is away`, () => {
      const members = [member('s1'), member('s2'), member('s3', { up: 'no' })]
      assert.deepEqual(planRotation(what, SPEC, observedCluster('s1 s2 s3', {}, { members }), NOW).steps, [])
    })
  }
  test('of keys that are not used is refused', () => {
    assert.match(
      planRotation('encryption-keys', { ...SPEC, secretsEncryption: false }, observedCluster('s1 s2 s3'), NOW)
        .refusals[0]?.reason ?? '',
      /not encrypted/,
    )
  })
})
