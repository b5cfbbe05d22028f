import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { at, type Foreign, recordsOf } from '../../src/kubernetes/objects.ts'
import { established, type OperatorGround, until, VMS } from './operator-ground.ts'

/* Graphs of kro and compositions of Crossplane on the real server, with neither program: croft defines the kinds, and real kubectl
   makes, watches, changes and deletes instances. */

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** A kind of definitions, as strict as the real ones where croft writes: what a schema does not name, the server takes away. */
function definitionKind(group: string, version: string, kind: string, plural: string, status: Foreign): Foreign {
  const condition = {
    type: 'object',
    required: ['type', 'status'],
    properties: texts('type', 'status', 'reason', 'message'),
  }
  const time = { lastTransitionTime: { type: 'string', format: 'date-time' } }
  const conditions = { type: 'array', items: { ...condition, properties: { ...condition.properties, ...time } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: free, status: { type: 'object', properties: { conditions, ...status } } },
            },
          },
        },
      ],
    },
  }
}

function texts(...names: readonly string[]): Readonly<Record<string, { readonly type: 'string' }>> {
  return Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
}

const list = { type: 'array', items: { type: 'string' } }
const KINDS = [
  definitionKind('kro.run', 'v1alpha1', 'ResourceGraphDefinition', 'resourcegraphdefinitions', {
    ...texts('state'),
    topologicalOrder: list,
  }),
  definitionKind(
    'apiextensions.crossplane.io',
    'v1',
    'CompositeResourceDefinition',
    'compositeresourcedefinitions',
    {},
  ),
  definitionKind('apiextensions.crossplane.io', 'v1', 'Composition', 'compositions', {}),
]

const cel = (expression: string) => `\${${expression}}`
const vmBase = (forProvider: Foreign) => ({
  apiVersion: 'virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1',
  kind: 'EnvironmentVM',
  spec: {
    deletionPolicy: 'Delete',
    providerConfigRef: { name: 'default' },
    forProvider: { started: false, ...forProvider },
  },
})

const GRAPH = {
  apiVersion: 'kro.run/v1alpha1',
  kind: 'ResourceGraphDefinition',
  metadata: { name: 'poolednode' },
  spec: {
    schema: {
      apiVersion: 'v1alpha1',
      kind: 'PooledNode',
      spec: {
        host: 'string | required=true description="Host that the machine is made on." enum="fun-bedbug,still-fawn"',
        memory: 'integer | default=512 minimum=128 maximum=8192',
        tags: '[]string | maxItems=5',
        labels: 'map[string]string',
      },
      status: { machine: cel('vm.metadata.name'), pool: cel('pool.metadata.name') },
    },
    resources: [
      {
        id: 'vm',
        template: {
          ...vmBase({
            nodeName: cel('schema.spec.host'),
            name: cel('schema.metadata.name'),
            poolId: cel('pool.metadata.name'),
            memory: [{ dedicated: cel('schema.spec.memory') }],
          }),
          metadata: { name: cel('schema.metadata.name') },
        },
      },
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
}

const patched = (fromFieldPath: string, toFieldPath: string) => ({
  type: 'FromCompositeFieldPath',
  fromFieldPath,
  toFieldPath,
})
const COMPOSITE = [
  {
    apiVersion: 'apiextensions.crossplane.io/v1',
    kind: 'CompositeResourceDefinition',
    metadata: { name: 'xnodes.lab.example.org' },
    spec: {
      group: 'lab.example.org',
      names: { kind: 'XNode', plural: 'xnodes' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          referenceable: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  required: ['host', 'memory'],
                  properties: {
                    host: { type: 'string', pattern: '^[a-z-]+$' },
                    memory: { type: 'integer', minimum: 128 },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiextensions.crossplane.io/v1',
    kind: 'Composition',
    metadata: { name: 'node' },
    spec: {
      compositeTypeRef: { apiVersion: 'lab.example.org/v1alpha1', kind: 'XNode' },
      mode: 'Pipeline',
      pipeline: [
        {
          step: 'machine',
          functionRef: { name: 'function-patch-and-transform' },
          input: {
            apiVersion: 'pt.fn.crossplane.io/v1beta1',
            kind: 'Resources',
            resources: [
              {
                name: 'vm',
                base: vmBase({ nodeName: 'pve', name: 'unnamed', memory: [{ dedicated: 512 }] }),
                patches: [
                  patched('metadata.name', 'metadata.name'),
                  patched('metadata.name', 'spec.forProvider.name'),
                  patched('spec.host', 'spec.forProvider.nodeName'),
                  patched('spec.memory', 'spec.forProvider.memory[0].dedicated'),
                ],
              },
            ],
          },
        },
      ],
    },
  },
]

const pooled = (name: string, spec: Foreign = { host: 'fun-bedbug', tags: ['a'], labels: { zone: 'attic' } }) => ({
  apiVersion: 'kro.run/v1alpha1',
  kind: 'PooledNode',
  metadata: { name, namespace: 'croft-system' },
  spec,
})

export function ownApisOnTheServer(given: () => OperatorGround): void {
  const apply = (...objects: readonly object[]) => {
    const ground = given()
    const file = join(ground.folder, 'objects.yaml')
    writeFileSync(file, objects.map((one) => stringify(one)).join('---\n'))
    return ground.kubectl('apply', '-f', file)
  }
  const guestNames = async () => [...(await given().guests()).values()].map(({ name }) => name)
  const memoryOf = async (name: string) =>
    [...(await given().guests()).values()].find((guest) => guest.name === name)?.memory

  test("a graph and a composition define their kinds, and kubectl lives with their instances as with anybody's", async () => {
    const ground = given()
    apply(...KINDS)
    await established(
      ground.client,
      KINDS.map((one) => String(at(one, 'metadata', 'name'))),
    )
    apply(GRAPH, ...COMPOSITE)
    const replica = ground.operator('composing', '--own-apis')
    const ready = async (path: string) =>
      recordsOf(at(await ground.get(path), 'status', 'conditions')).some(
        (one) => /^(?:Ready|Established)$/.test(String(one.type)) && one.status === 'True',
      )
    await until(
      'the graph is served',
      () => ready('/apis/kro.run/v1alpha1/resourcegraphdefinitions/poolednode'),
      replica,
    )
    ground.kubectl('wait', '--for=condition=Ready', 'resourcegraphdefinition/poolednode', '--timeout=200s')
    const graph = await ground.get('/apis/kro.run/v1alpha1/resourcegraphdefinitions/poolednode')
    assert.deepEqual(
      [at(graph, 'status', 'state'), at(graph, 'status', 'topologicalOrder')],
      ['Active', ['pool', 'vm']],
    )
    await established(ground.client, ['poolednodes.kro.run', 'xnodes.lab.example.org'])

    for (const [what, spec] of [
      ['a missing field', {}],
      ['another host', { host: 'nowhere' }],
      ['too little memory', { host: 'fun-bedbug', memory: 1 }],
      ['a text in place of a number', { host: 'fun-bedbug', memory: 'much' }],
    ] as const) {
      const file = join(ground.folder, 'wrong.yaml')
      writeFileSync(file, stringify(pooled('wrong', spec)))
      const words = ['--kubeconfig', ground.api.kubeconfig, 'apply', '-f', file]
      assert.notEqual(spawnSync('kubectl', words).status, 0, `the server refuses ${what}`)
    }

    const start = (await ground.writes()).length
    apply(pooled('agent-1'))
    apply({
      apiVersion: 'lab.example.org/v1alpha1',
      kind: 'XNode',
      metadata: { name: 'agent-2' },
      spec: { host: 'still-fawn', memory: 256 },
    })
    await until(
      'both are made',
      async () => {
        const made = await guestNames()
        return made.includes('agent-1') && made.includes('agent-2')
      },
      replica,
    )
    ground.kubectl('wait', '--for=condition=Ready', 'poolednode/agent-1', '-n', 'croft-system', '--timeout=200s')
    ground.kubectl('wait', '--for=condition=Ready', 'xnode/agent-2', '--timeout=200s')
    assert.match(ground.kubectl('get', 'poolednodes', '-n', 'croft-system'), /agent-1 +True +True/)
    assert.match(ground.kubectl('get', 'xnodes'), /agent-2 +True +True/)
    assert.match(ground.kubectl('describe', 'poolednode', 'agent-1', '-n', 'croft-system'), /Machine: +agent-1/)
    const instance = await ground.get('/apis/kro.run/v1alpha1/namespaces/croft-system/poolednodes/agent-1')
    const pool = await ground.get('/apis/croft.dev/v1alpha1/namespaces/croft-system/proxmoxpools/agent-1-pool')
    const composite = await ground.get('/apis/lab.example.org/v1alpha1/xnodes/agent-2')
    const vm = await ground.get(`${VMS}/agent-2`)
    for (const [child, owner] of [
      [pool, instance],
      [vm, composite],
    ] as const)
      assert.deepEqual(
        recordsOf(at(child, 'metadata', 'ownerReferences')).map(({ uid, controller }) => [uid, controller]),
        [[at(owner, 'metadata', 'uid'), true]],
      )
    assert.equal(at(instance, 'spec', 'memory'), undefined, 'an instance stays as its author wrote it')

    ground.kubectl(
      'patch',
      'poolednode',
      'agent-1',
      '-n',
      'croft-system',
      '--type=merge',
      '-p',
      '{"spec":{"memory":1024}}',
    )
    ground.kubectl('patch', 'xnode', 'agent-2', '--type=merge', '-p', '{"spec":{"memory":384}}')
    await until(
      'the change is there',
      async () => (await memoryOf('agent-1')) === '1024' && (await memoryOf('agent-2')) === '384',
      replica,
    )

    ground.kubectl('delete', 'resourcegraphdefinition', 'poolednode', '--wait=false')
    await until(
      'the graph says what holds it',
      () => ground.kubectl('describe', 'resourcegraphdefinition', 'poolednode').includes('DeletionHeld'),
      replica,
    )
    ground.kubectl('delete', 'compositeresourcedefinition', 'xnodes.lab.example.org', '--wait=false')
    await until(
      'the definition says what holds it',
      () =>
        ground.kubectl('describe', 'compositeresourcedefinition', 'xnodes.lab.example.org').includes('DeletionHeld'),
      replica,
    )
    assert.ok((await guestNames()).includes('agent-1') && (await guestNames()).includes('agent-2'))

    ground.kubectl('delete', 'poolednode', 'agent-1', '-n', 'croft-system', '--timeout=200s')
    ground.kubectl('delete', 'xnode', 'agent-2', '--timeout=200s')
    const gone = (await ground.writes())
      .slice(start)
      .filter(({ method }) => method === 'DELETE')
      .map(({ path }) => path)
    const pools = gone.findIndex((path) => path.includes('/pools'))
    assert.ok(
      pools > 0 && gone.slice(0, pools).some((path) => path.includes('/qemu/')),
      `in reverse: ${gone.join(' ')}`,
    )
    assert.ok(!(await guestNames()).some((name) => name === 'agent-1' || name === 'agent-2'))
    await until(
      'the definitions are gone',
      async () =>
        (await ground.get('/apis/kro.run/v1alpha1/resourcegraphdefinitions/poolednode')) === undefined &&
        (await ground.get(
          '/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions/xnodes.lab.example.org',
        )) === undefined,
      replica,
    )
    assert.doesNotMatch(replica.output(), /Warning:/, replica.output())
    assert.equal(await replica.end(), 0, replica.output())
  })
}
