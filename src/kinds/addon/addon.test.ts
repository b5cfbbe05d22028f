import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DEFAULT_POLICY, type Declaration } from '../../model/declaration.ts'
import { addon } from '../addon.ts'
import type { Lookup, ObjectsAt, Part } from '../kind.ts'
import { PRESET_NAMES, PRESETS } from './presets/registry.ts'
import { readObject } from './read-object.ts'
import type { AddonSpec } from './schema.ts'

const FOLDER = new URL('./presets/', import.meta.url)
const PAGE = readFileSync(new URL('../../../docs/addons.md', import.meta.url), 'utf8')

function declared(kind: string, name: string, spec: unknown): Declaration {
  return {
    key: `${kind}/${name}`,
    apiVersion: 'croft.dev/v1alpha1',
    kind,
    name,
    labels: {},
    annotations: {},
    spec,
    policy: DEFAULT_POLICY,
    origin: { file: 'a.yaml', line: 1, column: 1 },
    generation: 'g',
  }
}

function addonOf(name: string, spec: object): Declaration<AddonSpec> {
  return declared('Addon', name, addon.schema.parse({ cluster: 'homelab', ...spec })) as Declaration<AddonSpec>
}

function lookup(addons: readonly Declaration[], places: Readonly<Record<string, ObjectsAt>> = {}): Lookup {
  const all = [declared('Cluster', 'homelab', {}), ...addons]
  return {
    all: (kind) => all.filter((one) => one.kind === kind),
    declaration: (kind, name) => all.find((one) => one.kind === kind && one.name === name),
    objectsAt: (place) => places[place],
  }
}

function partsOf(addons: readonly Declaration<AddonSpec>[], which = 0): readonly Part[] {
  const one = addons[which]
  assert.ok(one)
  const expanded = addon.expand(one, lookup(addons))
  assert.ok('parts' in expanded, JSON.stringify(expanded))
  return expanded.parts
}

const names = (parts: readonly Part[]) => parts.map(({ key }) => key.slice(key.indexOf('@') + 1)).sort()
const needsOf = (parts: readonly Part[], end: string) => parts.find(({ key }) => key.endsWith(end))?.needs ?? []

test('every preset has its file, its line and its place on the page', () => {
  const files = readdirSync(FOLDER)
    .map((name) => name.replace(/\.ts$/, ''))
    .filter((name) => !['names', 'registry', 'preset', 'fields'].includes(name))
  assert.deepEqual(files.sort(), [...PRESET_NAMES].sort())
  for (const name of PRESET_NAMES) {
    assert.equal(PRESETS[name].name, name)
    assert.match(
      PAGE,
      new RegExp(`^\\| \`${name}\` \\| ${PRESETS[name].version} `, 'm'),
      `${name} ${PRESETS[name].version}`,
    )
    const file = readFileSync(new URL(`${name}.ts`, FOLDER), 'utf8')
    assert.ok(file.split('\n').length < 260, `${name} is no short file`)
  }
})

for (const name of PRESET_NAMES) {
  test(`preset ${name}: its example is whole, every object has a name, and its versions are pinned`, () => {
    const parts = partsOf([addonOf(name, { preset: name, with: PRESETS[name].example })])
    assert.ok(parts.length > 0)
    for (const { desired, needs } of parts) {
      assert.ok(desired.type === 'object')
      const { object } = desired.object
      assert.ok('object' in readObject(object, []), JSON.stringify(object))
      assert.ok(needs.includes('Cluster/homelab'))
      assert.doesNotMatch(JSON.stringify(object), /:latest"|"version":"\*"|undefined/)
    }
    assert.equal(new Set(parts.map(({ key }) => key)).size, parts.length)
  })
}

test('a kind and a group are as long as Kubernetes lets them be, and no longer', () => {
  const read = (kind: number, group: number) =>
    'object' in
    readObject({ apiVersion: `${'g'.repeat(group)}/v1`, kind: `K${'i'.repeat(kind - 1)}`, metadata: { name: 'a' } }, [])
  assert.deepEqual([read(63, 253), read(64, 253), read(63, 254)], [true, false, false])
})

const WIDGET = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'w' } }
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: { group: 'example.org', scope: 'Cluster', names: { kind: 'Widget', plural: 'widgets' } },
}
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'hook' } }
const WEBHOOK = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'hook' },
  webhooks: [{ clientConfig: { service: { namespace: 'ns' } }, rules: [{ apiGroups: ['example.org'] }] }],
}

test('[A51] definitions, doors and places come before what needs them, in any order of writing', () => {
  const parts = partsOf([addonOf('a', { namespace: 'ns', objects: [WIDGET, WEBHOOK, DEPLOYMENT, DEFINITION] })])
  assert.deepEqual(names(parts), [
    'CustomResourceDefinition.apiextensions.k8s.io/widgets.example.org',
    'Deployment.apps/ns/hook',
    'Namespace/ns',
    'ValidatingWebhookConfiguration.admissionregistration.k8s.io/hook',
    'Widget.example.org/w',
  ])
  assert.deepEqual(needsOf(parts, 'Widget.example.org/w'), [
    'Addon/a@CustomResourceDefinition.apiextensions.k8s.io/widgets.example.org',
    'Addon/a@Deployment.apps/ns/hook',
    'Cluster/homelab',
  ])
  assert.deepEqual(needsOf(parts, 'Deployment.apps/ns/hook'), ['Addon/a@Namespace/ns', 'Cluster/homelab'])
})

test('[D-15] add-ons that need each other in a circle are refused where the need is written', () => {
  const made = (needs: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(needs).map(([name, own]) =>
      addonOf(name, { objects: [{ ...DEPLOYMENT, metadata: { name } }], needs: own }),
    )
  const told = (needs: Readonly<Record<string, readonly string[]>>) => {
    const addons = made(needs)
    return addons.flatMap((one) => {
      const expanded = addon.expand(one, lookup(addons))
      return 'problems' in expanded
        ? expanded.problems.map(({ code, path, message }) => `${one.name} ${code} ${path.join('.')} ${message}`)
        : []
    })
  }
  const why = 'these need each other in a circle, and none can be first:'
  assert.deepEqual(told({ a: ['b'], b: ['c'], c: [], d: ['a', 'c'] }), [])
  assert.deepEqual(told({ a: ['a'] }), [`a circle spec.needs.0 ${why} a → a`])
  assert.deepEqual(told({ x: [], a: ['x', 'b'], b: ['c'], c: ['a'], d: ['a'] }), [
    `a circle spec.needs.1 ${why} a → b → c → a`,
    `b circle spec.needs.0 ${why} b → c → a → b`,
    `c circle spec.needs.0 ${why} c → a → b → c`,
  ])
})

test('an add-on waits for the workloads of those it needs, and a namespace belongs to one of them', () => {
  const addons = [
    addonOf('b', {
      namespace: 'ns',
      needs: ['a'],
      objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }],
    }),
    addonOf('a', { namespace: 'ns', objects: [DEPLOYMENT] }),
  ]
  assert.deepEqual(names(partsOf(addons, 0)), ['ConfigMap/ns/c'])
  assert.deepEqual(names(partsOf(addons, 1)), ['Deployment.apps/ns/hook', 'Namespace/ns'])
  assert.deepEqual(needsOf(partsOf(addons, 0), 'ConfigMap/ns/c'), [
    'Addon/a@Deployment.apps/ns/hook',
    'Addon/a@Namespace/ns',
    'Cluster/homelab',
  ])
})

test('what holds data stays unless a person says otherwise', () => {
  const objects = [DEFINITION, DEPLOYMENT]
  const kept = (prune: string) =>
    partsOf([addonOf('a', { namespace: 'ns', objects, prune })])
      .filter(({ as }) => as?.policy.deletion === 'Orphan')
      .map(({ key }) => key.replace(/^.*@(\w+).*$/, '$1'))
      .sort()
  assert.deepEqual(kept('safe'), ['CustomResourceDefinition', 'Namespace'])
  assert.deepEqual(kept('all'), [])
  assert.deepEqual(kept('none'), ['CustomResourceDefinition', 'Deployment', 'Namespace'])
})

test('a chart is a HelmChart of K3s; its secret values are referred to and come first', () => {
  const chart = { repo: 'https://c.example', name: 'x', version: '1.2.3', values: { a: 1 }, valuesFrom: { env: 'V' } }
  const parts = partsOf([addonOf('x', { namespace: 'kube-system', chart })])
  const helm = parts.find(({ key }) => key.includes('HelmChart'))
  assert.ok(helm?.desired.type === 'object')
  assert.deepEqual(helm.desired.object.object.spec, {
    chart: 'x',
    version: '1.2.3',
    repo: 'https://c.example',
    failurePolicy: 'abort',
    targetNamespace: 'kube-system',
    valuesContent: '{\n  "a": 1\n}',
    valuesSecrets: [{ name: 'x-values', keys: ['values.yaml'] }],
  })
  assert.ok(helm.needs.includes('Addon/x@Secret/kube-system/x-values'))
})

test('[A52] the object by which another keeps an add-on comes last, after its secrets', () => {
  const spec = { preset: 'cilium', secrets: [{ name: 's', data: { a: { env: 'A' } } }] }
  for (const [to, kind] of [
    ['argocd', 'Application'],
    ['flux', 'HelmRelease'],
  ] as const) {
    const parts = partsOf([addonOf('cilium', { ...spec, handover: { to } })])
    const keeper = parts.find(({ key }) => key.includes(`@${kind}.`))
    assert.ok(keeper?.desired.type === 'object', to)
    assert.ok(keeper.needs.includes('Addon/cilium@Secret/kube-system/s'))
    const chart = parts.find(({ key }) => key.includes('@HelmChart.'))
    assert.ok(chart?.desired.type === 'object')
    assert.equal(chart.desired.object.handover?.to, to)
    assert.equal(chart.desired.object.handover?.by.kind, kind)
    const secret = parts.find(({ key }) => key.includes('@Secret'))
    assert.ok(secret?.desired.type === 'object')
    assert.equal(secret.desired.object.handover, undefined, 'nobody else has its values')
  }
})

test('manifests come from where the declaration says, and what is not there is told', () => {
  const one = addonOf('a', { path: 'addons/dns' })
  const found = addon.expand(one, lookup([one], { 'addons/dns': { objects: [DEPLOYMENT] } }))
  assert.ok('parts' in found)
  assert.deepEqual(names(found.parts), ['Deployment.apps/default/hook'])
  const lost = addon.expand(one, lookup([one], { 'addons/dns': { problem: 'there is no addons/dns' } }))
  assert.ok('problems' in lost)
  assert.deepEqual(
    lost.problems.map(({ message }) => message),
    ['there is no addons/dns'],
  )
})

test('what is wrong is told at its place', () => {
  const problems = (spec: object) => {
    const one = addonOf('a', spec)
    const expanded = addon.expand(one, lookup([one]))
    const checked =
      addon.check?.(one.spec, {
        apiVersion: '',
        kind: 'Addon',
        metadata: { name: 'a', labels: {}, annotations: {} },
        spec,
      }) ?? []
    return [...checked, ...('problems' in expanded ? expanded.problems : [])].map(
      ({ code, path }) => `${code} ${path.join('.')}`,
    )
  }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } }
  const table: readonly (readonly [object, readonly string[]])[] = [
    [{}, ['no-source spec']],
    [{ objects: [secret] }, ['bad-object spec.objects.0.data']],
    [{ objects: [{ kind: 'X' }] }, ['bad-object spec.objects.0.apiVersion']],
    [{ objects: [DEPLOYMENT, DEPLOYMENT] }, ['object-claimed-twice spec']],
    [{ objects: [DEPLOYMENT], needs: ['b'] }, ['no-addon spec.needs.0']],
    [{ objects: [DEPLOYMENT], with: {} }, ['no-preset spec.with']],
    [{ preset: 'cilium', with: { poolz: [] } }, ['unknown-field spec.with.poolz']],
    [{ objects: [DEPLOYMENT], handover: { to: 'flux' } }, ['no-repository spec.handover']],
    [{ preset: 'cilium', handover: { to: 'flux', path: 'p' } }, ['no-repository spec.handover']],
    [{ preset: 'local-path', handover: { to: 'flux' } }, ['no-repository spec.handover']],
    [{ preset: 'cilium', handover: { to: 'flux' } }, []],
    [{ chart: { name: 'x', version: '1.0.0' } }, ['no-repository spec.chart']],
    [
      { objects: [DEPLOYMENT], ready: [{ kind: 'Deployment', name: 'hook', expression: 'object.a ==' }] },
      ['bad-expression spec.ready.0.expression'],
    ],
  ]
  for (const [spec, expected] of table) assert.deepEqual(problems(spec), expected, JSON.stringify(spec))
})
