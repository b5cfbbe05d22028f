import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { REAL_PACKAGES, TEST_PACKAGES } from '../../scripts/packages.ts'
import { enterTestSystem } from '../../scripts/test-system.ts'
import { type Asked, createKubernetesClient } from '../../src/kubernetes/client.ts'
import type { Foreign } from '../../src/kubernetes/objects.ts'
import { openKubernetesStore } from '../../src/store/kubernetes.ts'
import { storeConformance } from '../../src/store/testing/conformance.ts'
import { missingForApi, type RealApi, startApi } from './kube-apiserver.ts'

/* The store in a Kubernetes API, on a real kube-apiserver with a real etcd: the whole conformance suite, a restart in the middle of a
   write, and a disk that is full. */

const NAMESPACE = 'default'
/** Enough for the server's own objects and the suite, and soon full. */
const QUOTA_BYTES = 48 * 2 ** 20

enterTestSystem([...TEST_PACKAGES, ...REAL_PACKAGES], { make: true })
const missing = missingForApi()
const ci = !['', '0', 'false'].includes(process.env.CI ?? '')
if (missing === undefined) run()
else {
  process.stdout.write(`the tests of the store ${ci ? 'could not be run' : 'are skipped'}: ${missing}\n`)
  if (ci) process.exitCode = 1
}

function run(): void {
  let api: RealApi
  let stores = 0
  const random = { next: () => Math.random() }
  const waits: string[] = []
  const wait = async (why: string) => {
    waits.push(why)
    await new Promise((over) => setTimeout(over, 200))
  }
  const client = () => createKubernetesClient(api.wire)
  const storeCalled = (name: string) =>
    openKubernetesStore({ client: client(), namespace: NAMESPACE, name, random, wait })

  before(async () => {
    api = await startApi({ quotaBytes: QUOTA_BYTES })
  })
  after(() => api?.stop())

  storeConformance('Kubernetes (real API)', async () => {
    const name = `conformance-${stores++}`
    return { open: async () => storeCalled(name), remove: async () => {} }
  })

  test('[F-07] a server that restarts in the middle of writes loses none and counts each once', async () => {
    const store = storeCalled('restarted')
    const epoch = await store.beginEpoch()
    const restarting = api.restart()
    for (let index = 0; index < 20; index++) await store.putValue(epoch, `value-${index}`, `${index}`)
    await restarting
    assert.equal((await store.valueNames()).length, 20)
    assert.equal(await store.getValue('value-19'), '19')
    assert.ok(waits.length > 0, 'it was away')
  })

  test('[F-07] a full etcd is told with the words that the simulated faults have', async () => {
    const collection = `/api/v1/namespaces/${NAMESPACE}/configmaps`
    let refused: Asked<Foreign> | undefined
    for (let index = 0; refused === undefined && index < 200; index++) {
      const name = `ballast-${index}`
      const body = { metadata: { name }, data: { text: 'x'.repeat(900_000) } }
      const asked = await client().create(collection, body, 'fill it')
      if (asked.is !== 'answer') refused = asked
    }
    assert.ok(refused?.is === 'error', JSON.stringify(refused))
    console.info(`  a full etcd: HTTP ${refused.status}, ${refused.refusal.message}`)
    assert.equal(refused.status, 500)
    assert.match(refused.refusal.message, /etcdserver: mvcc: database space exceeded/)
  })
}
