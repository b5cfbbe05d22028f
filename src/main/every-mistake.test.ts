import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { load } from './estate.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-every-mistake-'))
after(() => rmSync(root, { recursive: true, force: true }))

const GROUND = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://192.0.2.1:8006", token: {env: PROXMOX_TOKEN}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: alpha}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: nodes}
spec: {cidr: 192.168.4.0/24, ranges: [{from: 192.168.4.80, to: 192.168.4.99}]}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: nodes, gateway: 192.168.4.1, dns: {servers: [192.168.4.1]}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://example.org/noble.img", fileName: noble.qcow2, storage: files, checksum: "sha256:${'a'.repeat(64)}"}
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: server}
spec: {cpu: {cores: 2}, memory: 4Gi, disks: [{size: 40Gi, image: noble, storage: fast}]}
`

const own = (kind: string, name: string, spec: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const all = (...documents: readonly string[]) => documents.join('---\n')
const cluster = (fields: string) => own('Cluster', 'home', `{network: lan, class: server, ${fields}}`)
const GRAPH = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: g}
spec:
  schema: {apiVersion: v1alpha1, kind: Web, spec: {n: string}}
  resources:
    - id: a
      template: {apiVersion: croft.dev/v1alpha1, kind: Machine, metadata: {name: "\${schema.spec.nn}"}, spec: {class: server, host: alpha}}
`

let made = 0

/** Returns all problems of these files: code, object, field. */
async function said(files: Readonly<Record<string, string>>, severity = 'error'): Promise<readonly string[]> {
  const directory = join(root, String(made++))
  for (const [name, text] of Object.entries({ 'ground.yaml': GROUND, ...files })) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  const { estate } = await load(directory)
  return estate.problems
    .filter((one) => one.severity === severity)
    .map(({ code, object, field }) => [code, object ?? '-', field ?? '-'].join(' '))
    .sort()
}

test('ten mistakes of ten phases in one directory are all in the first answer', async () => {
  const found = await said({
    'syntax.yaml': own('Machine', 'm1', '{class: "server}'),
    'kind.yaml': own('AddOn', 'metrics', '{cluster: home}'),
    'kustomization/kustomization.yaml': 'resources: [absent.yaml]\n',
    'graph.yaml': GRAPH,
    'twice.yaml': all(
      own('Machine', 'm6', '{class: server, host: alpha}'),
      own('Machine', 'm6', '{class: server, host: alpha}'),
    ),
    'circle.yaml': all(
      own('Machine', 'm4', '{class: server, host: alpha, dependsOn: [Machine/m5]}'),
      own('Machine', 'm5', '{class: server, host: alpha, dependsOn: [Machine/m4]}'),
    ),
    'boot.yaml': own('Machine', 'm9', '{class: server, host: alpha, userData: "#cloud-config\\nruncmd: 7\\n"}'),
    // An unknown field, an unknown release, an unknown host: three phases of one object.
    'home.yaml': cluster('colour: red, version: v1.99, servers: [{name: a, host: alphaa}]'),
  })
  const phases = {
    writing: /^yaml-syntax /,
    kind: /^unknown-kind /,
    kustomization: /^\S+ - -$|^kustom\S* /,
    graph: /^bad-expression /,
    assembly: /^duplicate-object Machine\/m6 /,
    order: /^dependency-circle Machine\/m4 /,
    'first boot': /^bad-user-data Machine\/m9 /,
    schema: /^unknown-field Cluster\/home spec.colour/,
    'across fields': /^bad-value Cluster\/home spec.version/,
    reference: /^unknown-reference Cluster\/home spec.servers\[0\].host/,
  }
  for (const [phase, line] of Object.entries(phases))
    assert.ok(
      found.some((one) => line.test(one)),
      `${phase}: ${found.join('\n')}`,
    )
})

test('what hides behind a mistake of the same object is said with it', async () => {
  const table: readonly (readonly [files: Readonly<Record<string, string>>, errors: readonly string[]])[] = [
    [
      { 'a.yaml': own('Machine', 'web', '{clas: server, class: none, host: nowhere}') },
      [
        'unknown-field Machine/web spec.clas',
        'unknown-reference Machine/web spec.class',
        'unknown-reference Machine/web spec.host',
      ],
    ],
    // A misspelt name is taken for the nearest one.
    [
      { 'a.yaml': own('Machine', 'web', '{class: server, hots: nowhere}') },
      ['missing-field Machine/web spec.host', 'unknown-field Machine/web spec.hots'],
    ],
    // The connection is wrong: its resources are still judged.
    [
      {
        'a.yaml': all(
          own('Proxmox', 'second', '{endpoint: "https://192.0.2.2:8006", token: {env: T}, colour: red}'),
          own(
            'Host',
            'beta',
            '{connection: second, bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-lvm, files: local}}}',
          ),
          own('Machine', 'web', '{class: server, host: beta, disks: [{size: 1Gi, storage: none}]}'),
        ),
      },
      [
        'unbound Machine/web spec.disks[0].storage',
        'unknown-connection Machine/web spec.host',
        'unknown-field Proxmox/second spec.colour',
      ],
    ],
    [
      {
        'a.yaml': all(
          own('Machine', 'm6', '{class: none, host: alpha}'),
          own('Machine', 'm6', '{class: server, host: alpha}'),
        ),
      },
      ['duplicate-object Machine/m6 metadata.name', 'unknown-reference Machine/m6 spec.class'],
    ],
  ]
  for (const [files, errors] of table) assert.deepEqual(await said(files), errors)
})

test('one mistake is one message: nothing is said of what only it leads to', async () => {
  const table: readonly (readonly [text: string, errors: readonly string[]])[] = [
    [
      cluster('version: v1.34.3+k3s1, servers: [{name: a, host: alpha}], endpoint: 192.168.4.9'),
      ['wrong-type Cluster/home spec.endpoint'],
    ],
    [cluster('version: 1, servers: [{name: a, host: alpha}]'), ['bad-value Cluster/home spec.version']],
    [own('Machine', 'web', '{class: 7, host: alpha}'), ['wrong-type Machine/web spec.class']],
    [own('Machine', 'web', '{class: server}'), ['missing-field Machine/web spec.host']],
    [own('Machine', 'web', '{class: server, host: alpha, memory: 3}'), ['wrong-type Machine/web spec.memory']],
    [
      all(
        own('MachineClass', 'large', '{cpu: {cores: two}, memory: 4Gi}'),
        own('Machine', 'web', '{class: server, host: alpha}'),
      ),
      ['wrong-type MachineClass/large spec.cpu.cores'],
    ],
  ]
  for (const [text, errors] of table) assert.deepEqual(await said({ 'a.yaml': text }), errors, text)
})
