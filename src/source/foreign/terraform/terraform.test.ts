import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { errorsOf, readText } from '../../testing/fixture.ts'
import { printDrafts } from '../draft.ts'
import { terraform } from '../formats/terraform.ts'
import type { ReadOptions } from '../reading.ts'

/** Recorded from OpenTofu 1.10 with bpg/proxmox 0.111, for the files of test/clients/tofu on the simulator. */
const RECORDED = readFileSync(path.join(import.meta.dirname, 'testing/bpg-state.json'), 'utf8')
/** Recorded from OpenTofu 1.10 with dmacvicar/libvirt 0.8.3 and 0.9.7 on a real libvirtd, without nulls. */
const LIBVIRT = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'testing/libvirt-states.json'), 'utf8'),
) as Readonly<Record<'0.8.3' | '0.9.7', unknown>>
const UUID = '2f6ed614-795d-415b-9278-d3db8e1f2406'
const LAB = `apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: lab}
spec: {host: lab}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: lab}
spec: {local: true}
`

function read(state: unknown, options: ReadOptions = {}) {
  const text = typeof state === 'string' ? state : JSON.stringify(state)
  const reading = terraform.read([{ path: 'state.json', text }], options)
  assert.ok(!('problem' in reading))
  return reading
}

const resource = (type: string, name: string, attributes: unknown, provider: string) => ({
  mode: 'managed',
  type,
  name,
  provider: `provider["registry.terraform.io/${provider}"]`,
  instances: [{ attributes }],
})
const one = (type: string, attributes: unknown, provider: string, options: ReadOptions = {}) =>
  read({ version: 4, resources: [resource(type, 'it', attributes, provider)] }, options)

test('a state of the real provider, old and new names, becomes manifests without a problem or a secret', () => {
  const { drafts, notCarried } = read(RECORDED)
  const text = printDrafts(drafts)
  const again = readText(text)
  assert.deepEqual(errorsOf(again), [])
  assert.equal(again.declarations.length, 45)
  assert.deepEqual(notCarried, [
    { what: 'proxmox_sdn_applier.all', why: 'croft applies pending changes of the SDN itself' },
  ])
  assert.doesNotMatch(text, /hunter2|secret-123|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/)
  assert.deepEqual([...new Set(drafts.map(({ manifest }) => manifest.kind))].sort(), [
    'EnvironmentACL',
    'EnvironmentAptRepository',
    'EnvironmentAptStandardRepository',
    'EnvironmentClusterFirewallSecurityGroup',
    'EnvironmentContainer',
    'EnvironmentDNS',
    'EnvironmentDownloadFile',
    'EnvironmentFirewallAlias',
    'EnvironmentFirewallIPSet',
    'EnvironmentFirewallOptions',
    'EnvironmentFirewallRules',
    'EnvironmentGroup',
    'EnvironmentHaresource',
    'EnvironmentHosts',
    'EnvironmentMetricsServer',
    'EnvironmentNetworkLinuxBridge',
    'EnvironmentNetworkLinuxVlan',
    'EnvironmentNodeFirewall',
    'EnvironmentPool',
    'EnvironmentRole',
    'EnvironmentTime',
    'EnvironmentUser',
    'EnvironmentVM',
    'ProxmoxBackupJob',
    'ProxmoxClusterOptions',
    'ProxmoxHaRule',
    'ProxmoxNodeOptions',
    'ProxmoxPciMapping',
    'ProxmoxRealm',
    'ProxmoxSdnSubnet',
    'ProxmoxSdnVnet',
    'ProxmoxSdnZone',
    'ProxmoxStorage',
    'ProxmoxToken',
    'ProxmoxUsbMapping',
  ])
})

test('the old and the new name of a resource say the same', () => {
  const attributes = { id: 'nas', server: '10.0.0.2', export: '/e', content: ['images'], nodes: [], disable: false }
  const texts = ['proxmox_virtual_environment_storage_nfs', 'proxmox_storage_nfs'].map((type) =>
    printDrafts(one(type, attributes, 'bpg/proxmox').drafts),
  )
  assert.equal(texts[0], texts[1])
  assert.match(texts[0] ?? '', /kind: ProxmoxStorage/)
  assert.match(texts[0] ?? '', /id: nas/)
})

test('what has no field or no kind is listed with its reason', () => {
  const why = (type: string, attributes: unknown = {}, provider = 'bpg/proxmox') =>
    one(type, attributes, provider).notCarried.map((item) => item.why)
  assert.deepEqual(why('proxmox_storage_zfspool', { id: 'z', zfs_pool: 'tank', colour: 'blue' }), [
    'colour has no field here',
  ])
  assert.match(why('proxmox_virtual_environment_file', { source_file: [{ path: './a.iso' }] }).join(), /does not hold/)
  assert.match(why('proxmox_vm').join(), /croft import proxmox DIR --guest/)
  assert.match(why('proxmox_sdn_fabric_ospf').join(), /SDN fabrics/)
  assert.match(why('proxmox_something_new').join(), /no kind for it/)
  assert.match(why('aws_vpc', {}, 'hashicorp/aws').join(), /hashicorp\/aws/)
  assert.match(why('libvirt_domain', {}, 'dmacvicar/libvirt').join(), /--host/)
  assert.match(why('helm_release', {}, 'hashicorp/helm').join(), /--cluster/)
})

test('a provider with an alias, and one inside a module, is the same provider', () => {
  const pool = (provider: string) =>
    read({
      version: 4,
      resources: [{ ...resource('proxmox_virtual_environment_pool', 'p', { pool_id: 'a' }, 'x'), provider }],
    })
  for (const written of [
    'provider["registry.opentofu.org/bpg/proxmox"].root',
    'module.a.provider["registry.terraform.io/bpg/proxmox"]',
    'module.a.module.b.provider["registry.terraform.io/bpg/proxmox"].root',
  ])
    assert.equal(pool(written).drafts.length, 1, written)
  assert.equal(pool('provider["registry.terraform.io/evil/bpg/proxmox-not"]').drafts.length, 0)
})

test('what is secret in a certificate, an ACME plugin and a file stays in the state', () => {
  const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`
  const certificate = one(
    'proxmox_virtual_environment_certificate',
    {
      node_name: 'a',
      certificate: `${pem('MIIB')}\n`,
      certificate_chain: pem('MIIC'),
      private_key: 'hunter2',
      issuer: 'x',
    },
    'bpg/proxmox',
  )
  assert.deepEqual(certificate.drafts[0]?.manifest.spec, {
    host: 'a',
    certificate: `${pem('MIIB')}\n${pem('MIIC')}\n`,
    deletionPolicy: 'Orphan',
  })
  assert.match(certificate.drafts[0]?.comments.join() ?? '', /private_key is secret/)
  const plugin = one(
    'proxmox_acme_dns_plugin',
    { plugin: 'cf', api: 'cf', data: { CF_Token: 'hunter2' }, disable: false, digest: 'x' },
    'bpg/proxmox',
  )
  assert.deepEqual(plugin.notCarried, [])
  assert.doesNotMatch(printDrafts([...certificate.drafts, ...plugin.drafts]), /hunter2/)
  const file = (data: string) =>
    one(
      'proxmox_virtual_environment_file',
      {
        content_type: 'snippets',
        datastore_id: 'local',
        node_name: 'a',
        source_raw: [{ data, file_name: 'user.yaml', resize: 0 }],
        file_size: 20,
        id: 'local:snippets/user.yaml',
      },
      'bpg/proxmox',
    )
  assert.deepEqual(errorsOf(readText(printDrafts(file('#cloud-config\npackages: [curl]\n').drafts))), [])
  for (const text of ['chpasswd: {list: "a:hunter2"}', 'K3S_TOKEN=hunter2', '-----BEGIN EC PRIVATE KEY-----']) {
    const refused = file(text)
    assert.deepEqual(refused.drafts, [])
    assert.match(refused.notCarried[0]?.why ?? '', /secret/)
  }
})

test('a copied machine of the newer form is an ordinary one; what its state does not say is not declared', () => {
  const { drafts, notCarried } = one(
    'proxmox_cloned_vm',
    {
      id: 4340,
      node_name: 'a',
      name: 'twin',
      started: true,
      clone: { source_vm_id: 1, full: true },
      cpu: { cores: 2, vcpus: 1 },
      memory: { size: 1024, balloon: 512 },
      network: { net1: { bridge: 'vmbr1', tag: 20, link_down: true, trunks: [10, 30] } },
      disk: { scsi1: { datastore_id: 'fast', size_gb: 8, format: 'raw', ssd: true }, ide2: { media: 'cdrom' } },
      delete: { disk: ['scsi2'] },
    },
    'bpg/proxmox',
  )
  assert.deepEqual(notCarried, [])
  assert.deepEqual((drafts[0]?.manifest.spec as { forProvider: unknown } | undefined)?.forProvider, {
    nodeName: 'a',
    name: 'twin',
    started: true,
    cpu: [{ cores: 2, hotplugged: 1 }],
    memory: [{ dedicated: 1024, floating: 512 }],
    networkDevice: [{ enabled: false }, { bridge: 'vmbr1', vlanId: 20, disconnected: true, trunks: '10;30' }],
    disk: [{ datastoreId: 'fast', ssd: true, interface: 'scsi1', size: 8, fileFormat: 'raw' }],
  })
})

test('two modules with a resource of one name are two objects', () => {
  const pool = (module: string, id: string) => ({
    ...resource('proxmox_virtual_environment_pool', 'p', { pool_id: id }, 'bpg/proxmox'),
    module,
  })
  const { drafts } = read({ version: 4, resources: [pool('module.a', 'a'), pool('module.b["x"]', 'b')] })
  assert.deepEqual(
    drafts.map(({ manifest }) => manifest.metadata.name),
    ['a-p', 'b-x-p'],
  )
})

test('a Helm release becomes an add-on with its values as Helm would join them', () => {
  const { drafts, notCarried } = one(
    'helm_release',
    {
      name: 'podinfo',
      namespace: 'web',
      create_namespace: true,
      repository: 'https://stefanprodan.github.io/podinfo/',
      chart: 'podinfo',
      version: '~> 6.9',
      metadata: [{ version: '6.9.2' }],
      values: ['ui: {color: red, message: hi}\nreplicaCount: 1\n', 'ui: {color: blue}\n'],
      set: [
        { name: 'replicaCount', value: '3' },
        { name: 'annotations.example\\.org/x', value: 'true', type: 'string' },
        { name: 'hosts[0].name', value: 'a' },
      ],
      set_sensitive: [{ name: 'token', value: 'hunter2' }],
    },
    'hashicorp/helm',
    { cluster: 'home' },
  )
  assert.deepEqual(drafts[0]?.manifest, {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Addon',
    metadata: { name: 'podinfo' },
    spec: {
      cluster: 'home',
      namespace: 'web',
      chart: {
        repo: 'https://stefanprodan.github.io/podinfo',
        name: 'podinfo',
        version: '6.9.2',
        values: { ui: { color: 'blue', message: 'hi' }, replicaCount: 3, annotations: { 'example.org/x': 'true' } },
      },
      adopt: true,
    },
  })
  assert.deepEqual(
    notCarried.map(({ why }) => why),
    [
      'set hosts[0].name names a place in a list; write it into chart.values',
      'set_sensitive token is secret; put it into chart.valuesFrom',
    ],
  )
  assert.doesNotMatch(printDrafts(drafts), /hunter2/)
})

test('a chart of a registry, and one without an exact version', () => {
  const release = (more: object) =>
    one('helm_release', { name: 'a', chart: 'a', ...more }, 'hashicorp/helm', { cluster: 'c' })
  const oci = release({ repository: 'oci://ghcr.io/me/charts', version: '1.2.3' }).drafts[0]?.manifest.spec
  assert.deepEqual((oci as { chart: unknown }).chart, { name: 'oci://ghcr.io/me/charts/a', version: '1.2.3' })
  assert.match(
    release({ repository: 'https://example.org', version: '>1' }).notCarried[0]?.why ?? '',
    /not an exact one/,
  )
  assert.match(release({ chart: './charts/a', version: '1.2.3' }).notCarried[0]?.why ?? '', /in no repository/)
})

test('a domain of libvirt 0.8 and of 0.9 is the same machine', () => {
  const uuid = '2f6ed614-795d-415b-9278-d3db8e1f2406'
  const older = {
    id: uuid,
    name: 'vm1',
    memory: 2048,
    vcpu: 2,
    autostart: true,
    running: true,
    disk: [{ volume_id: '/x' }],
  }
  const newer = {
    id: 3,
    uuid,
    name: 'vm1',
    memory: 2,
    memory_unit: 'GiB',
    vcpu: 2,
    autostart: true,
    running: true,
    devices: { channels: [{ target: { virt_io: { name: 'org.qemu.guest_agent.0' } } }] },
  }
  const texts = [older, newer].map((attributes) =>
    printDrafts(one('libvirt_domain', attributes, 'dmacvicar/libvirt', { host: 'lab' }).drafts),
  )
  assert.equal(texts[0], texts[1])
  assert.match(texts[0] ?? '', /memory: 2048Mi/)
  assert.match(texts[0] ?? '', new RegExp(`uuid: ${uuid}`))
})

test('states of libvirt 0.8 and 0.9 that the real providers made: domains, networks and pools by their UUIDs', () => {
  const specs = (version: '0.8.3' | '0.9.7') => {
    const { drafts, notCarried } = read(LIBVIRT[version], { host: 'lab' })
    assert.deepEqual(errorsOf(readText(`${LAB}---\n${printDrafts(drafts)}`)), [])
    const left = notCarried.filter(({ what }) => !/volume|cloudinit/.test(what))
    const of = (kind: string, name: string) => {
      const found = drafts.find(({ manifest }) => manifest.kind === kind && manifest.metadata.name === name)
      const { uuid, ...spec } = (found?.manifest.spec ?? {}) as { readonly uuid?: string }
      if (kind !== 'Machine') assert.match(uuid ?? '', /^[0-9a-f-]{36}$/)
      return spec
    }
    return { of, left }
  }
  const [older, newer] = [specs('0.8.3'), specs('0.9.7')]
  const both = { host: 'lab', deletionPolicy: 'Orphan' }
  const lab = { ...both, mode: 'nat', addresses: ['192.168.150.1/24'], domain: 'lab.home.arpa', autostart: true }
  const range = (from: number, to: number) => ({ from: `192.168.150.${from}`, to: `192.168.150.${to}` })
  assert.deepEqual(older.of('LibvirtNetwork', 'lab'), { ...lab, dhcp: range(2, 254), dns: true })
  assert.deepEqual(newer.of('LibvirtNetwork', 'lab'), { ...lab, dhcp: range(100, 199) })
  for (const { of } of [older, newer]) {
    const quiet = { ...both, mode: 'isolated', addresses: ['192.168.151.1/24'], mtu: 1400, autostart: false }
    assert.deepEqual(of('LibvirtNetwork', 'quiet'), quiet)
    assert.deepEqual(of('LibvirtPool', 'lab'), { ...both, type: 'dir', path: '/var/lib/libvirt/lab' })
  }
  const machine = ({ of }: typeof older, name: string) => {
    const { libvirt: _libvirt, ...rest } = of('Machine', name) as { readonly libvirt: unknown }
    return rest
  }
  assert.deepEqual(machine(older, 'web'), { ...both, cpu: { cores: 1 }, memory: '128Mi', onBoot: true })
  // The domain has no agent channel: adding one would restart it.
  assert.deepEqual(machine(newer, 'web'), { ...both, cpu: { cores: 1 }, memory: '128Mi', onBoot: true, agent: false })
  // Without a unit, memory is in KiB.
  assert.deepEqual(machine(newer, 'off'), { ...both, cpu: { cores: 2 }, memory: '96Mi', power: 'off', agent: false })
  assert.deepEqual(older.left, [])
  assert.deepEqual(
    newer.left.map(({ what, why }) => `${what}: ${why.slice(0, 38)}`),
    ['libvirt_domain.off: the state does not say whether it runs'],
  )
})

test('what a network of libvirt has beside is named, and a mode or a pool that croft does not have is not carried', () => {
  const why = (type: string, attributes: unknown) =>
    one(type, { id: UUID, name: 'a', ...(attributes as object) }, 'dmacvicar/libvirt', { host: 'lab' }).notCarried.map(
      (item) => item.why,
    )
  const beside = { addresses: ['10.1.0.0/24'], dns: [{ enabled: true, hosts: [{ ip: '10.1.0.9' }] }], routes: [{}] }
  assert.deepEqual(why('libvirt_network', beside), ['not declared, and left as it is: dns.hosts, routes'])
  assert.deepEqual(why('libvirt_network', { forward: { mode: 'hostdev' } }), ['croft has no mode hostdev'])
  assert.deepEqual(why('libvirt_pool', { type: 'rbd' }), ['croft has no pools of type rbd'])
})

test('guests of Telmate are taken over by their id; what it describes in its own way stays as it is', () => {
  const { drafts, notCarried } = one(
    'proxmox_vm_qemu',
    {
      id: 'pve1/qemu/110',
      name: 'web',
      cores: 2,
      sockets: 1,
      memory: 2048,
      onboot: true,
      vm_state: 'stopped',
      tags: 'a;b',
      disk: [{ slot: 'scsi0' }],
      disks: [{ ide: [], scsi: [{ scsi0: [], scsi1: [] }] }],
      balloon: 0,
      ciuser: 'root',
      cipassword: 'hunter2',
    },
    'Telmate/proxmox',
  )
  assert.deepEqual(drafts[0]?.manifest.metadata, { name: 'it', annotations: { 'crossplane.io/external-name': '110' } })
  assert.deepEqual((drafts[0]?.manifest.spec as { forProvider: unknown } | undefined)?.forProvider, {
    nodeName: 'pve1',
    name: 'web',
    cpu: [{ cores: 2, sockets: 1 }],
    memory: [{ dedicated: 2048 }],
    onBoot: true,
    tags: ['a', 'b'],
    started: false,
  })
  assert.deepEqual(notCarried, [{ what: 'proxmox_vm_qemu.it', why: 'not declared, and left as it is: ciuser, disk' }])
  assert.match(printDrafts(drafts), /secret.*cipassword|cipassword.*secret/)
  assert.doesNotMatch(printDrafts(drafts), /hunter2/)
})

test('containers and pools of Telmate: power as the state says it; where it does not, Proxmox is to be asked', () => {
  const provided = (type: string, attributes: Record<string, unknown>) => {
    const { drafts, notCarried } = one(type, attributes, 'Telmate/proxmox')
    const spec = drafts[0]?.manifest.spec as { forProvider: unknown } | undefined
    return [spec?.forProvider, notCarried.map(({ why }) => why)]
  }
  const silent = 'its state does not say whether it runs; run croft import proxmox DIR --guest 120'
  const old = { id: 'pve1/lxc/120', hostname: 'old', memory: 512, unprivileged: true }
  const fields = { nodeName: 'pve1', memory: [{ dedicated: 512 }], initialization: [{ hostname: 'old' }] }
  for (const start of [undefined, null, false])
    assert.deepEqual(provided('proxmox_lxc', { ...old, start }), [undefined, [silent]])
  const qemu = { id: 'pve1/qemu/122', name: 'old', memory: 512 }
  assert.deepEqual(provided('proxmox_vm_qemu', { ...qemu, oncreate: true }), [
    { nodeName: 'pve1', name: 'old', memory: [{ dedicated: 512 }], started: true },
    [],
  ])
  assert.deepEqual(provided('proxmox_vm_qemu', { ...qemu, oncreate: false })[0], undefined)
  assert.deepEqual(provided('proxmox_lxc', { ...old, start: true }), [
    { ...fields, unprivileged: true, started: true },
    [],
  ])
  assert.deepEqual(
    provided('proxmox_lxc_guest', {
      id: 'pve1/lxc/121',
      name: 'new',
      cpu: [{ cores: 2 }],
      memory: 1024,
      privileged: true,
      tags: ['b', 'a'],
      power_state: 'running',
    }),
    [
      {
        nodeName: 'pve1',
        cpu: [{ cores: 2 }],
        memory: [{ dedicated: 1024 }],
        initialization: [{ hostname: 'new' }],
        unprivileged: false,
        tags: ['b', 'a'],
        started: true,
      },
      [],
    ],
  )
  assert.deepEqual(provided('proxmox_pool', { id: 'pools/lab', poolid: 'lab', comment: 'x' }), [
    { poolId: 'lab', comment: 'x' },
    [],
  ])
  assert.match(String(provided('proxmox_storage_iso', { id: 'x' })[1]), /EnvironmentDownloadFile/)
})

test('a manifest of the kubernetes and kubectl providers becomes an add-on with that object', () => {
  const written = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'web', namespace: 'apps', labels: null },
    data: { a: '1' },
  }
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: apps}\ndata: {a: "1"}\n'
  const options = { cluster: 'home' }
  const readings = [
    one(
      'kubernetes_manifest',
      { manifest: { type: ['object', {}], value: written }, object: null },
      'hashicorp/kubernetes',
      options,
    ),
    one('kubectl_manifest', { yaml_body: yaml, live_uid: 'x' }, 'alekc/kubectl', options),
  ]
  for (const { drafts, notCarried } of readings) {
    assert.deepEqual(notCarried, [])
    assert.deepEqual(errorsOf(readText(printDrafts(drafts))), [])
    assert.deepEqual(drafts[0]?.manifest.metadata, { name: 'configmap-web' })
    assert.deepEqual(drafts[0]?.manifest.spec, {
      cluster: 'home',
      namespace: 'apps',
      objects: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'apps' }, data: { a: '1' } },
      ],
      adopt: true,
    })
  }
})

test('a Secret, a sensitive manifest, several documents and one without a cluster are listed and never printed', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'hunter2' } }
  const map = { ...secret, kind: 'ConfigMap' }
  const nested = (depth: number): unknown => (depth === 0 ? {} : { a: nested(depth - 1) })
  const options = { cluster: 'home' }
  const yaml = JSON.stringify(map)
  const marked = {
    ...resource('kubernetes_manifest', 'it', {}, 'hashicorp/kubernetes'),
    instances: [{ attributes: { manifest: map }, sensitive_attributes: [[{ type: 'get_attr', value: 'manifest' }]] }],
  }
  const cases: readonly [ReturnType<typeof read>, RegExp][] = [
    [one('kubernetes_manifest', { manifest: secret }, 'hashicorp/kubernetes', options), /it is a Secret/],
    [one('kubectl_manifest', { yaml_body: JSON.stringify(secret) }, 'gavinbunker/kubectl', options), /it is a Secret/],
    [read({ version: 4, resources: [marked] }, options), /calls a part of it sensitive/],
    [
      one('kubectl_manifest', { yaml_body: yaml, sensitive_fields: ['data'] }, 'alekc/kubectl', options),
      /no whole manifest/,
    ],
    [one('kubectl_manifest', { yaml_body: `${yaml}\n---\n${yaml}` }, 'alekc/kubectl', options), /no whole manifest/],
    [one('kubernetes_manifest', { manifest: map }, 'hashicorp/kubernetes'), /--cluster/],
    [
      one('kubernetes_manifest', { manifest: { ...map, data: nested(200) } }, 'hashicorp/kubernetes', options),
      /no whole/,
    ],
    [one('kubernetes_deployment', {}, 'hashicorp/kubernetes', options), /alone; write an Addon/],
  ]
  for (const [{ drafts, notCarried }, expected] of cases) {
    assert.deepEqual(drafts, [])
    assert.match(notCarried[0]?.why ?? '', expected)
    assert.doesNotMatch(JSON.stringify(notCarried), /hunter2/)
  }
})

test('what show -json prints of a state or of a plan is read like the state; what a plan will make is named', () => {
  const vm = (name: string, index?: number) => ({
    address: `module.lab.proxmox_pool.${name}${index === undefined ? '' : `[${index}]`}`,
    mode: 'managed',
    type: 'proxmox_pool',
    name,
    ...(index === undefined ? {} : { index }),
    provider_name: 'registry.terraform.io/telmate/proxmox',
    values: { poolid: name, comment: 'x' },
    sensitive_values: { comment: true, tags: [{}] },
  })
  const values = (...resources: unknown[]) => ({
    root_module: { child_modules: [{ address: 'module.lab', resources }] },
  })
  const state = { format_version: '1.0', terraform_version: '1.10.0', values: values(vm('lab', 0)) }
  const plan = { format_version: '1.2', prior_state: state, planned_values: values(vm('lab', 0), vm('later')) }
  const [shown, planned] = [read(state), read(plan)]
  assert.equal(printDrafts(shown.drafts), printDrafts(planned.drafts))
  assert.equal(shown.drafts[0]?.manifest.metadata.name, 'lab-lab-0')
  assert.deepEqual(shown.notCarried, [])
  assert.deepEqual(
    planned.notCarried.map(({ what }) => what),
    ['module.lab.proxmox_pool.later'],
  )
  // A plan that was never applied.
  assert.deepEqual(read({ format_version: '1.2', planned_values: values(vm('lab')) }).drafts, [])
})

test('configuration alone is refused with the commands that print what can be read', () => {
  const text = 'resource "proxmox_virtual_environment_vm" "web" {\n}\nresource "cloudflare_record" "a" {}\n'
  const reading = terraform.read([{ path: 'main.tf', text }], {})
  assert.ok('problem' in reading)
  assert.match(reading.problem, /1 of its 2 resources .*state pull > state\.json.*show -json.*croft import proxmox/)
})
