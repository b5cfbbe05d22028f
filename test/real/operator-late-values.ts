import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { at, type Foreign, recordsOf } from '../../src/kubernetes/objects.ts'
import { established, type OperatorGround, until, VMS } from './operator-ground.ts'

/* Values that only the world can say, and own APIs of a namespace with a grant, on the real server and with the rights of the chart. The
   kinds of kro's and Crossplane's definitions are there. */

const cel = (expression: string) => `\${${expression}}`
const graphOf = (kind: string, resources: readonly object[]) => ({
  apiVersion: 'kro.run/v1alpha1',
  kind: 'ResourceGraphDefinition',
  metadata: { name: kind.toLowerCase() },
  spec: { schema: { apiVersion: 'v1alpha1', kind, spec: {} }, resources },
})
const platform = {
  id: 'platform',
  externalRef: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'platform' } },
}

const LATE = graphOf('LateNode', [
  platform,
  {
    id: 'vm',
    template: {
      apiVersion: 'virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1',
      kind: 'EnvironmentVM',
      metadata: { name: cel('schema.metadata.name') },
      spec: {
        deletionPolicy: 'Delete',
        providerConfigRef: { name: 'default' },
        forProvider: {
          started: false,
          nodeName: 'fun-bedbug',
          name: cel('schema.metadata.name'),
          description: `${cel('platform.data.site')} in ${cel('pool.status.externalId')}`,
          memory: [{ dedicated: 512 }],
        },
      },
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
])

const machine = (name: string, memory: string) => ({
  apiVersion: 'croft.dev/v1alpha1',
  kind: 'Machine',
  metadata: { name },
  spec: {
    host: 'fun-bedbug',
    cpu: { cores: 1 },
    memory,
    disks: [{ size: '5Gi', storage: 'fast' }],
    networks: [{ network: 'lan', address: 'dhcp' }],
    power: 'off',
  },
})

const TEAM_GRAPH = graphOf('TeamNode', [
  platform,
  { id: 'machine', template: machine(cel('schema.metadata.name'), cel('platform.data.memory')) },
])

const TEAM_COMPOSITE = [
  {
    apiVersion: 'apiextensions.crossplane.io/v1',
    kind: 'CompositeResourceDefinition',
    metadata: { name: 'xteamvms.team.example.org' },
    spec: {
      group: 'team.example.org',
      names: { kind: 'XTeamVm', plural: 'xteamvms' },
      claimNames: { kind: 'TeamVm', plural: 'teamvms' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          referenceable: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { memory: { type: 'string' } } } },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiextensions.crossplane.io/v1',
    kind: 'Composition',
    metadata: { name: 'team-vm' },
    spec: {
      compositeTypeRef: { apiVersion: 'team.example.org/v1alpha1', kind: 'XTeamVm' },
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
                name: 'machine',
                base: machine('unnamed', '256Mi'),
                patches: [
                  { type: 'FromCompositeFieldPath', fromFieldPath: 'metadata.name', toFieldPath: 'metadata.name' },
                  // The composite behind a claim has no namespace.
                  {
                    type: 'FromCompositeFieldPath',
                    fromFieldPath: 'metadata.labels[crossplane.io/claim-namespace]',
                    toFieldPath: 'metadata.namespace',
                  },
                  { type: 'FromCompositeFieldPath', fromFieldPath: 'spec.memory', toFieldPath: 'spec.memory' },
                ],
              },
            ],
          },
        },
      ],
    },
  },
]

const KRO = '/apis/kro.run/v1alpha1'
const MACHINES = '/apis/croft.dev/v1alpha1/namespaces/team-a/machines'

/** `grants`: the file for --grants, where there was a chart to make it. */
export function lateValuesOnTheServer(
  given: () => { readonly ground: OperatorGround; readonly grants?: string },
): void {
  const apply = (...objects: readonly object[]) => {
    const { ground } = given()
    const file = join(ground.folder, 'late.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    ground.kubectl('apply', '-f', file)
  }
  const told = async (path: string) =>
    recordsOf(at(await given().ground.get(path), 'status', 'conditions'))
      .map((one) => String(one.message))
      .join('\n')
  const ready = async (path: string) =>
    recordsOf(at(await given().ground.get(path), 'status', 'conditions')).some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    )
  const guest = async (name: string) => [...(await given().ground.guests()).values()].find((one) => one.name === name)
  const instance = (apiVersion: string, kind: string, name: string, namespace: string, spec: Foreign = {}) => ({
    apiVersion,
    kind,
    metadata: { name, namespace },
    spec,
  })

  test('a value that only the world can say is waited for by its name, taken when it is there, and followed', async () => {
    const { ground } = given()
    apply(LATE)
    const replica = ground.operator('late', '--own-apis')
    await until('the kind is served', async () => (await ground.get(`${KRO}/latenodes`)) !== undefined, replica)
    apply(instance('kro.run/v1alpha1', 'LateNode', 'late-1', 'croft-system'))
    const path = `${KRO}/namespaces/croft-system/latenodes/late-1`
    await until(
      'it says what it waits for',
      async () => /platform\.data\.site\} is known after ConfigMap\/croft-system\/platform/.test(await told(path)),
      replica,
    )
    ground.kubectl('wait', '--for=condition=Ready', 'proxmoxpool/late-1-pool', '-n', 'croft-system', '--timeout=200s')
    assert.equal(await ground.get(`${VMS}/late-1`), undefined, 'nothing is made of half a document')

    ground.kubectl('create', 'configmap', 'platform', '-n', 'croft-system', '--from-literal=site=attic')
    ground.kubectl('wait', '--for=condition=Ready', 'latenode/late-1', '-n', 'croft-system', '--timeout=200s')
    assert.match((await guest('late-1'))?.description ?? '', /attic in late-1-pool/)
    const site = (name: string) =>
      ground.kubectl('patch', 'configmap', 'platform', '-n', 'croft-system', '-p', `{"data":{"site":"${name}"}}`)
    site('cellar')
    await until('it is followed', async () => /cellar in/.test((await guest('late-1'))?.description ?? ''), replica)

    const start = (await ground.writes()).length
    ground.kubectl('delete', 'configmap', 'platform', '-n', 'croft-system')
    await until('it waits again', async () => /platform\.data\.site\} is known after/.test(await told(path)), replica)
    assert.deepEqual((await ground.writes()).slice(start), [], 'a value that is gone takes nothing away')
    ground.kubectl('delete', 'latenode', 'late-1', '-n', 'croft-system', '--timeout=200s')
    assert.equal(await guest('late-1'), undefined)
    assert.equal(await ground.get(`${VMS}/late-1`), undefined)
    ground.kubectl('delete', 'resourcegraphdefinition', 'latenode', '--timeout=200s')
    assert.doesNotMatch(replica.output(), /Warning:/, replica.output())
    assert.equal(await replica.end(), 0, replica.output())
  })

  test('[S-59] instances of a graph and claims of a composition in a granted namespace make objects there, within the grant', async (t) => {
    const { ground, grants } = given()
    if (grants === undefined) return t.diagnostic('there is no helm here')
    apply(TEAM_GRAPH, ...TEAM_COMPOSITE)
    const replica = ground.operator('team', '--own-apis', '--grants', grants)
    await until('the kind is served', async () => (await ground.get(`${KRO}/teamnodes`)) !== undefined, replica)
    await established(ground.client, ['teamvms.team.example.org'])
    ground.kubectl('create', 'configmap', 'platform', '-n', 'croft-system', '--from-literal=memory=1Gi')
    apply(
      instance('kro.run/v1alpha1', 'TeamNode', 'team-a-node', 'team-a'),
      instance('kro.run/v1alpha1', 'TeamNode', 'stolen', 'team-a'),
      instance('kro.run/v1alpha1', 'TeamNode', 'team-b-node', 'default'),
      instance('team.example.org/v1alpha1', 'TeamVm', 'team-a-claim', 'team-a', { memory: '384Mi' }),
    )
    const node = `${KRO}/namespaces/team-a/teamnodes/team-a-node`
    const claim = '/apis/team.example.org/v1alpha1/namespaces/team-a/teamvms/team-a-claim'
    // The ConfigMap of that name in croft's own namespace is not the one that is meant.
    await until(
      'it says what it waits for',
      async () => /platform\.data\.memory\} is known after ConfigMap\/team-a\/platform/.test(await told(node)),
      replica,
    )
    ground.kubectl('create', 'configmap', 'platform', '-n', 'team-a', '--from-literal=memory=512Mi')
    await until('the instance is ready', () => ready(node), replica)
    await until('the claim is ready', () => ready(claim), replica)
    assert.equal((await guest('team-a-node'))?.memory, '512')
    assert.equal((await guest('team-a-claim'))?.memory, '384')
    const made = await ground.get(`${MACHINES}/team-a-node`)
    assert.deepEqual(
      recordsOf(at(made, 'metadata', 'ownerReferences')).map(({ uid }) => uid),
      [at(await ground.get(node), 'metadata', 'uid')],
    )
    const refused = `${KRO}/namespaces/team-a/teamnodes/stolen`
    await until(
      'the other name is refused',
      async () => /the name stolen is not granted to the namespace team-a/.test(await told(refused)),
      replica,
    )
    assert.equal(await ground.get(`${MACHINES}/stolen`), undefined, 'nothing is made that would be refused')
    const elsewhere = await ground.get(`${KRO}/namespaces/default/teamnodes/team-b-node`)
    assert.equal(elsewhere?.status, undefined, 'a namespace without a grant is not read')

    ground.kubectl('patch', 'configmap', 'platform', '-n', 'team-a', '-p', '{"data":{"memory":"768Mi"}}')
    await until('it is followed', async () => (await guest('team-a-node'))?.memory === '768', replica)
    ground.kubectl('delete', 'teamnode', 'team-a-node', 'stolen', '-n', 'team-a', '--timeout=200s')
    ground.kubectl('delete', 'teamvm', 'team-a-claim', '-n', 'team-a', '--timeout=200s')
    ground.kubectl('delete', 'teamnode', 'team-b-node', '-n', 'default', '--timeout=200s')
    assert.equal(await guest('team-a-node'), undefined)
    assert.equal(await guest('team-a-claim'), undefined)
    assert.doesNotMatch(replica.output(), /Warning:/, replica.output())
    assert.equal(await replica.end(), 0, replica.output())
  })
}
