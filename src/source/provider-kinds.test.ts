import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { stalePages } from '../../scripts/kind-pages.ts'
import { ofOthers, readOfOthers, WITHOUT_EVIDENCE } from '../../test/evidence/of-others.ts'
import { knownFields } from '../kinds/fields/explain.ts'
import type { Lookup } from '../kinds/kind.ts'
import { findKind, KINDS } from '../kinds/registry.ts'
import { yamlLibrary } from '../lib/yaml-library.ts'
import type { SettingSpec } from '../model/rest.ts'
import { errorsOf, readText, told } from './testing/fixture.ts'

interface Property {
  readonly properties?: Readonly<Record<string, Property>>
  readonly items?: Property
}

interface Crd {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Property } }[]
  }
}

const skip = WITHOUT_EVIDENCE
const crds: readonly Crd[] =
  skip !== false
    ? []
    : readdirSync(ofOthers('crossplane-crds'))
        .filter((name) => name.startsWith('virtual'))
        .map((name) => yamlLibrary().parse(readOfOthers(`crossplane-crds/${name}`)) as Crd)

/** Kinds without an implementation. */
const LATER: readonly string[] = []

function fieldsOf(kind: string, part: string): readonly string[] {
  const found = KINDS.find((candidate) => candidate.kind === kind)
  return found === undefined ? [] : knownFields(found.schema, [part])
}

test('all 29 managed kinds of the provider are known in both groups and both scopes', { skip }, () => {
  assert.equal(crds.length, 29)
  for (const { spec } of crds) {
    const { kind } = spec.names
    if (LATER.includes(kind)) continue
    const first = spec.group.split('.')[0] ?? ''
    for (const group of [
      spec.group,
      `${first}.crossplane.io`,
      `${first}.m.crossplane.io`,
      `${first}.proxmoxbpg.m.crossplane.io`,
    ])
      for (const { name } of spec.versions)
        assert.equal(findKind(`${group}/${name}`, kind)?.kind, kind, `${group} ${kind}`)
    assert.equal(findKind(`${spec.group}/v9`, kind), undefined)
  }
})

for (const { spec } of crds.filter(({ spec: { names } }) => !LATER.includes(names.kind))) {
  test(`every field of ${spec.names.kind} is known, and no other`, () => {
    const crd = spec.versions[0]?.schema.openAPIV3Schema.properties?.spec
    const theirs = Object.keys(crd?.properties?.forProvider?.properties ?? {})
    const selectors = (name: string) => /(?:Ref|Selector)$/.test(name) && !name.endsWith('SecretRef')
    assert.deepEqual(
      theirs.filter((name) => !selectors(name) && !fieldsOf(spec.names.kind, 'forProvider').includes(name)),
      [],
    )
    if (spec.names.kind === 'EnvironmentVM') return
    assert.deepEqual(
      fieldsOf(spec.names.kind, 'forProvider').filter((name) => !theirs.includes(name)),
      [],
    )
    for (const part of Object.keys(crd?.properties ?? {}))
      assert.ok(
        knownFields(KINDS.find((one) => one.kind === spec.names.kind)?.schema as never, []).includes(part),
        part,
      )
  })
}

function settings(text: string): readonly SettingSpec[] {
  const revision = readText(text)
  assert.deepEqual(told(errorsOf(revision)), [])
  const lookup: Lookup = {
    all: (kind) => revision.declarations.filter((one) => one.kind === kind),
    declaration: (kind, name) => revision.declarations.find((one) => one.kind === kind && one.name === name),
  }
  return revision.declarations.flatMap((declaration) => {
    const expanded = findKind(declaration.apiVersion, declaration.kind)?.expand(declaration, lookup)
    assert.ok(expanded !== undefined && 'role' in expanded, JSON.stringify(expanded))
    const parts = expanded.role === 'resources' ? expanded.parts : expanded.role === 'resource' ? [expanded] : []
    return parts.flatMap(({ desired }) => (desired.type === 'setting' ? [desired.setting] : []))
  })
}

function manifest(group: string, kind: string, fields: string): string {
  return `apiVersion: ${group}.crossplane.io/v1alpha1\nkind: ${kind}\nmetadata: {name: x}\nspec:\n  forProvider: ${fields}\n`
}

const SAME: readonly (readonly [string, string, string])[] = [
  [
    'a pool',
    manifest('virtualenvironmentpool', 'EnvironmentPool', '{poolId: web, comment: c}'),
    'kind: ProxmoxPool\nspec: {id: web, comment: c}',
  ],
  [
    'HA groups with priorities',
    manifest('virtualenvironmenthagroup', 'EnvironmentHagroup', '{group: g, nodes: {a: 2, b: null}}'),
    'kind: ProxmoxHaGroup\nspec: {id: g, hosts: ["a:2", b]}',
  ],
  [
    'a HA resource by its number',
    manifest('virtualenvironmentharesource', 'EnvironmentHaresource', '{resourceId: "108", state: started}'),
    'kind: ProxmoxHaResource\nspec: {id: "vm:108", state: started}',
  ],
  [
    'firewall rules, list-shaped',
    manifest(
      'virtualenvironmentfirewallrules',
      'EnvironmentFirewallRules',
      '{nodeName: a, vmId: 108, rule: [{type: in, action: ACCEPT, dport: "22", proto: tcp}, {securityGroup: web}]}',
    ),
    'kind: ProxmoxFirewallRules\nspec: {host: a, vmid: 108, rules: [{type: in, action: ACCEPT, destinationPort: "22", protocol: tcp}, {group: web}]}',
  ],
  [
    'a bridge starts with its host by default',
    manifest(
      'virtualenvironmentnetworklinuxbridge',
      'EnvironmentNetworkLinuxBridge',
      '{nodeName: a, name: vmbr1, vlanAware: true, vids: "2-10 20"}',
    ),
    'kind: ProxmoxBridge\nspec: {host: a, id: vmbr1, autostart: true, vlanAware: true, vids: [2-10, "20"]}',
  ],
]

for (const [what, theirs, ours] of SAME) {
  test(`the provider's form and ours mean the same: ${what}`, () => {
    const [kind = '', rest = ''] = ours.split('\n')
    const own = `apiVersion: croft.dev/v1alpha1\n${kind}\nmetadata: {name: x}\n${rest}\n`
    assert.deepEqual(settings(theirs), settings(own))
  })
}

test('a user brings its own access, and a secret stays a reference', () => {
  const [user, access] = settings(
    manifest(
      'virtualenvironmentuser',
      'EnvironmentUser',
      '{userId: ann@pve, expirationDate: "2030-01-01T00:00:00Z", passwordSecretRef: {name: s, namespace: n, key: p}, acl: [{path: /vms, roleId: PVEVMUser, propagate: true}]}',
    ),
  )
  assert.deepEqual(user?.fields.password, { secretRef: { name: 's', namespace: 'n', key: 'p' } })
  assert.equal(access?.id, '/vms ann@pve PVEVMUser')
})

test('fields that do not map give a warning, unknown ones an error with a hint', () => {
  const warned = readText(
    manifest(
      'virtualenvironmentnetworklinuxvlan',
      'EnvironmentNetworkLinuxVlan',
      '{nodeName: a, name: eno1.40, timeoutReload: 5}',
    ),
  )
  assert.match(told(warned.problems).join('\n'), /^not-kept .*timeoutReload/)
  const wrong = readText(manifest('virtualenvironmentpool', 'EnvironmentPool', '{poolid: web}'))
  assert.match(told(errorsOf(wrong)).join('\n'), /did you mean poolId\?/)
  const missing = readText(manifest('virtualenvironmentacl', 'EnvironmentACL', '{path: /, roleId: x}'))
  assert.match(told(errorsOf(missing)).join('\n'), /one of userId, groupId, tokenId is needed/)
})

test('a file without its text or its address is left alone, and said so', () => {
  const read = (fields: string) =>
    readText(manifest('virtualenvironmentfile', 'EnvironmentFile', `{nodeName: a, datastoreId: local, ${fields}}`))
  for (const [fields, says] of [
    ['contentType: snippets', /sourceRaw\.data/],
    ['contentType: iso, sourceFile: [{path: /tmp/a.iso}]', /uploads nothing of type iso/],
    ['contentType: snippets, sourceRaw: [{fileName: a.yaml, data: x}]', /^$/],
    ['contentType: iso, sourceFile: [{path: "https://example.com/a.iso"}]', /^$/],
  ] as const) {
    const revision = read(fields)
    assert.deepEqual(told(errorsOf(revision)), [], fields)
    assert.match(told(revision.problems).join('\n'), says, fields)
  }
  assert.match(told(errorsOf(read('sourceRaw: [{data: x}]'))).join('\n'), /sourceRaw\.fileName is missing/)
})

test('settings wait for what they name', () => {
  const text = [
    'apiVersion: croft.dev/v1alpha1\nkind: ProxmoxUser\nmetadata: {name: ann}\nspec: {id: ann@pve, groups: [ops]}',
    'apiVersion: croft.dev/v1alpha1\nkind: ProxmoxGroup\nmetadata: {name: operators}\nspec: {id: ops}',
    'apiVersion: croft.dev/v1alpha1\nkind: ProxmoxAcl\nmetadata: {name: a}\nspec: {path: /pool/web, user: ann@pve, role: R}',
    manifest('virtualenvironmentpool', 'EnvironmentPool', '{poolId: web}').trimEnd(),
  ].join('\n---\n')
  const revision = readText(text)
  assert.deepEqual(told(errorsOf(revision)), [])
  const lookup: Lookup = {
    all: (kind) => revision.declarations.filter((one) => one.kind === kind),
    declaration: () => undefined,
  }
  const needs = revision.declarations.map((one) => {
    const expanded = findKind(one.apiVersion, one.kind)?.expand(one, lookup)
    return expanded !== undefined && 'role' in expanded && expanded.role === 'resource' ? expanded.needs : undefined
  })
  assert.deepEqual(needs, [['ProxmoxGroup/operators'], [], ['EnvironmentPool/x', 'ProxmoxUser/ann'], []])
})

test('the pages of settings are those that their definitions give', () => {
  assert.deepEqual(stalePages(), [], 'run: node bin/run scripts/kind-pages.ts')
})
