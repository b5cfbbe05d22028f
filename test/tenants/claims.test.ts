import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkRevision } from '../../src/controller/sources/link-revision.ts'
import { mergeRevisions } from '../../src/controller/sources/merge.ts'
import { type Grant, NOTHING_GRANTED } from '../../src/model/grant.ts'
import { GRANTABLE } from '../../src/plan/grants.ts'
import { readTexts } from '../../src/source/testing/fixture.ts'

/* A tenant who claims what the administrator has is refused, and the administrator notices nothing. */

const all = ['*']
const grant: Grant = {
  ...NOTHING_GRANTED,
  source: 'lab',
  kinds: GRANTABLE,
  names: all,
  connections: all,
  hosts: all,
  storages: all,
  networks: all,
  templates: all,
  vmids: { from: 100, to: 999 },
  hostAccess: true,
}

const head = (kind: string, name: string) => ({ apiVersion: 'croft.dev/v1alpha1', kind, metadata: { name } })
const shape = { cpu: { cores: 1 }, memory: '1Gi', disks: [{ size: '10Gi', image: 'noble', storage: 'fast' }] }
const machine = (name: string, more: object = {}) => ({
  ...head('Machine', name),
  spec: { host: 'cow', ...shape, networks: [{ network: 'lan', address: '10.0.4.1' }], ...more },
})
const cluster = (name: string, vip: string, more: object = {}) => ({
  ...head('Cluster', name),
  spec: {
    version: 'v1.34.3+k3s1',
    endpoint: { vip, kubeVip: { version: 'v1.0.3' } },
    network: 'lan',
    servers: [{ name: `${name}-s`, host: 'cow', address: `${vip}1`, ...shape, ...more }],
  },
})
const vm = (name: string, fields: object) => ({
  apiVersion: 'virtualenvironmentvm.crossplane.io/v1alpha1',
  kind: 'EnvironmentVM',
  metadata: { name },
  spec: { forProvider: { nodeName: 'cow', name, networkDevice: [{ bridge: 'vmbr0' }], ...fields } },
})
const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' } })
const addon = (name: string, more: object = {}) => ({
  ...head('Addon', name),
  spec: { cluster: 'prod', namespace: 'shop', objects: [map('shared')], ...more },
})

const MAC = '52:54:00:12:34:56'
const ADMIN = [
  { ...head('Proxmox', 'default'), spec: { endpoint: 'https://pve.example:8006', token: { env: 'TOKEN' } } },
  {
    ...head('Host', 'cow'),
    spec: { bindings: { networks: { lan: { bridge: 'vmbr0' } }, storages: { fast: 'local' } } },
  },
  { ...head('AddressPool', 'nodes'), spec: { cidr: '10.0.0.0/8', ranges: [{ from: '10.9.0.1', to: '10.9.0.9' }] } },
  { ...head('Network', 'lan'), spec: { addressPool: 'nodes', gateway: '10.0.0.1' } },
  {
    ...head('Image', 'noble'),
    spec: { url: 'https://images.example/noble.qcow2', storage: 'fast', checksum: `sha256:${'a'.repeat(64)}` },
  },
  { ...head('Device', 'gpu'), spec: { host: 'cow', pci: { id: '10de:1234', address: '0000:01:00.0' } } },
  machine('db', { networks: [{ network: 'lan', address: '10.0.4.2', mac: MAC }], devices: ['gpu'] }),
  vm('app', { vmId: 200 }),
  cluster('prod', '10.0.5.1'),
  addon('web'),
]

const CLAIMS: Readonly<Record<string, readonly object[]>> = {
  'its name': [machine('db'), vm('app', {}), addon('web'), cluster('prod', '10.0.7.1')],
  'its id': [vm('lab-a', { vmId: 200 })],
  'its address': [machine('lab-b', { networks: [{ network: 'lan', address: '10.0.4.2' }] })],
  'its MAC address': [machine('lab-c', { networks: [{ network: 'lan', address: '10.0.4.9', mac: MAC }] })],
  'its device': [machine('lab-d', { devices: ['gpu'] })],
  'its object': [addon('lab-e')],
  'its cluster address': [cluster('lab-f', '10.0.5.1')],
  'the address of its node': [machine('lab-g', { networks: [{ network: 'lan', address: '10.0.5.11' }] })],
  'its machine as a node': [
    cluster('lab-h', '10.0.6.1', {
      host: undefined,
      address: undefined,
      cpu: undefined,
      memory: undefined,
      disks: undefined,
      machine: 'Machine/db',
    }),
  ],
  'all addresses of its pool': Array.from({ length: 12 }, (_, at) =>
    machine(`lab-i${at}`, { networks: [{ network: 'lan', address: 'pool' }] }),
  ),
  'its DNS name': [vm('lab-j', { name: 'app' })],
  'its namespace': [addon('lab-k', { objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })],
}

function estateOf(lab: readonly object[]) {
  const read = (documents: readonly object[]) =>
    readTexts({ 'a.yaml': documents.map((one) => JSON.stringify(one)).join('\n---\n') })
  return linkRevision(
    mergeRevisions([
      { source: 'lab', revision: read(lab), grant },
      { source: 'admin', revision: read(ADMIN) },
    ]),
  )
}

const errorsOf = ({ problems }: ReturnType<typeof estateOf>, source: string) =>
  problems
    .filter(({ severity, origin }) => severity === 'error' && origin.file.startsWith(`${source}:`))
    .map(({ message }) => message)
const ofAdmin = (estate: ReturnType<typeof estateOf>) => ({
  errors: errorsOf(estate, 'admin'),
  resources: estate.resources
    .filter(({ origin }) => origin.file.startsWith('admin:'))
    .map(({ key, desired }) => [key, desired]),
  clusters: estate.clusters?.filter(({ spec }) => spec.name === 'prod').map(({ spec }) => spec),
})

for (const [what, lab] of Object.entries(CLAIMS))
  test(`[S-39] a tenant who claims of the administrator ${what} takes nothing`, () => {
    assert.deepEqual(ofAdmin(estateOf(lab)), ofAdmin(estateOf([])))
  })

test('what the administrator declares here is accepted', () => {
  const alone = estateOf([])
  assert.deepEqual(errorsOf(alone, 'admin'), [])
  assert.ok(alone.resources.length >= 6)
})
