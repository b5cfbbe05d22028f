import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../src/model/secret.ts'
import { completeAuthorities, issueLeaf } from '../k3s/authorities.ts'
import { switchOff } from '../metal/box.ts'
import { adminOf, createLab, FIRST, type Lab } from '../testing/k3s-lab.ts'
import { kubernetesWire } from './wire.ts'

async function oneServer(): Promise<Lab> {
  const lab = createLab()
  lab.start('s1', 'server', FIRST)
  await lab.until(() => lab.isReady('s1'))
  await lab.pass(15_000)
  return lab
}

type Body = Record<string, unknown> & { metadata: Record<string, unknown>; message?: string }

async function sent(lab: Lab, method: string, path: string, body?: unknown, type?: string): Promise<[number, Body]> {
  const answer = await lab.call(method, path, body, type === undefined ? {} : { 'Content-Type': type })
  return [answer.status, JSON.parse(answer.body) as Body]
}

const MAPS = '/api/v1/namespaces/default/configmaps'

test('objects are made, read, changed with the version that was read, and removed', async () => {
  const lab = await oneServer()
  const [made, object] = await sent(lab, 'POST', MAPS, { metadata: { name: 'm' }, data: { a: '1' } })
  assert.equal(made, 201)
  assert.equal((await sent(lab, 'POST', MAPS, { metadata: { name: 'm' } }))[0], 409)
  const [changed, next] = await sent(lab, 'PUT', `${MAPS}/m`, { ...object, data: { a: '2' } })
  assert.equal(changed, 200)
  assert.notEqual(next.metadata.resourceVersion, object.metadata.resourceVersion)
  const [stale, why] = await sent(lab, 'PUT', `${MAPS}/m`, { ...object, data: { a: '3' } })
  assert.deepEqual([stale, why.reason], [409, 'Conflict'])
  const [same, again] = await sent(lab, 'PATCH', `${MAPS}/m`, { data: { a: '2' } })
  assert.deepEqual(
    [same, again.metadata.resourceVersion],
    [200, next.metadata.resourceVersion],
    'a write that changes nothing',
  )
  const [, patched] = await sent(
    lab,
    'PATCH',
    `${MAPS}/m`,
    [{ op: 'add', path: '/data/b', value: 'x' }],
    'application/json-patch+json',
  )
  assert.deepEqual(patched.data, { a: '2', b: 'x' })
  assert.equal((await sent(lab, 'DELETE', `${MAPS}/m`))[0], 200)
  const [gone, missing] = await sent(lab, 'GET', `${MAPS}/m`)
  assert.deepEqual([gone, missing.message], [404, 'configmaps "m" not found'])
  assert.equal((await sent(lab, 'POST', '/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'x' } }))[0], 404)
})

const APPLY = 'application/apply-patch+yaml'

test('server-side apply: owners, conflicts, force, and fields that are no longer sent', async () => {
  const lab = await oneServer()
  const map = (data: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data })
  const [made] = await sent(lab, 'PATCH', `${MAPS}/m?fieldManager=one`, map({ a: '1', b: '1' }), APPLY)
  assert.equal(made, 201)
  const [fought, status] = await sent(lab, 'PATCH', `${MAPS}/m?fieldManager=two`, map({ a: '2' }), APPLY)
  assert.equal(fought, 409)
  assert.equal(status.message, 'Apply failed with 1 conflict: conflict with "one" using v1: .data.a')
  const [shared] = await sent(lab, 'PATCH', `${MAPS}/m?fieldManager=two`, map({ a: '1' }), APPLY)
  assert.equal(shared, 200, 'the same value is no conflict')
  const [forced] = await sent(lab, 'PATCH', `${MAPS}/m?fieldManager=two&force=true`, map({ a: '2' }), APPLY)
  assert.equal(forced, 200)
  const [, left] = await sent(lab, 'PATCH', `${MAPS}/m?fieldManager=one`, map({}), APPLY)
  assert.deepEqual(left.data, { a: '2' }, 'b was owned by nobody else')
  const owners = (left.metadata.managedFields as { manager: string; operation: string }[]).map(
    ({ manager, operation }) => `${manager} ${operation}`,
  )
  assert.ok(owners.includes('two Apply'))
  const pod = (image: string, name = 'c') => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name, image }] } },
    },
  })
  const deployments = '/apis/apps/v1/namespaces/default/deployments/d'
  await sent(lab, 'PATCH', `${deployments}?fieldManager=one`, pod('one:1'), APPLY)
  const [, status2] = await sent(lab, 'PATCH', `${deployments}?fieldManager=two`, pod('two:1'), APPLY)
  assert.match(status2.message ?? '', /\.spec\.template\.spec\.containers\[name="c"\]\.image/)
  const [, both] = await sent(lab, 'PATCH', `${deployments}?fieldManager=two`, pod('side:1', 'side'), APPLY)
  const names = (both.spec as { template: { spec: { containers: { name: string }[] } } }).template.spec.containers.map(
    ({ name }) => name,
  )
  assert.deepEqual(names, ['c', 'side'], 'members of a list are told apart by their names')
})

test('a definition is served a moment after it was made, and its objects go with it', async () => {
  const lab = await oneServer()
  const definition = {
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', singular: 'widget' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} } }],
    },
  }
  assert.equal((await sent(lab, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition))[0], 201)
  const widgets = '/apis/example.org/v1/namespaces/default/widgets'
  assert.equal((await lab.call('GET', widgets)).status, 404)
  await lab.pass(1_000)
  const [made, widget] = await sent(lab, 'POST', widgets, { metadata: { name: 'w' }, spec: { size: 1 } })
  assert.deepEqual([made, widget.apiVersion, widget.kind], [201, 'example.org/v1', 'Widget'])
  const [, status] = await sent(lab, 'PATCH', `${widgets}/w/status`, { spec: { size: 9 }, status: { ok: true } })
  assert.deepEqual([status.spec, status.status], [{ size: 1 }, { ok: true }], 'only the status on its path')
  assert.equal(
    (await sent(lab, 'DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org'))[0],
    200,
  )
  assert.equal((await lab.call('GET', widgets)).status, 404)
  assert.equal(lab.cluster().store.tables.get('example.org/widgets')?.size, 0)
})

test('a watch begins from a version, tells of what no longer fits as gone, and is refused when it is too old', async () => {
  const lab = await oneServer()
  const [, list] = await sent(lab, 'GET', MAPS)
  const from = String(list.metadata.resourceVersion)
  await sent(lab, 'POST', MAPS, { metadata: { name: 'w', labels: { a: 'b' } } })
  await sent(lab, 'PATCH', `${MAPS}/w`, { metadata: { labels: { a: null } } })
  const answer = await lab.call('GET', `${MAPS}?watch=1&timeoutSeconds=2&labelSelector=a%3Db&resourceVersion=${from}`)
  const events = answer.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object: Body })
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'DELETED'],
  )
  lab.cluster().store.compacted = Number(from) + 1
  const [old, why] = await sent(lab, 'GET', `${MAPS}?watch=1&resourceVersion=${from}`)
  assert.deepEqual([old, why.reason], [410, 'Expired'])
})

test('who may come in: the CA decides about both sides, and the name must be in the certificate', async () => {
  const lab = await oneServer()
  const files = lab.cluster().bootstrap.files
  const caPem = files.get('server-ca.crt') ?? ''
  const ask = (endpoint: string, ca: string, client: { certificatePem?: string; key?: Secret } = {}) =>
    lab.clock.runUntil(
      kubernetesWire(lab.world, { endpoint, caPem: ca, ...client }).send({
        method: 'GET',
        path: '/api/v1/nodes',
        headers: {},
      }),
    )
  const endpoint = 'https://10.67.0.1:6443'
  assert.equal((await ask(endpoint, caPem)).status, 401)
  assert.equal((await ask(endpoint, caPem, adminOf(files, lab.clock.now()))).status, 200)
  const foreign = completeAuthorities(lab.world, new Map())
  await assert.rejects(ask(endpoint, foreign.get('server-ca.crt') ?? ''), { code: 'ERR_CERT_UNTRUSTED', sent: 'no' })
  assert.equal((await ask(endpoint, caPem, adminOf(foreign, lab.clock.now()))).status, 401)
  const nobody = issueLeaf(files, 'client-ca', { commonName: 'visitor', usages: ['clientAuth'] }, lab.clock.now())
  const visitor = { certificatePem: nobody.certificate.pem, key: new Secret(nobody.keyPem) }
  assert.equal((await ask(endpoint, caPem, visitor)).status, 403)
  await assert.rejects(ask('https://10.67.0.77:6443', caPem), { code: 'ECONNREFUSED', sent: 'no' })
})

test('workloads: a daemon on each node, a set in its order, a job to its end, and pods that outlive a dead node for five minutes', async () => {
  const lab = await oneServer()
  lab.start('a1', 'agent', { server: 'https://10.67.0.1:6443', token: FIRST['agent-token'] })
  await lab.until(() => lab.isReady('a1'))
  const template = (app: string, spec: object = {}) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  })
  const make = (group: string, kind: string, name: string, spec: object) =>
    sent(lab, 'POST', `/apis/${group}/namespaces/default/${kind}`, { metadata: { name }, spec })
  const selector = (app: string) => ({ matchLabels: { app } })
  await make('apps/v1', 'daemonsets', 'ds', { selector: selector('ds'), template: template('ds') })
  await make('apps/v1', 'statefulsets', 'sts', { replicas: 2, selector: selector('sts'), template: template('sts') })
  await make('batch/v1', 'jobs', 'job', { template: template('job', { restartPolicy: 'Never' }) })
  await make('apps/v1', 'deployments', 'dep', {
    replicas: 1,
    selector: selector('dep'),
    template: template('dep', { nodeSelector: { 'kubernetes.io/hostname': 'a1' } }),
  })
  await lab.pass(20_000)
  const pods = () =>
    [...(lab.cluster().store.tables.get('/pods')?.values() ?? [])].filter(
      ({ metadata }) => metadata.namespace === 'default',
    )
  const named = (app: string) => pods().filter(({ metadata }) => metadata.labels?.app === app)
  assert.deepEqual(named('ds').length, 2)
  assert.deepEqual(
    named('sts')
      .map(({ metadata }) => metadata.name)
      .sort(),
    ['sts-0', 'sts-1'],
  )
  assert.match((await lab.call('GET', '/apis/batch/v1/namespaces/default/jobs/job')).body, /"succeeded":1/)
  const [victim] = named('dep')
  switchOff(lab.world, lab.box('a1'))
  await lab.until(() => !lab.isReady('a1'))
  await lab.pass(200_000)
  assert.equal(
    named('dep').find(({ metadata }) => metadata.uid === victim?.metadata.uid)?.metadata.deletionTimestamp,
    undefined,
  )
  await lab.pass(120_000)
  const dying = named('dep').find(({ metadata }) => metadata.uid === victim?.metadata.uid)
  assert.notEqual(dying?.metadata.deletionTimestamp, undefined, 'told to go, and nobody there to end it')
  assert.equal(named('dep').length, 2, 'its replacement waits for a node')
  assert.equal((await sent(lab, 'DELETE', '/api/v1/nodes/a1'))[0], 200)
  await lab.pass(2_000)
  assert.equal(
    named('dep').some(({ metadata }) => metadata.uid === victim?.metadata.uid),
    false,
  )
})
