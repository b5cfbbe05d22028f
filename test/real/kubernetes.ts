import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { REAL_PACKAGES, TEST_PACKAGES } from '../../scripts/packages.ts'
import { enterTestSystem } from '../../scripts/test-system.ts'
import { kubernetesDriver } from '../../src/drivers/kubernetes/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createKubernetesClient, type KubernetesClient } from '../../src/kubernetes/client.ts'
import { at, type Foreign, recordsOf } from '../../src/kubernetes/objects.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Estate } from '../../src/model/estate.ts'
import { Secret } from '../../src/model/secret.ts'
import { openKubernetesStore } from '../../src/store/kubernetes.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { storeConformance } from '../../src/store/testing/conformance.ts'
import { WITHOUT_EVIDENCE } from '../evidence/of-others.ts'
import { onlyProd, platformExample, standInCharts } from '../platform-example.ts'
import { acceptAll } from './charts-accepted.ts'
import { existingCluster } from './existing-cluster.ts'
import { existingLogin } from './existing-login.ts'
import { helmReleases } from './helm-release.ts'
import { missingForApi, type RealApi, startApi } from './kube-apiserver.ts'
import { AGENT_BODY, AGENTS, agent, objectsOnly, SOURCE, widgets } from './kube-manifests.ts'
import { presetObjects } from './preset-objects.ts'

/* Objects of add-ons on a real kube-apiserver: what server-side apply, definitions and ownership of fields really do. */

enterTestSystem([...TEST_PACKAGES, ...REAL_PACKAGES], { make: true })
const missing = missingForApi()
const ci = !['', '0', 'false'].includes(process.env.CI ?? '')
if (missing === undefined) run()
else {
  process.stdout.write(`the tests on a real kube-apiserver ${ci ? 'could not be run' : 'are skipped'}: ${missing}\n`)
  if (ci) process.exitCode = 1
}

function run(): void {
  let api: RealApi
  let client: KubernetesClient
  const store = createMemoryStore()
  const stop = new AbortController()

  before(async () => {
    api = await startApi()
    client = createKubernetesClient(api.wire)
  })
  after(() => api?.stop())

  const engine = (): Engine =>
    createEngine({
      clock: systemClock,
      random: seededRandom(1),
      store,
      drivers: [kubernetesDriver],
      retryStalled: true,
      driverDeps: {
        clock: systemClock,
        random: seededRandom(2),
        openWire: () => api.wire,
        resolveSecret: async () => new Secret('correct horse'),
        kubernetes: () => ({
          find: async () => ({ is: 'open', client }),
          lost: () => {},
          close: async () => {},
        }),
      },
    })

  const settle = async (estate: Estate) => {
    const made = engine()
    const settlement = await made.settle(estate, { signal: stop.signal, deadlineMs: 30_000 })
    const open = settlement.last.plan.entries.filter(({ action }) => action.do !== 'nothing')
    assert.equal(
      settlement.outcome,
      'settled',
      JSON.stringify(
        [open.map(({ key, action }) => [key, action]), settlement.last.records.map((r) => [r.key, r.conditions])],
        undefined,
        1,
      ),
    )
    return settlement
  }
  const planOf = async (estate: Estate) => (await engine().plan(estate, stop.signal)).entries
  const got = async (path: string): Promise<Foreign> => {
    const asked = await client.get(path)
    assert.equal(asked.is, 'answer', JSON.stringify(asked))
    return asked.is === 'answer' ? asked.value : {}
  }

  test('[A51] definitions, their objects, secrets and policies in one apply, and a second plan is empty', async () => {
    const estate = objectsOnly(widgets(3))
    const before = await planOf(estate)
    assert.ok(
      before.some(({ key }) => key.endsWith('@Widget.example.org/widgets/first')),
      'listed before its kind is known',
    )
    assert.doesNotMatch(JSON.stringify(before), /correct horse/)
    await settle(estate)
    assert.equal(at(await got('/apis/example.org/v1/namespaces/widgets/widgets/first'), 'spec', 'size'), 3)
    const secret = await got('/api/v1/namespaces/widgets/secrets/door')
    assert.equal(at(secret, 'data', 'key'), Buffer.from('correct horse').toString('base64'))
    const again = await planOf(estate)
    assert.deepEqual(
      again.filter(({ action }) => action.do !== 'nothing').map(({ key, action }) => [key, action]),
      [],
    )
  })

  test('what a person changes by hand is drift, field by field, and a conflict that is not forced', async () => {
    const path = '/api/v1/namespaces/widgets/configmaps/settings'
    await client.merge(path, { data: { colour: 'red' } }, 'paint it')
    const estate = objectsOnly(widgets(3))
    const entry = (await planOf(estate)).find(({ key }) => key.endsWith('/settings'))
    assert.ok(entry?.action.do === 'update', JSON.stringify(entry))
    assert.deepEqual(
      entry.action.changes.map(({ path: field, from, to }) => [field, from, to]),
      [['data.colour', 'red', 'blue']],
    )
    const report = await engine().pass(estate, stop.signal)
    const failure = report.records.find(({ key }) => key.endsWith('/settings'))?.failure
    assert.match(failure?.message ?? '', /\.data\.colour \([^)]+\).*force: true/)
    assert.equal(at(await got(path), 'data', 'colour'), 'red')
    await settle(objectsOnly(widgets(3, '  force: true\n')))
    assert.equal(at(await got(path), 'data', 'colour'), 'blue')
  })

  test('a field that is declared no more goes, and what is declared no more is deleted', async () => {
    await settle(objectsOnly(widgets(4, '', false)))
    assert.equal(at(await got('/apis/example.org/v1/namespaces/widgets/widgets/first'), 'spec', 'size'), 4)
    assert.equal(at(await got('/api/v1/namespaces/widgets/configmaps/settings'), 'data', 'shape'), undefined)
    const asked = await client.get('/apis/networking.k8s.io/v1/namespaces/widgets/networkpolicies/inside')
    assert.equal(asked.is === 'error' ? asked.status : asked.is, 404)
  })

  test('a plan asks the server itself: what it would refuse, and what it would make of it', async () => {
    const path = '/api/v1/namespaces/widgets/configmaps/settings'
    const version = at(await got(path), 'metadata', 'resourceVersion')
    const changed = (await planOf(objectsOnly(widgets(5, '', false).replace('blue', 'green')))).find(({ key }) =>
      key.endsWith('/settings'),
    )
    assert.deepEqual(
      changed?.preview?.changes.map(({ path: field, from, to }) => [field, from, to]),
      [['data.colour', 'blue', 'green']],
    )
    const wrong = widgets(4, '', false).replace('kind: ConfigMap', 'kind: ConfigMap, immutable: often')
    const refused = (await planOf(objectsOnly(wrong))).find(({ key }) => key.endsWith('/settings'))
    assert.match(refused?.preview?.refused ?? '', /immutable/, JSON.stringify(refused))
    assert.equal(at(await got(path), 'metadata', 'resourceVersion'), version, 'nothing was written')
  })

  existingCluster(() => api)
  existingLogin(() => api)
  helmReleases(() => api)

  for (const { to, ground, keeper, manager, status } of AGENTS) {
    test(`[R22] [A52] handing over to ${to} changes the owner of every field and not the generation, and so does taking back`, async () => {
      await settle(objectsOnly(ground))
      const path = '/apis/apps/v1/namespaces/kube-system/daemonsets/agent'
      const estate = objectsOnly(ground + agent(''))
      await Promise.all([settle(estate), playController(path)])
      const made = await got(path)
      const resources = at(made, 'spec', 'template', 'spec', 'containers')
      assert.equal(at(recordsOf(resources)[0], 'resources', 'requests', 'cpu'), '1', 'the server writes 1000m as 1')
      assert.deepEqual(
        (await planOf(estate)).filter(({ action }) => action.do !== 'nothing'),
        [],
        'which is no difference',
      )

      const handed = objectsOnly(
        ground + agent(`  handover: {to: ${to}, repository: "https://git.example.org/home", path: agent}\n`),
      )
      const watching = engine()
      for (let i = 0; i < 4; i++) await watching.pass(handed, stop.signal)
      const body = JSON.parse(AGENT_BODY) as Foreign
      const sent = {
        ...body,
        metadata: { name: 'agent', namespace: 'kube-system', labels: { 'kept-by-agent': 'yes' } },
      }
      await client.applyAs(`${path}?fieldManager=${manager}&force=true`, sent, 'sync')
      const [written, source] = [await got(keeper), to === 'flux' ? await got(SOURCE) : undefined]
      // These definitions have no status subresource: a write of the status is a new generation.
      const observedGeneration = Number(at(written, 'metadata', 'generation')) + 1
      await client.merge(keeper, { status: { ...status, observedGeneration } }, 'say so')
      if (source !== undefined) await client.merge(SOURCE, { status }, 'say so')
      await settle(handed)
      const given = await got(path)
      assert.equal(at(given, 'metadata', 'generation'), at(made, 'metadata', 'generation'))
      assert.deepEqual(given.spec, made.spec)
      assert.doesNotMatch(JSON.stringify(keptBy(given, 'croft')), /f:spec/)
      const record = (await store.records()).find(({ key }) => key.endsWith('@DaemonSet.apps/kube-system/agent'))
      assert.equal(record?.details?.owner, to)

      await settle(objectsOnly(ground + agent('')))
      const back = await got(path)
      assert.equal(at(back, 'metadata', 'generation'), at(made, 'metadata', 'generation'))
      assert.equal(at(back, 'metadata', 'uid'), at(made, 'metadata', 'uid'))
      assert.match(JSON.stringify(keptBy(back, 'croft')), /f:spec/)
      assert.equal(keptBy(back, manager), undefined, 'the name of the other is off every field')
      assert.equal(at(back, 'metadata', 'labels', 'kept-by-agent'), undefined, 'and what only it kept is gone')
      assert.equal((await client.get(keeper)).is, 'error', 'what kept it is gone')
      await settle(objectsOnly(ground))
      assert.equal((await client.get(path)).is, 'error', 'declared no more, it goes')
    })
  }

  let stores = 0
  storeConformance('Kubernetes (real API)', async () => {
    const name = `store-${stores++}`
    const random = seededRandom(stores)
    return {
      open: async () => openKubernetesStore({ client, namespace: 'default', name, random }),
      remove: async () => {},
    }
  })

  // The last one: it leaves the definitions of every chart behind, which the tests above make themselves.
  test('[A51] everything that the charts of presets render, that presets write, and that Big Bang gives to Flux is taken by the server', {
    skip: WITHOUT_EVIDENCE,
  }, async () => {
    const example = await platformExample(standInCharts, onlyProd)
    const bigBang = example.resources.flatMap(({ key, desired }) =>
      key.startsWith('Addon/bigbang-prod@') && desired.type === 'object' ? [desired.object.object] : [],
    )
    assert.ok(bigBang.some(({ kind }) => kind === 'HelmRelease'))
    const { accepted, refused, unknown } = await acceptAll(api.wire, [...presetObjects(), ...bigBang])
    assert.deepEqual(refused, [])
    assert.ok(accepted > 300, `${accepted}`)
    // Those of K3s itself, and those that Cilium defines when it runs.
    assert.ok(
      unknown.every((one) => /^(?:helm\.cattle\.io|cilium\.io)\//.test(one)),
      unknown.join(', '),
    )
  })

  /** No controllers run here, so the test reports the pods of the DaemonSet as there. */
  async function playController(path: string): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const found = await client.get(path)
      if (found.is === 'answer') {
        const status = {
          currentNumberScheduled: 0,
          numberMisscheduled: 0,
          desiredNumberScheduled: 0,
          numberReady: 0,
          observedGeneration: 1,
        }
        await client.merge(`${path}/status`, { status }, 'count')
        return
      }
      await systemClock.sleep(100, stop.signal)
    }
  }
}

/** Who keeps which fields, by the server's own account. */
function keptBy(object: Foreign, manager: string): Foreign | undefined {
  return recordsOf(at(object, 'metadata', 'managedFields')).find((entry) => entry.manager === manager)
}
