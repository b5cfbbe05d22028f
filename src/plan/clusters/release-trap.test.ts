// A first server on a release with the trap keeps its member while it could restart as a separate cluster.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { coordinate } from './coordinate.ts'
import { clusterSpec, HOUR, MINUTE, member, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'

const TRAP = 'v1.34.3+k3s3'
const MENDED = 'v1.34.4+k3s1'
const SILENT = { readyReason: 'NodeStatusUnknown', ready: 'no' as const, readySinceMs: NOW - 48 * HOUR, version: TRAP }

describe('the member of the first server on a release with the trap', () => {
  const going: NodeTurn = {
    kube: SILENT,
    k3s: 'unknown',
    machine: { ours: false, exists: 'unknown', power: 'unknown' },
  }
  const rows: readonly [string, string, NodeTurn, boolean][] = [
    ['silent, and nobody can look', 's1', going, false],
    ['silent, on a mended release', 's1', { ...going, kube: { ...SILENT, version: MENDED } }, true],
    ['its machine is gone', 's1', { ...going, machine: { ours: true, exists: 'no', power: 'unknown' } }, true],
    ['its machine is off', 's1', { ...going, machine: { ours: true, exists: 'yes', power: 'off' } }, true],
    ['another than the first', 's3', going, true],
    ['it stands still', 's1', { kube: SILENT, k3s: { service: 'stopped', begins: true } }, true],
    [
      'it runs, and has the way to the others',
      's1',
      { kube: SILENT, k3s: { begins: false, service: 'stopped' } },
      true,
    ],
  ]
  for (const [what, name, turn, goes] of rows)
    test(`${what}: ${goes ? 'goes' : 'stays'}`, () => {
      const names = 's1 s2 s3 s4'
      const left = names.replace(`${name} `, '').replace(` ${name}`, '')
      const spec = clusterSpec(`${left} s5`, { version: TRAP, allow: { degraded: true, interruption: false } })
      const work = { purpose: 'remove' as const, target: 'remove', sinceMs: NOW - MINUTE, cordoned: true }
      const kube = { ...(typeof turn.kube === 'object' ? turn.kube : {}), unschedulable: true, work }
      const healthy = { kube: { version: TRAP } }
      const observed = observedCluster(
        names,
        { s2: healthy, s3: healthy, s4: healthy, s1: healthy, [name]: { ...turn, kube } },
        {
          members: names
            .split(' ')
            .map((one) => member(one, one === name ? { up: turn.k3s === 'unknown' ? 'unknown' : 'no' } : {})),
        },
      )
      const { steps, holds } = coordinate(spec, observed, NOW)
      const removed = steps.some(({ verb, node }) => verb === 'remove-member' && node === name)
      const held = holds.find(({ guard }) => guard === 'release-trap')
      assert.deepEqual([removed, held === undefined], [goes, goes], JSON.stringify({ steps, holds }))
      if (!goes)
        assert.match(`${held?.reason} ${held?.allow}`, /13623.*croft cluster forget homelab s1.*v1\.34\.4\+k3s1/)
    })
})

test('a pin with the trap is said, with the release that mends it', () => {
  const warnings = (version: string) =>
    coordinate(clusterSpec('s1 s2 s3', { version }), observedCluster('s1 s2 s3'), NOW).warnings
  assert.match(warnings(TRAP).join(), /v1\.34\.3\+k3s3.*13623.*pin v1\.34\.4\+k3s1 or later/)
  assert.deepEqual(warnings(MENDED), [])
})
