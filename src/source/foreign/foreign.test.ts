import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentVm } from '../../kinds/environment-vm.ts'
import type { Kind } from '../../kinds/kind.ts'
import { errorsOf, readText } from '../testing/fixture.ts'
import { printDrafts } from './draft.ts'
import { fitToKind } from './fit.ts'
import { crossplane } from './formats/crossplane.ts'
import { terraform } from './formats/terraform.ts'
import { createNames, type ForeignFile, type ForeignFormat, type ForeignReading } from './reading.ts'

function reading(format: ForeignFormat, ...files: readonly ForeignFile[]): ForeignReading {
  const read = format.read(files, {})
  assert.ok(!('problem' in read), 'problem' in read ? read.problem : '')
  return read
}
const stateOf = (state: unknown) => reading(terraform, { path: 'state.json', text: JSON.stringify(state) })

const EXPORT = `apiVersion: v1
kind: List
items:
- apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
  kind: EnvironmentVM
  metadata:
    annotations:
      crossplane.io/external-name: "108"
      crossplane.io/external-create-pending: "2026-01-01T00:00:00Z"
      kubectl.kubernetes.io/last-applied-configuration: '{"kind":"EnvironmentVM"}'
      example.org/owner: me
    creationTimestamp: "2026-01-01T00:00:00Z"
    finalizers: [finalizer.managedresource.crossplane.io]
    generation: 4
    labels:
      kustomize.toolkit.fluxcd.io/name: infra
      app: web
    managedFields: [{manager: kubectl, operation: Update}]
    name: web
    resourceVersion: "12345"
    uid: 7d3cf5a0-0000-0000-0000-000000000000
  spec:
    deletionPolicy: Orphan
    forProvider:
      nodeName: pve1
      cpu: [{cores: 4}]
    initProvider: {}
    managementPolicies: ['*']
    providerConfigRef: {name: default}
  status:
    atProvider: {id: "108"}
    conditions: [{type: Ready, status: "True"}]
- apiVersion: v1
  kind: Secret
  metadata: {name: token}
  data: {token: aHVudGVyMg==}
`

test('objects of a cluster become what a person wrote, and secrets stay where they are', () => {
  const { drafts, notCarried } = reading(crossplane, { path: 'a.yaml', text: EXPORT })
  const text = printDrafts(drafts)
  assert.equal(
    text,
    `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata:
  name: web
  labels:
    app: web
  annotations:
    crossplane.io/external-name: "108"
    example.org/owner: me
spec:
  deletionPolicy: Orphan
  forProvider:
    nodeName: pve1
    cpu:
      - cores: 4
  providerConfigRef:
    name: default
`,
  )
  assert.deepEqual(
    notCarried.map(({ what }) => what),
    ['Secret token'],
  )
  const read = readText(text)
  assert.deepEqual(read.problems, [])
  assert.deepEqual(
    read.declarations.map(({ key }) => key),
    ['EnvironmentVM/web'],
  )
})

test('JSON, the same object twice, and a file that is none', () => {
  const json = JSON.stringify({
    apiVersion: 'virtualenvironmentvm.m.crossplane.io/v1alpha1',
    kind: 'EnvironmentVM',
    metadata: { name: 'web', namespace: 'prod' },
    spec: { forProvider: { nodeName: 'pve1' } },
  })
  const files = [
    { path: 'a.json', text: json },
    { path: 'b.json', text: json },
    { path: 'c.yaml', text: 'a: [' },
  ]
  const { drafts, notCarried } = reading(crossplane, ...files)
  assert.equal(drafts.length, 1)
  assert.equal(drafts[0]?.manifest.metadata.namespace, 'prod')
  assert.deepEqual(
    notCarried.map(({ what }) => what),
    ['c.yaml'],
  )
})

const STATE = {
  version: 4,
  terraform_version: '1.9.0',
  resources: [
    {
      mode: 'managed',
      type: 'proxmox_virtual_environment_vm',
      name: 'k3s_server',
      instances: [
        {
          index_key: 'a',
          attributes: {
            acpi: true,
            agent: [{ enabled: true, timeout: '15m', trim: false, type: 'virtio', wait_for_ip: [] }],
            bios: 'ovmf',
            boot_order: ['scsi0'],
            clone: [{ vm_id: 9000, full: true }],
            cpu: [
              {
                affinity: '',
                architecture: '',
                cores: 4,
                flags: [],
                hotplugged: 0,
                limit: 0,
                type: 'host',
                units: 1024,
              },
            ],
            description: '',
            disk: [
              {
                datastore_id: 'local-zfs',
                interface: 'scsi0',
                size: 32,
                file_id: '',
                path_in_datastore: 'vm-201-disk-0',
                speed: [],
                ssd: true,
              },
            ],
            efi_disk: [{ datastore_id: 'local-zfs', file_format: 'raw', pre_enrolled_keys: true, type: '4m' }],
            id: '201',
            initialization: [
              {
                datastore_id: 'local',
                ip_config: [{ ipv4: [{ address: 'dhcp', gateway: '' }], ipv6: [] }],
                user_account: [{ username: 'ubuntu', password: 'hunter2', keys: [] }],
              },
            ],
            ipv4_addresses: [['10.0.0.1']],
            mac_addresses: ['BC:24:11:00:00:01'],
            name: 'k3s-1',
            network_device: [
              {
                bridge: 'vmbr0',
                enabled: true,
                firewall: false,
                mac_address: 'BC:24:11:00:00:01',
                model: 'virtio',
                mtu: 0,
                vlan_id: 30,
              },
            ],
            node_name: 'pve1',
            on_boot: true,
            startup: [{ order: 3, up_delay: -1, down_delay: -1 }],
            timeout_create: 1800,
            vm_id: 201,
          },
        },
      ],
    },
    {
      mode: 'managed',
      type: 'proxmox_virtual_environment_download_file',
      name: 'noble',
      instances: [
        {
          attributes: {
            content_type: 'import',
            datastore_id: 'local',
            file_name: 'noble.qcow2',
            id: 'local:import/noble.qcow2',
            node_name: 'pve1',
            overwrite: true,
            size: 618925568,
            upload_timeout: 600,
            url: 'https://example.org/noble.qcow2',
            verify: true,
          },
        },
      ],
    },
    {
      mode: 'managed',
      type: 'proxmox_virtual_environment_acme_certificate',
      name: 'x',
      instances: [{ attributes: { private_key: 'hunter2' } }],
    },
    { mode: 'managed', type: 'proxmox_virtual_environment_container', name: 'y', instances: [{}] },
    { mode: 'data', type: 'proxmox_virtual_environment_nodes', name: 'all', instances: [{}] },
  ],
}

test('a Terraform state becomes the same manifests: no password, nothing computed, what is left out is listed', () => {
  const read = stateOf(STATE)
  const text = printDrafts(read.drafts)
  assert.doesNotMatch(text, /hunter2|path|timeout|10\.0\.0\.1|clone/i)
  assert.match(text, /# initialization\.user_account\.password is secret: it stays as it is/)
  const [vm, file] = read.drafts.map(({ manifest }) => manifest)
  assert.ok(vm !== undefined && file !== undefined)
  assert.deepEqual(vm.metadata, { name: 'k3s-server-a', annotations: { 'crossplane.io/external-name': '201' } })
  const fields = (vm.spec as { forProvider: Record<string, unknown> }).forProvider
  assert.deepEqual(fields.networkDevice, [
    { bridge: 'vmbr0', enabled: true, firewall: false, macAddress: 'BC:24:11:00:00:01', model: 'virtio', vlanId: 30 },
  ])
  assert.deepEqual(fields.initialization, [
    { datastoreId: 'local', ipConfig: [{ ipv4: [{ address: 'dhcp' }] }], userAccount: [{ username: 'ubuntu' }] },
  ])
  assert.deepEqual(fields.startup, [{ order: 3 }])
  assert.equal(fields.name, 'k3s-1')
  assert.deepEqual((file.spec as { forProvider: unknown }).forProvider, {
    contentType: 'import',
    datastoreId: 'local',
    nodeName: 'pve1',
    url: 'https://example.org/noble.qcow2',
    verify: true,
  })
  // A data source was only read: there is nothing to take over.
  assert.deepEqual(read.notCarried, [
    {
      what: 'proxmox_virtual_environment_acme_certificate.x',
      why: 'Proxmox renews it by itself; declare the account, the plugin and acme of ProxmoxNodeOptions',
    },
    { what: 'proxmox_virtual_environment_container.y', why: 'the state has no attributes for it' },
  ])
  const again = readText(text)
  assert.deepEqual(errorsOf(again), [])
  assert.equal(again.declarations.length, 2)
})

test('what is no state of version 4 is told from an empty one', () => {
  for (const text of ['', '{', '[]', '{"version":3,"resources":[]}', '{"format_version":"1.0"}'])
    assert.ok('problem' in terraform.read([{ path: 's', text }], {}), text)
  assert.deepEqual(stateOf({ version: 4, resources: [] }).drafts, [])
})

test('what a kind refuses is left out, with as much as the rest needs to keep its meaning', () => {
  const cases: readonly [Record<string, unknown>, Record<string, unknown>][] = [
    [{ cpu: [{ cores: 4, units: 0 }] }, { cpu: [{ cores: 4 }] }],
    [{ cpu: [{ units: 0 }] }, {}],
    [{ tags: ['a', 'no good'] }, {}],
    [
      {
        disk: [
          { interface: 'scsi0', datastoreId: '!' },
          { interface: 'scsi1', datastoreId: 'local' },
        ],
      },
      { disk: [{ interface: 'scsi1', datastoreId: 'local' }] },
    ],
    [
      { networkDevice: [{ bridge: 'vmbr0', model: 'ne2k' }, { bridge: 'vmbr1' }] },
      { networkDevice: [{ enabled: false }, { bridge: 'vmbr1' }] },
    ],
    [
      { serialDevice: [{ device: 'socket' }, { device: 'pipe' }, { device: 'socket' }] },
      { serialDevice: [{ device: 'socket' }] },
    ],
    [
      {
        initialization: [
          { datastoreId: 'local', ipConfig: [{ ipv4: [{ address: 'dhcp' }] }, { ipv4: [{ address: 'x' }] }, {}] },
        ],
      },
      { initialization: [{ datastoreId: 'local', ipConfig: [{ ipv4: [{ address: 'dhcp' }] }] }] },
    ],
    [{ rng: [{ maxBytes: 5 }] }, {}],
    [{ frobnicate: 1, onBoot: true }, { onBoot: true }],
  ]
  for (const [given, expected] of cases) {
    const spec = { forProvider: { nodeName: 'pve1', ...given } }
    const manifest = { apiVersion: environmentVm.apiVersion, kind: 'EnvironmentVM', metadata: { name: 'web' }, spec }
    const { draft, problems } = fitToKind({ manifest, comments: [] }, environmentVm as Kind)
    assert.deepEqual(problems, [])
    assert.deepEqual(draft.manifest.spec, { forProvider: { nodeName: 'pve1', ...expected } })
    assert.ok(draft.comments.length > 0)
  }
  const manifest = {
    apiVersion: environmentVm.apiVersion,
    kind: 'EnvironmentVM',
    metadata: { name: 'web' },
    spec: { forProvider: {} },
  }
  assert.equal(fitToKind({ manifest, comments: [] }, environmentVm as Kind).problems[0]?.code, 'missing-field')
})

test('a comment cannot end early', () => {
  const manifest = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, spec: {} }
  assert.match(printDrafts([{ manifest, comments: ['one\nkind: Evil\u2028two'] }]), /^# one kind: Evil two\napiVersion/)
})

test('[S-55] many things of one name get numbers of their own, in time that grows with their number alone', () => {
  const nameOf = createNames()
  const before = process.threadCpuUsage()
  const names = Array.from({ length: 50_000 }, () => nameOf('EnvironmentVM', ['web']))
  const { user, system } = process.threadCpuUsage(before)
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(names.slice(0, 3), ['web', 'web-2', 'web-3'])
  assert.ok((user + system) / 1000 < 3_000, `${(user + system) / 1000} ms of processor time`)
})
