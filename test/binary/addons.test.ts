import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { oneServer } from '../cluster-ground.ts'
import { type Ended, endAll, estateAt, scratch, start, startSimulator } from './children.ts'

/* Add-ons as a person has them: real commands, a simulated cluster behind them. */

after(endAll)

const GROUND = oneServer()

const addons = (replicas: number, chart: string, values: string) => `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: shop}
spec:
  cluster: homelab
  namespace: shop
  path: shop
  secrets: [{name: door, data: {key: {env: DOOR_KEY}}}]
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: podinfo}
spec:
  cluster: homelab
  namespace: podinfo
  chart: {repo: "https://stefanprodan.github.io/podinfo", name: podinfo, version: ${chart}, values: ${values}}
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: widgets}
spec:
  cluster: homelab
  namespace: shop
  objects:
    - {apiVersion: example.org/v1, kind: Widget, metadata: {name: first}, spec: {size: ${replicas}}}
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: widgets.example.org}
      spec:
        group: example.org
        scope: Namespaced
        names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
        versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

/** A Helm whose only chart makes one object of its version and values. */
const HELM = `#!/bin/sh
case $1 in
pull) echo "$6" > "$8/podinfo.tgz" ;;
template) printf 'kind: ConfigMap\\nmetadata: {name: podinfo}\\ndata: {version: "%s", values: %s}\\n' \
  "$(cat "$3")" "'$(tr '\\n' ' ' < "$7" | tr -s ' ')'" ;;
esac
`

interface JsonPreview {
  readonly changes: readonly { readonly path: string }[]
  readonly chart?: { readonly notRendered?: { readonly why: string } }
}

const deployment = (replicas: number, image: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: shop, image: "${image}"}]}
`

function said({ code, stdout, stderr }: Ended): string {
  return `exit ${code}\n${stdout}\n${stderr}`
}

/** The lines of one entry of a printed plan, without their indentation. */
function entryOf(plan: string, key: string): string {
  const lines = plan.split('\n')
  const from = lines.findIndex((line) => line.includes(` ${key} `))
  const to = lines.findIndex((line, index) => index > from && line.trim() === '')
  return lines
    .slice(from + 1, to)
    .map((line) => line.trim())
    .join('\n')
}

test('[R21] [R32] [A51] one host, one node, nothing else to run: one apply on nothing; then each change is shown field by field before it is made', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'hosts', '--speed', '60', '--proxy'], cwd)
  const estate = path.join(cwd, 'estate')
  const write = (replicas: number, image: string, chart: string, values: string) => {
    estateAt(estate, simulator, { 'ground.yaml': GROUND, 'addons.yaml': addons(replicas, chart, values) })
    mkdirSync(path.join(estate, 'shop'), { recursive: true })
    writeFileSync(path.join(estate, 'shop', 'deployment.yaml'), deployment(replicas, image))
    writeFileSync(
      path.join(estate, 'shop', 'kustomization.yaml'),
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [deployment.yaml]\n',
    )
  }
  const { proxy } = simulator as unknown as { readonly proxy: string }
  const env = {
    HOME: path.join(cwd, 'home'),
    PROXMOX_TOKEN: simulator.token,
    DOOR_KEY: 'correct-horse',
    HTTPS_PROXY: proxy,
    CROFT_HELM: path.join(cwd, 'helm'),
  }
  const croft = (...args: readonly string[]) => start(args, { cwd, env }).ended
  writeFileSync(env.CROFT_HELM, HELM, { mode: 0o755 })

  write(1, 'example.org/shop:1', '6.9.1', '{replicaCount: 1, ui: {color: blue}}')
  const empty = await croft('plan', 'estate')
  assert.equal(empty.code, 2, said(empty))
  assert.match(
    empty.stdout,
    /\+ … Addon\/widgets@Widget\.example\.org\/shop\/first /,
    'listed before its kind is known',
  )
  assert.match(entryOf(empty.stdout, 'Addon/widgets@Widget.example.org/shop/first'), /^spec\.size: 1$/m)
  assert.match(
    entryOf(empty.stdout, 'Addon/podinfo@HelmChart.helm.cattle.io/kube-system/podinfo'),
    /^spec\.valuesContent\.ui\.color: blue$/m,
  )

  const applied = await croft('apply', '--yes', 'estate')
  assert.equal(applied.code, 0, said(applied))
  const again = await croft('plan', 'estate')
  assert.equal(again.code, 0, said(again))

  write(3, 'example.org/shop:2', '6.9.2', '{replicaCount: 2, ui: {color: blue}}')
  const changed = await croft('plan', 'estate')
  assert.equal(changed.code, 2, said(changed))
  assert.equal(
    entryOf(changed.stdout, 'Addon/shop@Deployment.apps/shop/shop'),
    [
      'spec.replicas: 1 → 3',
      'spec.template.spec.containers[name=shop].image: example.org/shop:1 → example.org/shop:2',
      '1. apply Deployment.apps/shop/shop',
    ].join('\n'),
    said(changed),
  )
  assert.equal(
    entryOf(changed.stdout, 'Addon/podinfo@HelmChart.helm.cattle.io/kube-system/podinfo'),
    [
      'spec.version: 6.9.1 → 6.9.2',
      'spec.valuesContent.replicaCount: 1 → 2',
      '1. apply HelmChart.helm.cattle.io/kube-system/podinfo',
      'the chart changes 1 of 1 object:',
      '~ ConfigMap/podinfo',
      'data.version: 6.9.1 → 6.9.2',
      'data.values: { "replicaCount": 1, "ui": { "color": "blue" } } → { "replicaCount": 2, "ui": { "color": "blue" } }',
    ].join('\n'),
  )
  rmSync(env.CROFT_HELM)
  const json = await croft('plan', 'estate', '-o', 'json')
  const plan = JSON.parse(json.stdout) as { entries: { key: string; preview?: JsonPreview }[] }
  const preview = plan.entries.find(({ key }) => key.endsWith('Widget.example.org/shop/first'))?.preview
  assert.deepEqual(
    preview?.changes.map(({ path: field }) => field),
    ['spec.size'],
    json.stdout,
  )
  const chart = plan.entries.find(({ key }) => key.endsWith('HelmChart.helm.cattle.io/kube-system/podinfo'))?.preview
  assert.equal(chart?.chart?.notRendered?.why, 'no-helm', 'without Helm the values alone are compared')
  for (const { stdout, stderr } of [empty, changed, json, applied])
    assert.doesNotMatch(stdout + stderr, /correct-horse|Y29ycmVjdC1ob3JzZQ/)

  // What cannot be changed on a thing that is there is seen before anything is tried.
  writeFileSync(
    path.join(estate, 'shop', 'deployment.yaml'),
    deployment(3, 'example.org/shop:2').replaceAll('app: shop', 'app: other'),
  )
  const refused = await croft('plan', 'estate')
  assert.match(refused.stdout, /refused \[replacement\].*spec\.selector cannot be changed in place/, said(refused))
})

for (const to of ['argocd', 'flux'] as const) {
  test(`croft export ${to} writes a repository that ${to} can go on with, and overwrites nothing`, async () => {
    const cwd = scratch()
    const simulator = { endpoint: 'https://127.0.0.1:1', fingerprint: Array(32).fill('AA').join(':') }
    estateAt(path.join(cwd, 'estate'), simulator, {
      'ground.yaml': GROUND,
      'addons.yaml': `${addons(1, '6.9.1', '{replicaCount: 1}').replace('  path: shop\n', '')}---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: cilium}
spec: {cluster: homelab, preset: cilium, with: {pools: [{name: lan, ranges: [10.0.0.0/24]}]}}
`,
    })
    const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: 'x', DOOR_KEY: 'correct-horse' }
    const url = 'https://git.example.org/clusters'
    const words = ['export', to, 'out', '--repository', url, '--dir', 'estate']
    const exported = await start(words, { cwd, env }).ended
    assert.equal(exported.code, 0, said(exported))
    const out = path.join(cwd, 'out')
    const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:ya?ml|md)$/.test(name))
    const objects = new Map(
      files
        .filter((name) => name.endsWith('.yaml'))
        .map((name) => {
          const documents = parseAllDocuments(readFileSync(path.join(out, name), 'utf8'))
          return [name, documents.map((one) => one.toJS() as Record<string, unknown>)] as const
        }),
    )
    const kinds = (name: string) => objects.get(name)?.map(({ kind }) => kind)
    assert.deepEqual(kinds('clusters/homelab/cilium/objects.yaml'), ['CiliumLoadBalancerIPPool'])
    assert.deepEqual(kinds('clusters/homelab/widgets/objects.yaml')?.sort(), ['CustomResourceDefinition', 'Widget'])
    const keepers = to === 'argocd' ? ['Application'] : ['HelmRepository', 'HelmRelease']
    const places = to === 'argocd' ? ['Application'] : ['GitRepository', 'Kustomization']
    assert.deepEqual(kinds(`clusters/homelab/${to}/podinfo.yaml`), keepers)
    assert.deepEqual(
      kinds(`clusters/homelab/${to}/cilium.yaml`),
      [...keepers, ...places],
      'a chart, and what is beside it',
    )
    assert.deepEqual(kinds(`clusters/homelab/${to}/widgets.yaml`), places)
    const names = (objects.get(`clusters/homelab/${to}/cilium.yaml`) ?? []).map(({ metadata }) => metadata as object)
    assert.match(JSON.stringify(names), /"cilium-objects"/)
    // Every directory that an agent is pointed to is there, and every file that is listed.
    for (const documents of objects.values())
      for (const { spec } of documents as { spec?: { path?: string; source?: { path?: string } } }[]) {
        const place = (spec?.path ?? spec?.source?.path)?.replace(/^\.\//, '')
        if (place !== undefined) assert.ok(files.includes(`${place}/objects.yaml`), place)
      }
    const [root] = objects.get(`clusters/homelab/${to}/kustomization.yaml`) ?? []
    for (const name of (root?.resources ?? []) as string[])
      assert.ok(files.includes(`clusters/homelab/${to}/${name}`), name)
    const all = files.map((name) => readFileSync(path.join(out, name), 'utf8')).join('\n')
    assert.doesNotMatch(all, /correct-horse|croft\.dev\//, 'no secret, and nothing that only croft reads')
    assert.match(all, /homelab: shop\/door/, 'the Secret is named')

    const again = await start(words, { cwd, env }).ended
    assert.notEqual(again.code, 0)
    assert.match(again.stderr, /is there already\. Nothing is overwritten/)
  })
}
