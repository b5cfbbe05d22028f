import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { missingSecrets } from '../src/controller/checks/secret-check.ts'
import { linkRevision } from '../src/controller/sources/link-revision.ts'
import { mergeRevisions } from '../src/controller/sources/merge.ts'
import { secretReference } from '../src/kinds/fields/ssh.ts'
import { writtenSecrets } from '../src/kinds/fields/written-references.ts'
import { userData } from '../src/kinds/machines/fields.ts'
import { KINDS } from '../src/kinds/registry.ts'
import type { Revision } from '../src/source/git/revision.ts'
import { errorsOf, readTexts } from '../src/source/testing/fixture.ts'

// A reference to a secret stands where a schema has one. Everywhere else `{env: x}` is a map of a person, and stays one.

interface FreeMap {
  readonly kind: string
  /** `agents`, `[]`, `labels`: from the spec to the map. */
  readonly path: readonly string[]
  readonly schema: z.ZodType
  /** Goes anywhere as it is written: every tree fits. */
  readonly tree: boolean
}

/** Every map of a kind whose keys a person chooses, found by looking into its schema. */
function freeMaps(kind: string, schema: z.core.$ZodType, path: readonly string[]): readonly FreeMap[] {
  if (schema === secretReference) return []
  if (schema === userData) return [{ kind, path, schema: userData, tree: true }]
  const def = schema._zod.def as unknown as Record<string, unknown> & { readonly type: string }
  const into = (inner: unknown, ...more: readonly string[]) =>
    freeMaps(kind, inner as z.core.$ZodType, [...path, ...more])
  switch (def.type) {
    case 'object':
      return Object.entries((schema as z.ZodObject).shape).flatMap(([name, inner]) => into(inner, name))
    case 'record': {
      const tree = (def.valueType as z.core.$ZodType)._zod.def.type === 'unknown'
      return [{ kind, path, schema: schema as z.ZodType, tree }, ...into(def.valueType, '{}')]
    }
    case 'array':
      return into(def.element, '[]')
    case 'union':
      return (def.options as readonly unknown[]).flatMap((option) => into(option))
    case 'pipe':
      return [def.in, def.out].flatMap((inner) => into(inner))
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
      return into(def.innerType)
    case 'string':
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'unknown':
    case 'transform':
      return []
    default:
      throw new Error(`${kind}.${path.join('.')}: a ${def.type} is not looked into`)
  }
}

const maps = KINDS.flatMap(({ kind, schema }) => freeMaps(kind, schema, []))

/** What a text, a number or a block of somebody may be, until one fits. */
const VALUES: readonly unknown[] = [
  'production',
  '/etc/app.conf',
  '1',
  1,
  { bridge: 'vmbr0' },
  { endpoint: ['https://mirror.example'] },
  { auth: { env: 'A' } },
]
const TREES: readonly Readonly<Record<string, unknown>>[] = [
  { env: 'production' },
  { file: '/etc/app.conf' },
  { vault: { path: 'a', key: 'b' } },
  { vault: { mount: 'secret', path: 'a', key: 'b' } },
  { secretRef: { name: 'a', key: 'b' } },
  { sops: { file: 'a.yaml', key: 'b' } },
  { onePassword: { vault: 'a', item: 'b', field: 'c' } },
]

/** What is put in the place of a map: everything that looks like a reference, as far as the map takes it. */
function fillings({ schema, tree }: FreeMap): readonly Readonly<Record<string, unknown>>[] {
  if (tree) return [...TREES, ...TREES.map((one) => ({ deeper: [{ inner: one }] }))]
  return ['env', 'file', 'vault'].flatMap((key) =>
    VALUES.map((value) => ({ [key]: value }))
      .filter((one) => schema.safeParse(one).success)
      .slice(0, 2),
  )
}

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
/** A manifest of each kind in which every one of its maps has a place. Provider kinds are filled in below. */
const SPECS: Readonly<Record<string, readonly object[]>> = {
  Host: [{ bindings: { networks: { lan: { bridge: 'vmbr0' } }, storages: { fast: 'local' } } }],
  HostConfig: [
    {
      hosts: { labels: {} },
      sysctl: {},
      zpools: [{ name: 'tank', vdevs: [{ devices: ['/dev/disk/by-id/ata-A'] }], properties: {} }],
      datasets: [{ name: 'tank/a', properties: {} }],
    },
  ],
  Machine: [{ host: 'pve1', cpu: { cores: 1 }, memory: '1Gi', placement: { labels: {} }, userData: {} }],
  MachineClass: [{ userData: {} }],
  Cluster: [
    {
      version: 'v1.34.3+k3s1',
      servers: [{ machine: 'Host/pve1', labels: {}, flags: {} }],
      agents: [{ machine: 'Host/pve2', labels: {}, flags: {} }],
      registries: { mirrors: { 'docker.io': { endpoint: ['https://mirror.example'], rewrite: {} } }, configs: {} },
      serverFlags: {},
      nodeFlags: {},
      labels: {},
      checksums: {},
      userData: {},
    },
  ],
  Addon: [
    {
      cluster: 'lab',
      namespace: 'a',
      objects: [object],
      secrets: [{ name: 'a', labels: {}, annotations: {}, data: { token: { env: 'A' } } }],
    },
    {
      cluster: 'lab',
      namespace: 'a',
      chart: { repo: 'https://charts.example', name: 'a', version: '1.0.0', values: {} },
      chartConfig: { name: 'traefik', values: {} },
    },
    { cluster: 'lab', preset: 'cert-manager', with: {}, values: {} },
  ],
  Power: [{ cluster: 'lab', tiers: [{ tier: 'apps', labels: {} }] }],
  ProxmoxAcmePlugin: [{ api: 'cf', data: {} }],
}

/** The same with a filling in its place; an object of a cluster keeps what makes it one. */
function filled(spec: unknown, path: readonly string[], filling: object): unknown {
  const [step, ...rest] = path
  if (step === undefined) return { ...(spec as object), ...filling }
  if (step === '[]') return [filled((spec as readonly unknown[] | undefined)?.[0] ?? {}, rest, filling)]
  const inner = (spec ?? {}) as Readonly<Record<string, unknown>>
  const name = step === '{}' ? (Object.keys(inner)[0] ?? 'a') : step
  return { ...inner, [name]: filled(inner[name], rest, filling) }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test('schemas of all kinds have the maps that are filled here', () => {
  assert.ok(maps.length > 80, String(maps.length))
  assert.deepEqual(
    maps.filter((one) => fillings(one).length === 0).map(({ kind, path }) => `${kind}.${path.join('.')}`),
    ['HostConfig.sysctl', 'Cluster.checksums', 'Addon.secrets.[].data'],
    'these take no map that looks like a reference',
  )
})

for (const { kind } of KINDS) {
  const own = maps.filter((one) => one.kind === kind && fillings(one).length > 0)
  if (own.length === 0) continue
  test(`${kind}: ${own.length} maps of a person stay maps, and none is a secret`, () => {
    for (const map of own)
      for (const filling of fillings(map))
        for (const base of SPECS[kind] ?? [{}]) {
          const hint = `${kind}.${map.path.join('.')} ${JSON.stringify(filling)}`
          const named = writtenSecrets(kind, filled(base, map.path, filling))
          // `A` is what this test names as a secret itself.
          assert.deepEqual(
            named.map(plain).filter((one) => JSON.stringify(one) !== '{"env":"A"}'),
            [],
            hint,
          )
        }
  })
}

const manifest = (kind: string, name: string, spec: unknown) =>
  JSON.stringify({ apiVersion: findVersion(kind), kind, metadata: { name }, spec })

function findVersion(name: string): string {
  return KINDS.find(({ kind }) => kind === name)?.apiVersion ?? ''
}

/** What the others need to be valid. */
const AROUND: Readonly<Record<string, string>> = {
  'proxmox.json': manifest('Proxmox', 'default', { endpoint: 'https://192.168.4.2:8006', token: { env: 'TOKEN' } }),
  'lab.json': manifest('Cluster', 'lab', { type: 'existing', kubeconfig: { env: 'KUBECONFIG' } }),
}

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
const box = (name: string, address: string) =>
  manifest('Host', name, { connection: 'default', ssh: { address, hostKeys: [HOST_KEY] } })
const HOSTS = { 'pve1.json': box('pve1', '192.168.4.11'), 'pve2.json': box('pve2', '192.168.4.12') }
const OTHER = readTexts({ 'pool.json': manifest('ProxmoxPool', 'other', {}) })

for (const [kind, bases] of Object.entries(SPECS)) {
  test(`${kind}: plan and run read what is written, and nothing waits for a secret`, async () => {
    let read = 0
    for (const map of maps.filter((one) => one.kind === kind))
      for (const base of bases.filter((one) => has(one, map.path)))
        for (const filling of fillings(map)) {
          const hint = `${kind}.${map.path.join('.')} ${JSON.stringify(filling)}`
          const revision = readTexts({
            ...AROUND,
            ...HOSTS,
            'a.json': manifest(kind, 'a', filled(base, map.path, filling)),
          })
          const estate = linkRevision(revision)
          const errors = [...errorsOf(revision), ...estate.problems.filter(({ severity }) => severity === 'error')]
          // User data and options of a preset have words of their own: others are refused aloud, where they stand. No chart
          // is fetched here.
          for (const { field = '', message } of errors)
            assert.match(
              `${field} ${message}`,
              /userData|\.with|chartConfig is for charts that K3s|no file or directory chart/,
              hint,
            )
          const merged = mergeRevisions([
            { source: 'home', revision },
            { source: 'other', revision: OTHER },
          ])
          assert.deepEqual(specIn(merged), specIn(revision), hint)
          if (errors.length > 0) continue
          read++
          const missing = await missingSecrets(estate, () => Promise.reject(new Error('not set')))
          const own = missing.flatMap(({ key = '', message }) =>
            key.startsWith(`${kind}/`) ? [`${key} ${message}`] : [],
          )
          assert.deepEqual(own, 'secrets' in base ? ['Addon/a@Secret/a/a not set'] : [], hint)
        }
    assert.ok(read > 0)
  })
}

/** Has a manifest a place for this map? */
function has(spec: unknown, path: readonly string[]): boolean {
  const [step, ...rest] = path
  if (step === undefined) return true
  const inner = (spec ?? {}) as Readonly<Record<string, unknown>>
  const next = step === '[]' || step === '{}' ? Object.values(inner)[0] : inner[step]
  return next !== undefined && has(next, rest)
}

function specIn({ declarations }: Pick<Revision, 'declarations'>): unknown {
  return plain(declarations.find(({ name }) => name === 'a')?.spec ?? null)
}
