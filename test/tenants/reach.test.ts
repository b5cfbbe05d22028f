import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkRevision } from '../../src/controller/sources/link-revision.ts'
import { mergeRevisions } from '../../src/controller/sources/merge.ts'
import { type Grant, NOTHING_GRANTED } from '../../src/model/grant.ts'
import { GRANTABLE } from '../../src/plan/grants.ts'
import { readTexts } from '../../src/source/testing/fixture.ts'
import { NAMES_NOTHING, NAMING, type NamingField, normal, stringFields, withValue } from './reach.ts'

const grant: Grant = {
  ...NOTHING_GRANTED,
  source: 'lab',
  kinds: GRANTABLE,
  names: ['lab-*'],
  connections: ['default', 'cluster/prod'],
  hosts: ['cow'],
  pools: ['lab'],
  storages: ['local'],
  networks: ['vmbr0'],
  templates: ['Image/noble', '9000', 'local:vztmpl/*'],
  vmids: { from: 500, to: 519 },
  secrets: ['env:LAB_*'],
  egress: ['lab.example'],
  quota: { objects: 100_000 },
}

const proxmox = (name: string) => `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: ${name}}
spec: {endpoint: "https://${name}.example:8006", token: {env: TOKEN}}
---
`
const host = (name: string, connection = 'default') => `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec: {connection: ${connection}, bindings: {networks: {lan: {bridge: vmbr0}, dmz: {bridge: vmbr9}}, storages: {fast: local, vault9: vault9}}}
---
`
const image = (name: string) => `apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: ${name}}
spec: {url: "https://images.example/${name}.qcow2", storage: fast, checksum: "sha256:${'a'.repeat(64)}"}
---
`
const device = (id: string) => `apiVersion: croft.dev/v1alpha1
kind: Device
metadata: {name: boss-device-${id}}
spec: {host: cow, pci: {id: "10de:1234", address: "0000:0${id}:00.0"}}
---
`
const ADMIN = {
  'admin.yaml': `${proxmox('default')}${proxmox('bank')}${host('cow')}${host('bull')}${host('safe', 'bank')}${image('noble')}${image('golden')}apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: prod}
spec: {type: existing, inCluster: true}
---
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: bank}
spec: {type: existing, inCluster: true}
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: boss-class}
spec: {cpu: {cores: 1}, memory: 1Gi, disks: [{size: 10Gi, image: golden, storage: vault9}], userData: {bootcmd: [{valueFrom: {env: BOSS_SECRET}}]}}
---
${['0', '8', '9'].map(device).join('')}apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: nodes}
spec: {cidr: 10.0.0.0/8, ranges: [{from: 10.9.0.1, to: 10.9.255.254}]}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: nodes, gateway: 10.0.0.1}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: dmz}
spec: {addressPool: nodes, gateway: 10.0.0.1}
---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: boss-db}
spec: {host: cow, cpu: {cores: 1}, memory: 1Gi, disks: [{size: 10Gi, image: noble, storage: fast}], networks: [{network: lan, address: dhcp}]}
`,
  'bossapps/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bossapps, namespace: boss}\n',
}

const machine = {
  proxmox: { pool: 'lab' },
  cpu: { cores: 1 },
  memory: '1Gi',
  disks: [{ size: '10Gi', image: 'noble', storage: 'fast' }],
}
const crossplane = (kind: string, forProvider: object) => ({
  apiVersion: `virtual${kind.toLowerCase()}.crossplane.io/v1alpha1`,
  kind,
  metadata: {},
  spec: { forProvider },
})
const BASES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Machine: {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Machine',
    metadata: {},
    spec: { host: 'cow', ...machine, networks: [{ network: 'lan', address: '10.4.N' }] },
  },
  EnvironmentVM: crossplane('EnvironmentVM', {
    nodeName: 'cow',
    name: 'vm',
    poolId: 'lab',
    disk: [{ interface: 'scsi0', datastoreId: 'local', size: 10 }],
    networkDevice: [{ bridge: 'vmbr0' }],
    initialization: [{ datastoreId: 'local', userAccount: [{ username: 'u' }] }],
  }),
  EnvironmentContainer: crossplane('EnvironmentContainer', {
    nodeName: 'cow',
    poolId: 'lab',
    unprivileged: true,
    operatingSystem: [{ templateFileId: 'local:vztmpl/debian.tar.zst' }],
    disk: [{ datastoreId: 'local', size: 10 }],
    networkInterface: [{ bridge: 'vmbr0', name: 'eth0' }],
  }),
  Cluster: {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Cluster',
    metadata: {},
    spec: {
      version: 'v1.34.3+k3s1',
      endpoint: { vip: '10.1.N', kubeVip: { version: 'v1.0.3' } },
      network: 'lan',
      servers: [{ name: 'lab-s-ID', host: 'cow', address: '10.2.N', ...machine }],
      agents: [{ name: 'lab-a-ID', host: 'cow', address: '10.3.N', ...machine }],
    },
  },
  Addon: {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Addon',
    metadata: {},
    spec: {
      cluster: 'prod',
      namespace: 'lab',
      objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c-ID' } }],
    },
  },
}

function estateOf(files: Readonly<Record<string, string>>, held: boolean) {
  const lab = { source: 'lab', revision: readTexts(files), ...(held ? { grant } : {}) }
  return linkRevision(mergeRevisions([lab, { source: 'admin', revision: readTexts(ADMIN) }]))
}

interface Attack extends NamingField {
  readonly id: number
}
const ATTACKS: readonly Attack[] = NAMING.map((field, id) => ({ ...field, id }))

/** The manifest of an attack, without names and addresses that two may not have. */
function manifestOf({ id, ...field }: Attack, value = field.value) {
  const { spec: common, ...base }: Readonly<Record<string, unknown>> = BASES[field.kind] ?? {}
  const kept = Object.entries(common as object).filter(([name]) => field.without?.includes(name) !== true)
  const spec = Object.fromEntries(kept) as { readonly forProvider?: object }
  // What is given to a new guest alone counts where nothing else is said.
  const initial = field.path.startsWith('spec.initProvider') ? { forProvider: {}, initProvider: spec.forProvider } : {}
  const whole = { ...base, metadata: { name: `lab-${id}` }, spec: { ...spec, ...initial, ...field.spec } }
  const text = JSON.stringify(withValue(whole, { ...field, value }))
  return text.replaceAll('ID', `i${id}`).replaceAll(/(10\.\d)\.N/g, `$1.1.${id + 1}`)
}

const cel = (expression: string) => `\${${expression}}`
const HOLE = 'in-place-of-it'
const texts = (...documents: readonly unknown[]) => documents.map((one) => JSON.stringify(one)).join('\n---\n')

/** Ways in which a value gets into a field, each as the files of one attack. */
const WAYS: Readonly<Record<string, (attack: Attack) => Readonly<Record<string, string>>>> = {
  'written there': (attack) => ({ 'a.yaml': manifestOf(attack) }),
  'by an expression': (attack) => ({
    'a.yaml': texts(
      {
        apiVersion: 'kro.run/v1alpha1',
        kind: 'ResourceGraphDefinition',
        metadata: { name: `g${attack.id}` },
        spec: {
          schema: { apiVersion: 'v1alpha1', kind: `G${attack.id}`, spec: { v: 'string' } },
          resources: [{ id: 'it', template: JSON.parse(manifestOf(attack, cel('schema.spec.v'))) as unknown }],
        },
      },
      {
        apiVersion: 'kro.run/v1alpha1',
        kind: `G${attack.id}`,
        metadata: { name: `i${attack.id}` },
        spec: { v: attack.value },
      },
    ),
  }),
  'by a patch': (attack) => {
    const names = { kind: `P${attack.id}`, plural: `p${attack.id}s` }
    const toFieldPath = attack.path.replaceAll('[]', '[0]').replaceAll('*', 'any')
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: { v: { type: 'string' } } } } }
    return {
      'a.yaml': texts(
        {
          apiVersion: 'apiextensions.crossplane.io/v1',
          kind: 'CompositeResourceDefinition',
          metadata: { name: `${names.plural}.lab.example` },
          spec: {
            group: 'lab.example',
            names,
            versions: [{ name: 'v1', served: true, referenceable: true, schema: { openAPIV3Schema: schema } }],
          },
        },
        {
          apiVersion: 'apiextensions.crossplane.io/v1',
          kind: 'Composition',
          metadata: { name: `c${attack.id}` },
          spec: {
            compositeTypeRef: { apiVersion: 'lab.example/v1', kind: names.kind },
            resources: [
              {
                name: 'it',
                base: JSON.parse(manifestOf(attack, HOLE)) as unknown,
                patches: [{ fromFieldPath: 'spec.v', toFieldPath }],
              },
            ],
          },
        },
        {
          apiVersion: 'lab.example/v1',
          kind: names.kind,
          metadata: { name: `x${attack.id}` },
          spec: { v: attack.value },
        },
      ),
    }
  },
  'by kustomize': (attack) => ({
    'base.yaml': manifestOf(attack, HOLE),
    'kustomization.yaml': JSON.stringify({ resources: ['base.yaml'], patches: [{ patch: manifestOf(attack) }] }),
  }),
}

/** What is said of each attack, when all are made at once. */
function judged(files: (attack: Attack) => Readonly<Record<string, string>>, held: boolean) {
  const tree = ATTACKS.flatMap((attack) =>
    Object.entries(files(attack)).map(([name, text]) => [`t${attack.id}/${name}`, text] as const),
  )
  const estate = estateOf(Object.fromEntries(tree), held)
  const errors = estate.problems.filter(({ severity }) => severity === 'error')
  const codes = Map.groupBy(errors, ({ origin }) => Number(/\bt(\d+)\//.exec(origin.file)?.[1]))
  return (id: number) => (codes.get(id) ?? []).map(({ code, message }) => `${code}: ${message}`)
}

for (const [way, files] of Object.entries(WAYS))
  test(`[S-37] a value outside of the grant is refused in every field that names something: ${way}`, () => {
    const [free, held] = [judged(files, false), judged(files, true)]
    const named = ATTACKS.map(({ id, kind, path }) => ({ what: `${kind} ${path}`, free: free(id), held: held(id) }))
    assert.deepEqual(
      named.filter((one) => one.free.length > 0).map(({ what, free: said }) => [what, said]),
      [],
      'without a grant each is accepted: otherwise it proves nothing',
    )
    assert.deepEqual(
      named
        .filter((one) => !one.held.some((said) => said.startsWith('outside-grant')))
        .map(({ what, held: said }) => [what, said]),
      [],
    )
  })

test('[S-37] each string field of a kind that may be granted is known to name something or nothing', () => {
  const naming = new Set(NAMING.map(({ kind, path }) => `${kind} ${normal(path)}`))
  const unknown = GRANTABLE.flatMap((kind) =>
    stringFields(kind)
      .filter(
        (path) => !naming.has(`${kind} ${normal(path)}`) && !NAMES_NOTHING.some(([field]) => field.test(normal(path))),
      )
      .map((path) => `${kind} ${normal(path)}`),
  )
  assert.deepEqual([...new Set(unknown)], [])
})
