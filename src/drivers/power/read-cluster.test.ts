import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKubernetesClient } from '../../kubernetes/client.ts'
import { clusterSpec } from '../../plan/clusters/testing/fixture.ts'
import { specWith } from '../../plan/power/testing/fixture.ts'
import { readCluster } from './read-cluster.ts'

/** A cluster with only these databases of CloudNativePG. */
function clientWith(databases: readonly object[]) {
  return createKubernetesClient({
    async send({ path }) {
      const items = path.startsWith('/apis/postgresql.cnpg.io/v1/clusters') ? databases : []
      return { status: 200, reason: 'OK', headers: {}, body: JSON.stringify({ metadata: {}, items }) }
    },
    close: async () => undefined,
  })
}

const database = (name: string, annotations: Readonly<Record<string, string>>) => ({
  metadata: { namespace: 'data', name, annotations },
  spec: { instances: 3 },
  status: { readyInstances: 2 },
})

test('a database has as many replicas as it is to have instances, and none while it is hibernated', async () => {
  const client = clientWith([
    database('up', {}),
    database('woken', { 'cnpg.io/hibernation': 'off' }),
    database('asleep', { 'cnpg.io/hibernation': 'on' }),
  ])
  const shown = await readCluster(client, clusterSpec('s1'), specWith({}), new AbortController().signal)
  assert.ok(shown !== undefined && shown.workloads !== 'unknown')
  assert.deepEqual(
    shown.workloads.map(({ kind, name, replicas, ready }) => [kind, name, replicas, ready]),
    [
      ['Database', 'up', 3, 2],
      ['Database', 'woken', 3, 2],
      ['Database', 'asleep', 0, 2],
    ],
  )
})
