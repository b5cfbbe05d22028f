import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kubernetesDriver } from '../../src/drivers/kubernetes/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createKubernetesClient, type KubernetesClient } from '../../src/kubernetes/client.ts'
import { at, type Foreign, recordsOf } from '../../src/kubernetes/objects.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Estate } from '../../src/model/estate.ts'
import { Secret } from '../../src/model/secret.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { clusterEstate, clusterManifest } from '../simulation/cluster-run.ts'
import { missingForApi, type RealApi, startApi } from './kube-apiserver.ts'

/* Objects of add-ons on a real kube-apiserver: what server-side apply, definitions and ownership of fields really do. */

const missing = missingForApi()
if (missing !== undefined) process.stdout.write(`the tests on a real kube-apiserver are skipped: ${missing}\n`)
else run()

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

  test('[A52] handing over to Argo CD changes the owner of every field and not the generation', async () => {
    await settle(objectsOnly(ARGO))
    const path = '/apis/apps/v1/namespaces/kube-system/daemonsets/agent'
    const estate = objectsOnly(ARGO + agent(''))
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
      ARGO + agent('  handover: {to: argocd, repository: "https://git.example.org/home", path: agent}\n'),
    )
    const watching = engine()
    for (let i = 0; i < 4; i++) await watching.pass(handed, stop.signal)
    const body = JSON.parse(AGENT_BODY) as Foreign
    const sent = { ...body, metadata: { name: 'agent', namespace: 'kube-system' } }
    await client.applyAs(`${path}?fieldManager=argocd-controller&force=true`, sent, 'sync')
    const application = '/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/agent'
    await client.merge(application, { status: { sync: { status: 'Synced' }, health: { status: 'Healthy' } } }, 'say so')
    await settle(handed)
    const given = await got(path)
    assert.equal(at(given, 'metadata', 'generation'), at(made, 'metadata', 'generation'))
    assert.deepEqual(given.spec, made.spec)
    const ours = recordsOf(at(given, 'metadata', 'managedFields')).find(({ manager }) => manager === 'croft')
    assert.doesNotMatch(JSON.stringify(ours), /f:spec/)
    const record = (await store.records()).find(({ key }) => key.endsWith('@DaemonSet.apps/kube-system/agent'))
    assert.equal(record?.details?.owner, 'argocd')

    await settle(objectsOnly(ARGO + agent('')))
    const back = await got(path)
    assert.equal(at(back, 'metadata', 'generation'), at(made, 'metadata', 'generation'))
    assert.equal(at(back, 'metadata', 'uid'), at(made, 'metadata', 'uid'))
    const mine = recordsOf(at(back, 'metadata', 'managedFields')).find(({ manager }) => manager === 'croft')
    assert.match(JSON.stringify(mine), /f:spec/)
    assert.equal((await client.get(application)).is, 'error', 'the Application is gone')
  })

  /** No controllers run here: somebody has to say that the pods of the DaemonSet are there. */
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

/** The objects of an estate without the machines under its cluster, which stands already. */
function objectsOnly(manifests: string): Estate {
  const estate = clusterEstate(clusterManifest({ servers: ['s1'], spec: '  allow: {degraded: true}\n' }) + manifests)
  const { clusters: _, ...rest } = estate
  return {
    ...rest,
    connections: estate.connections.filter(({ driver }) => driver === 'kubernetes'),
    resources: estate.resources.filter(({ driver }) => driver === 'kubernetes'),
  }
}

function definition(group: string, kind: string): string {
  const plural = `${kind.toLowerCase()}s`
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: group === 'argoproj.io' ? 'v1alpha1' : 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
}

function widgets(size: number, more = '', whole = true): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: widgets}
spec:
  cluster: homelab
  namespace: widgets
  secrets: [{name: door, data: {key: {env: KEY}}}]
  objects:
    - {apiVersion: example.org/v1, kind: Widget, metadata: {name: first}, spec: {size: ${size}}}
    - ${definition('example.org', 'Widget')}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {colour: blue${whole ? ', shape: round' : ''}}}
${whole ? '    - {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: inside}, spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}}\n' : ''}${more}`
}

const ARGO = `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: argocd}
spec:
  cluster: homelab
  namespace: argocd
  objects:
    - ${definition('argoproj.io', 'Application')}
`

const AGENT_BODY = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: {
        hostNetwork: true,
        containers: [
          {
            name: 'agent',
            image: 'example.org/agent:1',
            ports: [{ containerPort: 4240, hostPort: 4240 }],
            env: [{ name: 'LEVEL', value: 'info' }],
            resources: { requests: { cpu: '1000m', memory: '0.5Gi' } },
          },
        ],
      },
    },
  },
})

function agent(more: string): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: agent}
spec:
  cluster: homelab
  namespace: kube-system
  objects:
    - ${AGENT_BODY}
${more}`
}
