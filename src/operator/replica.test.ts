import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneApi } from '../../sim/testing/kubernetes-lab.ts'
import { createKubernetesClient } from '../kubernetes/client.ts'
import { seededRandom } from '../lib/random.ts'
import { openKubernetesStore } from '../store/kubernetes.ts'
import { shardStore } from './leases.ts'
import { createReplica } from './replica.ts'

const SHARDS = ['a', 'b', 'c', 'd'].map((name) => ({ atoms: [name], objects: [] }))

test('work that is slow to end does not make a replica look dead, and one that comes gets its share in time', async () => {
  const api = await oneApi()
  const { clock } = api.lab
  const stop = new AbortController()
  const begun: string[] = []
  const replica = (name: string, slowMs: number, seed: number) => {
    const client = createKubernetesClient(api.wire())
    const random = seededRandom(seed)
    return createReplica({
      client,
      wire: api.wire(),
      clock,
      random,
      namespace: 'default',
      name,
      shards: () => SHARDS,
      async openStore(atom, epoch) {
        const store = openKubernetesStore({ client, namespace: 'default', random, name: shardStore(atom), epoch })
        await store.beginEpoch()
        return store
      },
      async work({ atoms }, _held, signal) {
        begun.push(`${name} ${atoms.join()}`)
        await new Promise<void>((over) => signal.addEventListener('abort', () => over(), { once: true }))
        await clock.sleep(slowMs)
      },
      note: () => {},
      warn: (message) => assert.fail(message),
    })
  }
  const first = replica('one', 60_000, 1)
  const second = replica('two', 0, 2)
  const running = [first.run(stop.signal)]
  await api.lab.pass(10_000)
  assert.equal(first.working().length, 4)
  running.push(second.run(stop.signal))
  await api.lab.pass(15_000)
  assert.deepEqual(second.working(), [], 'nothing moves while somebody has just come')
  await api.lab.pass(120_000)
  assert.deepEqual([first.working().length, second.working().length], [2, 2])
  assert.equal(new Set(begun).size, begun.length, `no shard began twice with the same replica: ${begun.join('; ')}`)
  assert.equal(begun.length, 6, begun.join('; '))
  stop.abort()
  await clock.runUntil(Promise.all(running))
})
