import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { readOfOthers, WITHOUT_EVIDENCE } from '../../test/evidence/of-others.ts'
import { environmentDownloadFile } from '../kinds/environment-download-file.ts'
import { environmentVm } from '../kinds/environment-vm.ts'
import { knownFields } from '../kinds/fields/explain.ts'
import type { Lookup } from '../kinds/kind.ts'
import { findKind } from '../kinds/registry.ts'
import { yamlLibrary } from '../lib/yaml-library.ts'
import type { Declaration } from '../model/declaration.ts'
import type { VmSpec } from '../model/vm.ts'
import { readText, told, vmManifest } from './testing/fixture.ts'

interface Property {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Property>>
  readonly items?: Property
}

function crd(file: string): Property | undefined {
  const document = yamlLibrary().parse(readOfOthers(`crossplane-crds/${file}`)) as {
    spec: { versions: { schema: { openAPIV3Schema: Property } }[] }
  }
  return document.spec.versions[0]?.schema.openAPIV3Schema.properties?.spec
}

/** Every path of the CRD that the schema does not know. */
function missing(schema: z.ZodType, property: Property, path: readonly (string | number)[]): readonly string[] {
  const fields = property.properties ?? property.items?.properties
  if (fields === undefined) return []
  // A block that is always single has its fields right below it, one that may be repeated below an index.
  const inside = knownFields(schema, path).length > 0 ? path : [...path, 0]
  const known = knownFields(schema, inside)
  return Object.entries(fields).flatMap(([name, inner]) => {
    const place = [...inside, name]
    return known.includes(name) ? missing(schema, inner, place) : [place.join('.')]
  })
}

const CRDS = [
  ['virtualenvironmentvm.proxmoxbpg.crossplane.io_environmentvms.yaml', environmentVm.schema, 200],
  [
    'virtualenvironmentdownloadfile.proxmoxbpg.crossplane.io_environmentdownloadfiles.yaml',
    environmentDownloadFile.schema,
    20,
  ],
] as const

for (const [file, schema, least] of CRDS) {
  test(`every field of ${file} is known, at every depth`, { skip: WITHOUT_EVIDENCE }, () => {
    const spec = crd(file)
    assert.ok(spec)
    const count = (property: Property): number =>
      Object.values(property.properties ?? property.items?.properties ?? {}).reduce(
        (sum, inner) => sum + 1 + count(inner),
        0,
      )
    assert.ok(count(spec) > least)
    assert.deepEqual(missing(schema, spec, []), [])
    const madeUp = { properties: { forProvider: { properties: { madeUp: {} } } } }
    assert.deepEqual(missing(schema, madeUp, []), ['forProvider.madeUp'])
  })
}

function expand(text: string): {
  readonly vm: VmSpec
  readonly needs: readonly string[]
  readonly connection: string | undefined
} {
  const revision = readText(text)
  assert.deepEqual(told(revision.problems.filter(({ severity }) => severity === 'error')), [])
  const lookup: Lookup = {
    all: (kind) => revision.declarations.filter((declaration) => declaration.kind === kind),
    declaration: (kind, name) => revision.declarations.find((one) => one.kind === kind && one.name === name),
  }
  const [declaration] = revision.declarations.filter(({ kind }) => kind === 'EnvironmentVM')
  assert.ok(declaration)
  const expanded = findKind(declaration.apiVersion, declaration.kind)?.expand(declaration, lookup)
  assert.ok(expanded !== undefined && 'role' in expanded && expanded.role === 'resource', JSON.stringify(expanded))
  assert.equal(expanded.desired.type, 'vm')
  return { vm: (expanded.desired as { vm: VmSpec }).vm, needs: expanded.needs, connection: expanded.connection }
}

function only(text: string): Declaration {
  const [declaration, ...more] = readText(text).declarations
  assert.ok(declaration !== undefined && more.length === 0, told(readText(text).problems).join('\n'))
  return declaration
}

test('list-shaped and object-shaped blocks mean the same', () => {
  const listed =
    'vmId: 114\ncpu:\n  - cores: 4\nmemory:\n  - dedicated: 4096\nagent:\n  - enabled: true\ninitialization:\n  - datastoreId: local\n    ipConfig:\n      - ipv4:\n          - address: dhcp'
  const object =
    'vmId: 114\ncpu: {cores: 4}\nmemory: {dedicated: 4096}\nagent: {enabled: true}\ninitialization:\n  datastoreId: local\n  ipConfig: {ipv4: {address: dhcp}}'
  assert.deepEqual(expand(vmManifest(listed)), expand(vmManifest(object)))
  assert.equal(only(vmManifest(listed)).generation, only(vmManifest(object)).generation)
})

test('a VM says only what was written, and what Proxmox cannot do without', () => {
  assert.equal(expand(vmManifest('vmId: 100')).vm.power, 'running')
  assert.deepEqual(expand(vmManifest('started: false')).vm, {
    host: 'pve1',
    name: 'web-1',
    power: 'stopped',
    disks: [],
    nics: [],
  })
  const { vm } = expand(
    vmManifest(
      'template: true\ntags: [Web, web, b]\ndisk: {interface: virtio0}\nnetworkDevice: [{enabled: false}, {vlanId: 0}]\ncdrom: {}\nserialDevice: [{}]',
    ),
  )
  assert.deepEqual(vm, {
    host: 'pve1',
    name: 'web-1',
    template: true,
    tags: ['web', 'b'],
    disks: [{ slot: 'virtio0', storage: 'local-lvm', sizeGb: 8 }],
    cdrom: [{ slot: 'ide3', file: 'cdrom' }],
    nics: [{ slot: 'net1', bridge: 'vmbr0', model: 'virtio' }],
    serial: [{ slot: 'serial0', device: 'socket' }],
  })
})

test('what croft reads and does not keep is said, field by field', () => {
  const problems = readText(
    vmManifest(
      'migrate: true\ntimeoutCreate: 60\ndisk:\n  - interface: scsi0\n    pathInDatastore: x\nagent: [{timeout: 5m}]\nkvmArguments: -S',
    ),
  ).problems
  assert.ok(problems.every(({ severity }) => severity === 'warning'))
  assert.deepEqual(told(problems), [
    'not-kept 14:5 croft reads kvmArguments but leaves it alone: only root@pam may set it, and the process takes whatever it says',
    'not-kept 8:5 croft reads migrate but never moves a machine because its declaration changed: moving is an operation of its own',
    'not-kept 9:5 croft reads timeoutCreate but does not need it: it starts work, looks again later and never waits inside a step',
    'not-kept 13:14 croft reads agent.timeout but does not need it: it starts work, looks again later and never waits inside a step',
    'not-kept 12:9 croft reads disk.pathInDatastore but does not manage it: Proxmox names the volumes',
  ])
})

test('a made-up field is refused with a hint, in forProvider and in initProvider', () => {
  const text = vmManifest('vmId: 100').replace('spec:', 'spec:\n  initProvider:\n    memry: {dedicated: 1}')
  assert.deepEqual(told(readText(text).problems), [
    'unknown-field 7:5 "memry" is not a field of initProvider (did you mean memory?)',
  ])
})

test('fields that contradict each other are refused', () => {
  const said = (fields: string) => told(readText(vmManifest(fields)).problems)
  assert.match(
    said('disk: [{interface: scsi0}, {interface: scsi0}]')[0] ?? '',
    /^bad-value 8:44 scsi0 is used twice: here and by disk\.0\.interface/,
  )
  assert.match(said('disk: [{interface: ide2}]\ninitialization: {}')[0] ?? '', /ide2 is used twice/)
  assert.match(
    said('initialization: {ipConfig: {ipv4: {address: dhcp, gateway: 10.0.0.1}}}')[0] ?? '',
    /^bad-value 8:64 a gateway goes with a static address/,
  )
  assert.match(said('memory: {dedicated: 512, floating: 1024}')[0] ?? '', /more than memory\.dedicated/)
  assert.match(
    told(readText(vmManifest('vmId: 100').replace('    nodeName: pve1\n', '')).problems)[0] ?? '',
    /^missing-field 6:3 nodeName is missing/,
  )
})

const annotated = (annotations: string, fields = 'vmId: 108', spec = '') =>
  vmManifest(fields).replace('metadata:', `metadata:\n  annotations: {${annotations}}`).replace('spec:', `spec:${spec}`)

test('[R8] policies come from Crossplane’s own words', () => {
  const policy = (text: string) => only(text).policy
  const base = { deletion: 'Delete', protect: false, paused: false, manage: 'full', replace: 'refused' }
  const table: readonly (readonly [string, object])[] = [
    [annotated(''), base],
    [annotated('', 'vmId: 108', '\n  deletionPolicy: Orphan'), { ...base, deletion: 'Orphan' }],
    [annotated('crossplane.io/external-name: "108"'), { ...base, deletion: 'Orphan', adopt: '108' }],
    [
      annotated('crossplane.io/external-name: "pve1/108"', 'started: true'),
      { ...base, deletion: 'Orphan', adopt: '108' },
    ],
    [
      annotated('crossplane.io/external-name: "108"', 'vmId: 108', '\n  deletionPolicy: Delete'),
      { ...base, adopt: '108' },
    ],
    [annotated('crossplane.io/paused: "true"'), { ...base, paused: true }],
    [
      annotated('croft.dev/paused: "true", croft.dev/protect: "true", croft.dev/replace: allowed'),
      { ...base, paused: true, protect: true, replace: 'allowed' },
    ],
    [
      annotated('', 'vmId: 108', '\n  managementPolicies: [Observe]'),
      { ...base, manage: 'observe', deletion: 'Orphan' },
    ],
    [annotated('', 'vmId: 108', '\n  managementPolicies: ["*"]'), base],
    [
      annotated('', 'vmId: 108', '\n  managementPolicies: []'),
      { ...base, paused: true, manage: 'observe', deletion: 'Orphan' },
    ],
    [annotated('', 'vmId: 108', '\n  managementPolicies: [Observe, Create, Update]'), { ...base, deletion: 'Orphan' }],
    [
      annotated('', 'vmId: 108', '\n  managementPolicies: [Observe, Create]'),
      { ...base, manage: 'observe', deletion: 'Orphan' },
    ],
  ]
  for (const [text, expected] of table) assert.deepEqual(policy(text), expected, text)
})

test('annotations of ours are checked, those of others are not', () => {
  const said = (annotations: string) => told(readText(annotated(annotations)).problems)
  assert.deepEqual(said('croft.dev/protected: "true"'), [
    'unknown-field 4:17 "croft.dev/protected" is not a field of metadata.annotations (did you mean croft.dev/protect?)',
  ])
  assert.match(said('croft.dev/protect: "yes"')[0] ?? '', /it may be "true" or "false"/)
  assert.match(said('croft.dev/protect: true')[0] ?? '', /must be text \(write it in quotes: "true"\)/)
  assert.match(said('crossplane.io/external-name: "109"')[0] ?? '', /says VM 109, vmId says 108/)
  assert.match(said('crossplane.io/external-name: "$(id)"')[0] ?? '', /expected a VMID/)
  assert.deepEqual(said('example.org/x: "anything; at $(all)"'), [])
})

const FILE = `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: noble}
spec:
  forProvider: {nodeName: pve1, datastoreId: local, contentType: import, url: "https://example.org/noble.qcow2"}
`

test('[R19] a VM needs the declared file that its disk or drive is made from, on its own host', () => {
  const disk = (volume: string) => vmManifest(`disk: {interface: scsi0, importFrom: "${volume}"}`)
  assert.deepEqual(expand(`${FILE}---\n${disk('local:import/noble.qcow2')}`).needs, ['EnvironmentDownloadFile/noble'])
  assert.deepEqual(expand(`${FILE}---\n${disk('local:import/other.qcow2')}`).needs, [])
  assert.deepEqual(expand(`${FILE.replace('pve1', 'pve2')}---\n${disk('local:import/noble.qcow2')}`).needs, [])
  const iso = FILE.replace('contentType: import', 'contentType: iso').replace('noble.qcow2', 'noble.iso')
  assert.deepEqual(expand(`${iso}---\n${vmManifest('cdrom: {fileId: "local:iso/noble.iso"}')}`).needs, [
    'EnvironmentDownloadFile/noble',
  ])
})

test('a providerConfigRef is served by the connection of that name, by what a ProviderConfig points to, or, if none is meant, by the only one', () => {
  const proxmox = (name: string) =>
    `apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: ${name}}\nspec: {endpoint: "https://127.0.0.1:8006", token: {env: T}}\n---\n`
  const config =
    'apiVersion: proxmoxbpg.crossplane.io/v1beta1\nkind: ProviderConfig\nmetadata: {name: old, annotations: {croft.dev/connection: b}}\nspec: {credentials: {source: None}}\n---\n'
  const vm = (ref: string) => vmManifest('vmId: 100').replace('spec:', `spec:\n  providerConfigRef: {name: ${ref}}`)
  const unbound = config.replace(', annotations: {croft.dev/connection: b}', '')
  assert.equal(expand(proxmox('a') + vm('default')).connection, undefined)
  assert.equal(expand(proxmox('a') + unbound + vm('old')).connection, undefined)
  assert.equal(expand(proxmox('a') + vm('whatever')).connection, 'whatever', 'linking refuses what nothing answers')
  assert.equal(expand(proxmox('a') + config + vm('old')).connection, 'b')
  assert.equal(expand(proxmox('a') + proxmox('b') + vm('b')).connection, 'b')
  assert.equal(expand(proxmox('a') + proxmox('b') + config + vm('old')).connection, 'b')
  assert.throws(
    () => expand(proxmox('a') + proxmox('b') + vm('c')),
    /no Proxmox connection serves providerConfigRef c; there are a, b/,
  )
})

test('namespaced groups keep their namespace, cluster-wide ones have none', () => {
  const text = vmManifest('vmId: 100').replace('metadata:', 'metadata:\n  namespace: prod')
  assert.equal(only(text).key, 'EnvironmentVM/web-1')
  assert.equal(
    only(text.replace('virtualenvironmentvm.', 'virtualenvironmentvm.proxmoxbpg.m.')).key,
    'EnvironmentVM/prod/web-1',
  )
  assert.equal(
    only(text.replace('virtualenvironmentvm.', 'virtualenvironmentvm.proxmoxbpg.')).key,
    'EnvironmentVM/web-1',
  )
})

test('[R9] a file is not replaced unless that is written', () => {
  assert.equal((only(FILE).spec as { forProvider: { overwrite?: boolean } }).forProvider.overwrite, undefined)
  const declaration = only(FILE)
  const expanded = environmentDownloadFile.expand(declaration as never, { all: () => [], declaration: () => undefined })
  assert.deepEqual('role' in expanded && expanded.role === 'resource' ? expanded.desired : expanded, {
    type: 'file',
    file: {
      host: 'pve1',
      storage: 'local',
      content: 'import',
      fileName: 'noble.qcow2',
      url: 'https://example.org/noble.qcow2',
      overwrite: false,
    },
  })
})
