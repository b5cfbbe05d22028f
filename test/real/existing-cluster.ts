import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { kubernetesDriver } from '../../src/drivers/kubernetes/driver.ts'
import { existingWay } from '../../src/drivers/kubernetes/existing-way.ts'
import { createEngine } from '../../src/engine/create.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { shopChart } from '../../src/kinds/addon/testing/shop-chart.ts'
import { createKubernetesClient } from '../../src/kubernetes/client.ts'
import { at, type Foreign, objectName, recordsOf } from '../../src/kubernetes/objects.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { existingTools } from '../../src/main/existing-clusters.ts'
import type { Estate } from '../../src/model/estate.ts'
import { Secret } from '../../src/model/secret.ts'
import { shownCall } from '../../src/model/shown-step.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { addonsFor, existingEstate, PROD } from '../existing-estate.ts'
import type { RealApi } from './kube-apiserver.ts'

/* A cluster that croft did not make: reached over TLS by a kubeconfig, a chart applied to it without a Helm controller. */

export function existingCluster(api: () => RealApi): void {
  const stop = new AbortController()
  const store = createMemoryStore()

  async function engine(): Promise<Engine> {
    const resolveSecret = async (reference: object) =>
      new Secret(
        'env' in reference && reference.env === 'PROD_KUBECONFIG'
          ? readFileSync(api().kubeconfig, 'utf8')
          : 'correct horse',
      )
    const tools = await existingTools({ PATH: process.env.PATH }, { clock: systemClock, resolveSecret })
    return createEngine({
      clock: systemClock,
      random: seededRandom(1),
      store,
      drivers: [kubernetesDriver],
      retryStalled: true,
      driverDeps: {
        clock: systemClock,
        random: seededRandom(2),
        openWire: () => assert.fail('nothing else is spoken to'),
        resolveSecret,
        kubernetes: ({ existing }) => {
          assert.ok(existing)
          return existingWay(existing, tools)
        },
      },
    })
  }

  const client = () => createKubernetesClient(api().wire)
  const got = async (path: string): Promise<Foreign | undefined> => {
    const asked = await client().get(path)
    return asked.is === 'answer' ? asked.value : undefined
  }
  const JOBS = '/apis/batch/v1/namespaces/shop/jobs'
  const DEPLOYMENT = '/apis/apps/v1/namespaces/shop/deployments/shop'

  /** There are no controllers beside this API: the test plays those of Jobs and Deployments. */
  async function play(): Promise<void> {
    const jobs = await client().list(JOBS)
    for (const job of jobs.is === 'answer' ? jobs.value : []) {
      if (recordsOf(at(job, 'status', 'conditions')).length > 0) continue
      const [name, now] = [objectName(job) ?? '', new Date().toISOString().replace(/\.\d+Z$/, 'Z')]
      const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: now,
      }))
      const status = { startTime: now, completionTime: now, succeeded: 1, conditions }
      const asked = await client().merge(`${JOBS}/${name}/status`, { status }, 'end it')
      assert.equal(asked.is, 'answer', JSON.stringify(asked))
    }
    const deployment = await got(DEPLOYMENT)
    const generation = at(deployment, 'metadata', 'generation')
    if (deployment === undefined || at(deployment, 'status', 'observedGeneration') === generation) return
    const replicas = at(deployment, 'spec', 'replicas')
    const status = {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      conditions: [{ type: 'Available', status: 'True' }],
    }
    await client().merge(`${DEPLOYMENT}/status`, { status }, 'run it')
  }

  async function settle(estate: Estate): Promise<void> {
    const made = await engine()
    try {
      for (let pass = 0; pass < 40; pass++) {
        const report = await made.pass(estate, stop.signal)
        if (report.settled) return
        await play()
      }
      const { entries } = await made.plan(estate, stop.signal)
      assert.fail(JSON.stringify(entries.map(({ key, action }) => [key, action])))
    } finally {
      await made.close()
    }
  }
  const planOf = async (estate: Estate) => {
    const made = await engine()
    const { entries } = await made.plan(estate, stop.signal)
    await made.close()
    return entries.filter(({ action }) => action.do !== 'nothing')
  }

  test('an existing cluster takes a chart with hooks and manifests by its kubeconfig, and a second plan is empty', async () => {
    const estate = await existingEstate(PROD + addonsFor('prod'))
    const first = await planOf(estate)
    assert.ok(first.length > 8)
    assert.doesNotMatch(JSON.stringify(first), /correct horse/)
    await settle(estate)
    assert.deepEqual(
      (await planOf(estate)).map(({ key, action }) => [key, action]),
      [],
    )
    const secret = await got('/api/v1/namespaces/shop/secrets/shop-config')
    assert.equal(at(secret, 'data', 'greeting'), Buffer.from('hello').toString('base64'))
    assert.equal(at(await got('/api/v1/namespaces/shop/configmaps/colours'), 'data', 'front'), 'blue')
    // No Helm controller is here, and none was requested.
    assert.equal(await got('/apis/helm.cattle.io/v1'), undefined)
  })

  test('a new rendering changes its Deployment and runs its hook again, once; a hand that changes a field is seen', async () => {
    const uid = async (name: string) => at(await got(`${JOBS}/${name}`), 'metadata', 'uid')
    const [migrated, seeded] = [await uid('shop-migrate'), await uid('shop-seed')]
    const next = await existingEstate(PROD + addonsFor('prod', 'green'), shopChart({ image: 'shop:2' }))
    const planned = (await planOf(next)).map(({ key }) => key).sort()
    assert.deepEqual(planned, [
      'Addon/settings@ConfigMap/shop/colours',
      'Addon/shop@Deployment.apps/shop/shop',
      'Addon/shop@Job.batch/shop/shop-migrate',
    ])
    await settle(next)
    assert.notEqual(await uid('shop-migrate'), migrated)
    assert.equal(await uid('shop-seed'), seeded)
    assert.deepEqual(await planOf(next), [])
    await client().merge(DEPLOYMENT, { spec: { replicas: 5 } }, 'scale it by hand')
    const [drift] = await planOf(next)
    assert.ok(drift?.action.do === 'update', JSON.stringify(drift))
    assert.deepEqual(
      drift.action.changes.map(({ path, from, to }) => [path, from, to]),
      [['spec.replicas', 5, 2]],
    )
    await client().merge('/api/v1/namespaces/shop/secrets/shop-config', { data: { greeting: 'YnllCg==' } }, 'change it')
    const secret = (await planOf(next)).find(({ key }) => key.endsWith('shop-config'))
    assert.ok(secret?.action.do === 'update', JSON.stringify(secret))
    const { steps, ...told } = secret.action
    assert.doesNotMatch(JSON.stringify({ ...secret, action: told }), /YnllCg|aGVsbG8/)
    assert.deepEqual(
      steps.map((step) => shownCall(step).secretParams),
      [['body']],
      'the call itself is shown to nobody',
    )
  })

  test('what is taken out of Git goes from an existing cluster, and what the chart keeps stays', async () => {
    const settings = addonsFor('prod', 'green').split('---\n').at(-1) ?? ''
    await settle(await existingEstate(`${PROD}---\n${settings}`))
    assert.equal(await got(DEPLOYMENT), undefined)
    assert.equal(await got(`${JOBS}/shop-migrate`), undefined)
    assert.ok(await got('/api/v1/namespaces/shop/configmaps/shop-keep'))
    assert.ok(await got('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/orders.shop.example.org'))
  })

  test('a kubeconfig of another authority, or a wrong token, is not followed and says why', async () => {
    const right = readFileSync(api().kubeconfig, 'utf8')
    const ask = async (text: string) => {
      const resolveSecret = async () => new Secret(text)
      const tools = await existingTools({}, { clock: systemClock, resolveSecret })
      const way = existingWay({ name: 'prod', kubeconfig: { env: 'K' } }, tools)
      const found = await way.find(stop.signal)
      await way.close()
      return found.is === 'away' ? found.message : found.is
    }
    assert.equal(await ask(right), 'open')
    const users = (login: string) =>
      right.replace(/ +client-certificate-data: .*\n +client-key-data: .*\n/, `      ${login}\n`)
    assert.match(await ask(users('token: wrong')), /does not accept its kubeconfig \(401\)/)
    assert.match(await ask(right.replace(/ +certificate-authority-data: .*\n/, '')), /certificate|self.signed|issuer/i)
  })
}
