import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, type Foreign, recordsOf } from '../../kubernetes/objects.ts'
import type { Wire } from '../../lib/wire.ts'
import { conditionOf, createGround, type Ground, VMS } from '../testing/harness.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const GRAPHS = '/apis/kro.run/v1alpha1/resourcegraphdefinitions'
const NODES = '/apis/kro.run/v1alpha1/namespaces/croft-system/poolednodes'
const POOLS = '/apis/croft.dev/v1alpha1/namespaces/croft-system/proxmoxpools'

async function define(
  ground: Ground,
  group: string,
  plural: string,
  kind: string,
  scope = 'Cluster',
  version = 'v1alpha1',
) {
  const versions = [{ name: version, served: true, storage: true, subresources: { status: {} } }]
  const names = { plural, kind, singular: kind.toLowerCase() }
  await ground.call('POST', DEFINITIONS, {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names, versions },
  })
  await ground.pass(2_000)
}

/** An expression of a template. */
const cel = (expression: string) => `\${${expression}}`

const vmTemplate = (memory: unknown = cel('schema.spec.memory')) => ({
  apiVersion: 'virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1',
  kind: 'EnvironmentVM',
  metadata: { name: cel('schema.metadata.name'), annotations: { 'example.org/for': cel('schema.metadata.uid') } },
  spec: {
    deletionPolicy: 'Delete',
    providerConfigRef: { name: 'default' },
    forProvider: {
      nodeName: cel('schema.spec.host'),
      name: cel('schema.metadata.name'),
      poolId: cel('pool.metadata.name'),
      started: false,
      cpu: [{ cores: 1 }],
      memory: [{ dedicated: memory }],
    },
  },
})

const graph = (template: object = vmTemplate()) => ({
  metadata: { name: 'poolednode' },
  spec: {
    schema: {
      apiVersion: 'v1alpha1',
      kind: 'PooledNode',
      spec: { host: 'string | required=true', memory: 'integer | default=512' },
      status: { machine: cel('vm.metadata.name'), missing: cel('vm.status.atProvider.id') },
    },
    resources: [
      { id: 'vm', template },
      {
        id: 'pool',
        template: {
          apiVersion: 'croft.dev/v1alpha1',
          kind: 'ProxmoxPool',
          metadata: { name: `${cel('schema.metadata.name')}-pool` },
          spec: { connection: 'default' },
        },
      },
    ],
  },
})

async function groundWithGraphs(): Promise<Ground> {
  const ground = await createGround()
  await define(ground, 'kro.run', 'resourcegraphdefinitions', 'ResourceGraphDefinition')
  return ground
}

const names = (ground: Ground) => [...ground.datacentre.world.guests.values()].map(({ config }) => config.get('name'))
const messageOf = (object: Foreign | undefined, type: string) =>
  String(recordsOf(at(object, 'status', 'conditions')).find((one) => one.type === type)?.message)
const instance = (name = 'agent-1', spec: object = { host: 'fun-bedbug' }) => ({ metadata: { name }, spec })

test('a graph of kro in the cluster defines its kind, and an instance becomes objects that are owned by it', async () => {
  const ground = await groundWithGraphs()
  await ground.call('POST', GRAPHS, graph())
  const operator = await ground.start({ ownApis: true })
  await ground.pass(30_000)
  const definition = await ground.get(`${GRAPHS}/poolednode`)
  assert.equal(conditionOf(definition, 'Ready'), 'True Ready', JSON.stringify(definition?.status))
  assert.equal(at(definition, 'status', 'state'), 'Active')
  assert.deepEqual(at(definition, 'status', 'topologicalOrder'), ['pool', 'vm'])

  await ground.call('POST', NODES, instance())
  await ground.pass(240_000)
  assert.deepEqual(operator.warnings, [])
  const pool = await ground.get(`${POOLS}/agent-1-pool`)
  const vm = await ground.get(`${VMS}/agent-1`)
  const live = await ground.get(`${NODES}/agent-1`)
  assert.equal(conditionOf(vm, 'Ready'), 'True Available', JSON.stringify(vm))
  assert.equal(conditionOf(live, 'Ready'), 'True Available', JSON.stringify(live))
  assert.equal(conditionOf(live, 'GraphResolved'), 'True Expanded')
  assert.equal(at(live, 'status', 'state'), 'ACTIVE')
  assert.equal(at(live, 'status', 'machine'), 'agent-1')
  assert.equal(at(vm, 'metadata', 'annotations', 'example.org/for'), at(live, 'metadata', 'uid'))
  assert.equal(at(live, 'status', 'missing'), undefined)
  assert.deepEqual(recordsOf(at(pool, 'metadata', 'ownerReferences')), [
    {
      apiVersion: 'kro.run/v1alpha1',
      kind: 'PooledNode',
      name: 'agent-1',
      uid: at(live, 'metadata', 'uid'),
      controller: true,
    },
  ])
  assert.equal(
    at(vm, 'metadata', 'ownerReferences'),
    undefined,
    'what has no namespace cannot be owned by what has one',
  )
  assert.ok(names(ground).includes('agent-1'))

  ground.api.calls.length = 0
  await ground.pass(300_000)
  assert.deepEqual(
    ground.api.calls.filter((call) => !call.startsWith('GET ') && !call.includes('/leases/')),
    [],
    'nothing happens: nothing is written',
  )

  await ground.call('PATCH', `${NODES}/agent-1`, { spec: { memory: 1024 } })
  await ground.pass(120_000)
  const changed = await ground.get(`${VMS}/agent-1`)
  assert.deepEqual(at(changed, 'spec', 'forProvider', 'memory'), [{ dedicated: 1024 }])

  await ground.call('DELETE', `${NODES}/agent-1`)
  await ground.pass(300_000)
  assert.equal(await ground.get(`${NODES}/agent-1`), undefined)
  assert.equal(await ground.get(`${VMS}/agent-1`), undefined)
  assert.equal(await ground.get(`${POOLS}/agent-1-pool`), undefined)
  assert.equal(names(ground).includes('agent-1'), false)
  const gone = ground.datacentre.writes.filter(({ method }) => method === 'DELETE').map(({ path }) => path)
  assert.match(gone[0] ?? '', /\/qemu\//, 'what comes after others goes before them')
  await operator.stop()
})

test('[F-09] a graph that is deleted while instances live is kept, says which, and takes no machine along', async () => {
  const ground = await groundWithGraphs()
  await ground.call('POST', GRAPHS, graph())
  const operator = await ground.start({ ownApis: true })
  await ground.pass(30_000)
  await ground.call('POST', NODES, instance())
  await ground.pass(240_000)
  await ground.call('DELETE', `${GRAPHS}/poolednode`)
  await ground.pass(120_000)
  const held = await ground.get(`${GRAPHS}/poolednode`)
  assert.equal(conditionOf(held, 'Ready'), 'False DeletionHeld')
  assert.match(messageOf(held, 'Ready'), /PooledNode\/agent-1; delete them first/)
  assert.ok(names(ground).includes('agent-1'))
  await ground.call('DELETE', `${NODES}/agent-1`)
  await ground.pass(300_000)
  assert.equal(await ground.get(`${GRAPHS}/poolednode`), undefined)
  assert.equal(names(ground).includes('agent-1'), false)
  await operator.stop()
})

test('[F-09] neither a graph removed by force, nor a lost instance, nor a deleted kind takes a machine along', async () => {
  const ground = await groundWithGraphs()
  await ground.call('POST', GRAPHS, graph())
  const operator = await ground.start({ ownApis: true })
  await ground.pass(30_000)
  for (const name of ['agent-1', 'agent-2']) await ground.call('POST', NODES, instance(name))
  await ground.pass(300_000)
  const lost = async (path: string) => {
    await ground.call('PATCH', path, { metadata: { finalizers: null } })
    await ground.call('DELETE', path)
  }
  await lost(`${NODES}/agent-2`)
  // As the server's garbage collector does.
  await ground.call('DELETE', `${POOLS}/agent-2-pool`)
  await ground.call('DELETE', `${VMS}/agent-2`)
  await ground.pass(120_000)
  assert.equal(conditionOf(await ground.get(`${VMS}/agent-2`), 'Synced'), 'False DeletionHeld')
  await ground.call('DELETE', `${DEFINITIONS}/poolednodes.kro.run`)
  await ground.pass(120_000)
  assert.equal(conditionOf(await ground.get(`${NODES}/agent-1`), 'Synced'), 'False DeletionHeld')
  await lost(`${GRAPHS}/poolednode`)
  await ground.pass(300_000)
  assert.ok(names(ground).includes('agent-1') && names(ground).includes('agent-2'))
  assert.deepEqual(
    ground.datacentre.writes.filter(({ method }) => method === 'DELETE'),
    [],
  )
  await operator.stop()
})

test('what is wrong is a condition with the expression and its path, before anything is made', async () => {
  const ground = await groundWithGraphs()
  await ground.call('POST', GRAPHS, graph(vmTemplate(cel('schema.spec.memroy'))))
  const operator = await ground.start({ ownApis: true })
  await ground.pass(30_000)
  const wrong = await ground.get(`${GRAPHS}/poolednode`)
  assert.equal(conditionOf(wrong, 'GraphAccepted'), 'False InvalidResourceGraph')
  assert.equal(at(wrong, 'status', 'state'), 'Inactive')
  assert.equal(
    messageOf(wrong, 'Ready'),
    'spec.resources[0].template.spec.forProvider.memory[0].dedicated: schema.spec.memroy: schema.spec has no field memroy; did you mean memory?',
  )
  await ground.call('PATCH', `${GRAPHS}/poolednode`, { spec: graph().spec })
  await ground.pass(60_000)
  assert.equal(conditionOf(await ground.get(`${GRAPHS}/poolednode`), 'Ready'), 'True Ready')
  await ground.call('POST', NODES, instance('agent-1', { host: 'fun-bedbug', memory: 1 }))
  await ground.call('POST', VMS, { metadata: { name: 'taken' }, spec: { managementPolicies: ['Observe'] } })
  await ground.call('POST', NODES, instance('taken'))
  await ground.pass(60_000)
  const refused = await ground.get(`${NODES}/agent-1`)
  assert.equal(conditionOf(refused, 'Synced'), 'False Refused', JSON.stringify(refused))
  assert.match(
    messageOf(refused, 'Synced'),
    /^ResourceGraphDefinition\/poolednode: spec\.resources\[0\]\.template\.spec\.forProvider\.memory/,
  )
  const taken = await ground.get(`${NODES}/taken`)
  assert.equal(conditionOf(taken, 'Synced'), 'False Conflict')
  assert.match(messageOf(taken, 'Synced'), /EnvironmentVM\/taken is there already/)
  assert.deepEqual(recordsOf((await ground.get(POOLS))?.items), [], 'nothing was made for either')
  await operator.stop()
})

test('an object that the server does not take is said on the instance with the words of the server, until it takes it', async () => {
  const ground = await groundWithGraphs()
  await ground.call('POST', GRAPHS, graph())
  const base = ground.api.wire()
  let strict = true
  const wire: Wire = {
    ...base,
    async send(request, signal) {
      if (!strict || request.method !== 'PATCH' || !request.path.startsWith(POOLS)) return base.send(request, signal)
      const message = 'ProxmoxPool.croft.dev "agent-1-pool" is invalid: spec.comment: Invalid value: too long'
      const body = { kind: 'Status', status: 'Failure', reason: 'Invalid', message, code: 422 }
      return { status: 422, reason: 'Unprocessable Entity', headers: {}, body: JSON.stringify(body) }
    },
  }
  const operator = await ground.start({ ownApis: true, wire })
  await ground.pass(30_000)
  await ground.call('POST', NODES, instance('agent-1'))
  await ground.pass(60_000)
  const refused = await ground.get(`${NODES}/agent-1`)
  assert.equal(conditionOf(refused, 'Synced'), 'False Refused', JSON.stringify(refused))
  assert.match(messageOf(refused, 'Synced'), /spec\.comment: Invalid value: too long/)
  ground.api.calls.length = 0
  await ground.pass(120_000)
  assert.deepEqual(
    ground.api.calls.filter((call) => call.startsWith('PATCH ') && call.includes('/status')),
    [],
    'the same again is not written again',
  )
  assert.equal(operator.warnings.length, 1, operator.warnings.join('\n'))
  strict = false
  await ground.pass(240_000)
  assert.equal(conditionOf(await ground.get(`${NODES}/agent-1`), 'Ready'), 'True Available')
  assert.equal(conditionOf(await ground.get(`${NODES}/agent-1`), 'Synced')?.split(' ')[0], 'True')
  await operator.stop()
})

const COMPOSITES = '/apis/lab.example.org/v1alpha1/xnodes'

/** Sets up the state that Crossplane leaves: definition and composition, and the kind that it made. */
async function groundWithComposition(): Promise<Ground> {
  const ground = await createGround()
  const group = 'apiextensions.crossplane.io'
  await define(ground, group, 'compositeresourcedefinitions', 'CompositeResourceDefinition', 'Cluster', 'v1')
  await define(ground, group, 'compositions', 'Composition', 'Cluster', 'v1')
  await define(ground, 'lab.example.org', 'xnodes', 'XNode')
  const properties = { host: { type: 'string' }, memory: { type: 'integer' } }
  const spec = { type: 'object', properties, required: ['host', 'memory'] }
  await ground.call('POST', `/apis/${group}/v1/compositeresourcedefinitions`, {
    metadata: { name: 'xnodes.lab.example.org' },
    spec: {
      group: 'lab.example.org',
      names: { kind: 'XNode', plural: 'xnodes' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          referenceable: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  })
  const { apiVersion, kind, spec: vm } = vmTemplate(512)
  const patch = (fromFieldPath: string, toFieldPath: string) => ({
    type: 'FromCompositeFieldPath',
    fromFieldPath,
    toFieldPath,
  })
  const { poolId: _pool, ...forProvider } = vm.forProvider
  await ground.call('POST', `/apis/${group}/v1/compositions`, {
    metadata: { name: 'node' },
    spec: {
      compositeTypeRef: { apiVersion: 'lab.example.org/v1alpha1', kind: 'XNode' },
      mode: 'Resources',
      resources: [
        {
          name: 'vm',
          base: {
            apiVersion,
            kind,
            spec: { ...vm, forProvider: { ...forProvider, nodeName: 'pve', name: 'unnamed' } },
          },
          patches: [
            patch('spec.host', 'spec.forProvider.nodeName'),
            patch('spec.memory', 'spec.forProvider.memory[0].dedicated'),
            patch('metadata.name', 'spec.forProvider.name'),
          ],
        },
      ],
    },
  })
  return ground
}

test('what Crossplane made for a composite keeps the name that it got by chance, changes with it and goes with it', async () => {
  const ground = await groundWithComposition()
  const composite = await ground.call('POST', COMPOSITES, instance('agent-1', { host: 'fun-bedbug', memory: 512 }))
  const owner = {
    apiVersion: 'lab.example.org/v1alpha1',
    kind: 'XNode',
    name: 'agent-1',
    uid: at(composite, 'metadata', 'uid'),
    controller: true,
  }
  const { spec } = vmTemplate(512)
  const { poolId: _pool, ...forProvider } = spec.forProvider
  await ground.call('POST', VMS, {
    metadata: {
      name: 'agent-1-x7k2p',
      ownerReferences: [owner],
      annotations: { 'crossplane.io/composition-resource-name': 'vm' },
    },
    spec: { ...spec, forProvider: { ...forProvider, nodeName: 'fun-bedbug', name: 'agent-1' } },
  })
  const operator = await ground.start({ ownApis: true })
  await ground.pass(240_000)
  const made = async () => recordsOf((await ground.get(VMS))?.items).map((one) => at(one, 'metadata', 'name'))
  assert.deepEqual(operator.warnings, [])
  assert.deepEqual(await made(), ['agent-1-x7k2p'])
  const live = await ground.get(`${COMPOSITES}/agent-1`)
  assert.equal(conditionOf(live, 'Ready'), 'True Available', JSON.stringify(live))
  assert.equal(names(ground).filter((name) => name === 'agent-1').length, 1)
  const kind = await ground.get(`${DEFINITIONS}/xnodes.lab.example.org`)
  assert.equal(at(kind, 'metadata', 'labels'), undefined, 'the kind that Crossplane made stays as it is')

  await ground.call('PATCH', `${COMPOSITES}/agent-1`, { spec: { memory: 1024 } })
  await ground.pass(120_000)
  const changed = await ground.get(`${VMS}/agent-1-x7k2p`)
  assert.deepEqual(at(changed, 'spec', 'forProvider', 'memory'), [{ dedicated: 1024 }])

  await ground.call('DELETE', `${COMPOSITES}/agent-1`)
  await ground.pass(300_000)
  assert.deepEqual(await made(), [])
  assert.equal(await ground.get(`${COMPOSITES}/agent-1`), undefined)
  assert.equal(names(ground).includes('agent-1'), false)
  await operator.stop()
})

test('an EnvironmentConfig that changes, changes what was made with its values; without it everything stays', async () => {
  const ground = await groundWithComposition()
  const group = '/apis/apiextensions.crossplane.io'
  const configs = `${group}/v1beta1/environmentconfigs`
  await define(ground, 'apiextensions.crossplane.io', 'environmentconfigs', 'EnvironmentConfig', 'Cluster', 'v1beta1')
  await ground.call('POST', configs, { metadata: { name: 'lab' }, data: { memory: 768 } })
  const composition = await ground.get(`${group}/v1/compositions/node`)
  const [resource] = recordsOf(at(composition, 'spec', 'resources'))
  const patches = recordsOf(resource?.patches).filter(({ fromFieldPath }) => fromFieldPath !== 'spec.memory')
  const fromLab = {
    type: 'FromEnvironmentFieldPath',
    fromFieldPath: 'memory',
    toFieldPath: 'spec.forProvider.memory[0].dedicated',
  }
  const input = { apiVersion: 'environmentconfigs.fn.crossplane.io/v1beta1', kind: 'Input' }
  const resources = { apiVersion: 'pt.fn.crossplane.io/v1beta1', kind: 'Resources' }
  await ground.call('PATCH', `${group}/v1/compositions/node`, {
    spec: {
      mode: 'Pipeline',
      resources: null,
      pipeline: [
        {
          step: 'environment',
          functionRef: { name: 'function-environment-configs' },
          input: { ...input, spec: { environmentConfigs: [{ ref: { name: 'lab' } }] } },
        },
        {
          step: 'resources',
          functionRef: { name: 'function-patch-and-transform' },
          input: { ...resources, resources: [{ ...resource, patches: [...patches, fromLab] }] },
        },
      ],
    },
  })
  await ground.call('POST', COMPOSITES, instance('agent-1', { host: 'fun-bedbug', memory: 1 }))
  const operator = await ground.start({ ownApis: true })
  await ground.pass(240_000)
  const memory = async () =>
    recordsOf((await ground.get(VMS))?.items).map((one) => at(one, 'spec', 'forProvider', 'memory'))
  assert.deepEqual(await memory(), [[{ dedicated: 768 }]], operator.warnings.join('\n'))

  await ground.call('PATCH', `${configs}/lab`, { data: { memory: 1024 } })
  await ground.pass(120_000)
  assert.deepEqual(await memory(), [[{ dedicated: 1024 }]])

  await ground.call('DELETE', `${configs}/lab`)
  await ground.pass(240_000)
  assert.deepEqual(await memory(), [[{ dedicated: 1024 }]])
  assert.match(messageOf(await ground.get(`${COMPOSITES}/agent-1`), 'Synced'), /there is no EnvironmentConfig lab/)
  await operator.stop()
})

test('a replica that stood still while another took its place composes nothing when it wakes', async () => {
  const ground = await groundWithGraphs()
  await ground.call('POST', GRAPHS, graph())
  const one = await ground.start({ ownApis: true, name: 'one' })
  await ground.pass(30_000)
  await ground.call('POST', NODES, instance())
  await ground.pass(240_000)
  // It has seen the change and is about to write.
  await ground.call('PATCH', `${NODES}/agent-1`, { spec: { memory: 1024 } })
  await ground.pass(100)
  one.pause()
  const two = await ground.start({ ownApis: true, name: 'two' })
  await ground.pass(60_000)
  await ground.call('DELETE', `${NODES}/agent-1`)
  await ground.pass(300_000)
  assert.equal(await ground.get(`${VMS}/agent-1`), undefined)
  one.wake()
  await ground.pass(120_000)
  assert.equal(await ground.get(`${VMS}/agent-1`), undefined)
  assert.equal(await ground.get(`${POOLS}/agent-1-pool`), undefined)
  assert.equal(names(ground).includes('agent-1'), false)
  await one.stop()
  await two.stop()
})
