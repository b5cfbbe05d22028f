import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import { clusterSpec } from '../../plan/clusters/testing/fixture.ts'
import { clusterFiles } from './hand-over.ts'

function cluster(names: string): ClusterDeclaration {
  return {
    key: 'Cluster/homelab',
    name: 'homelab',
    estate: 'default',
    spec: clusterSpec(names),
    artifacts: [{ release: true }],
    hosts: new Map(),
    policy: DEFAULT_POLICY,
    origin: { file: 'c.yaml', line: 1, column: 1 },
    generation: 'g1',
  }
}

test('a cluster without its CA and tokens is not handed over, and the way to read them back is a command', () => {
  assert.throws(
    () => clusterFiles(cluster('s1 s2 a1'), undefined, undefined),
    /^CliError: .*nothing was taken off.*croft cluster recover homelab --from s1/i,
  )
})
