import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeObject, tree, trees } from '../../sim/kubernetes/object.ts'
import { all } from '../../sim/kubernetes/store.ts'
import { createLab, type Lab } from './addon-lab.ts'
import { ARGO, addonManifest } from './addon-manifests.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay } from './volume.ts'

/* Charts as K3s' own Helm handles them: what it installs by itself, what goes with a chart, and what stays. */

const FILE = 'addon-charts.test.ts'
const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions'

async function standing(git: string, seed: number): Promise<{ readonly lab: Lab; readonly hint: string }> {
  const hint = replay(FILE, seed)
  const lab = createLab(git, seed, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  await lab.run.clock.advanceTo(lab.run.clock.now() + 120_000)
  return { lab, hint }
}

const named = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name).sort()
const definitions = (lab: Lab, group: string) =>
  named(all(lab.store(), DEFINITIONS)).filter((one) => one.endsWith(group))

test('a K3s has its own Traefik, installed by a job that is over when it is complete, with an address by servicelb', async () => {
  const { lab } = await standing('', 31)
  assert.deepEqual(named(all(lab.store(), 'helm.cattle.io/helmcharts')), ['traefik', 'traefik-crd'])
  const { status } = lab.found('batch/jobs', 'kube-system', 'helm-install-traefik')
  assert.equal(tree(status).active, undefined)
  assert.equal(trees(tree(status).conditions)[0]?.type, 'Complete')
  const service = lab.found('/services', 'kube-system', 'traefik')
  const [node] = all(lab.store(), '/nodes')
  const own = trees(tree(node?.status).addresses).find(({ type }) => type === 'InternalIP')?.address
  assert.deepEqual(
    trees(tree(tree(service.status).loadBalancer).ingress).map(({ ip }) => ip),
    [own],
  )
  assert.ok(all(lab.store(), 'apps/daemonsets').some(({ metadata }) => metadata.name.startsWith('svclb-traefik-')))
  assert.deepEqual(named(all(lab.store(), 'apps/deployments')), [
    'coredns',
    'local-path-provisioner',
    'metrics-server',
    'traefik',
  ])
})

const METALLB = (more = '') =>
  addonManifest(
    'metallb',
    `  preset: metallb\n  with: {pools: [{name: lan, ranges: [192.168.4.200-192.168.4.219]}]}\n${more}`,
  )

test('[R22] a chart whose definitions would go with it stays until that is declared; then all of it goes', async () => {
  const { lab, hint } = await standing(METALLB(), 32)
  assert.equal(definitions(lab, '.metallb.io').length, 9, hint)
  assert.deepEqual(named(all(lab.store(), 'metallb.io/ipaddresspools')), ['lan'], hint)

  lab.git('')
  await lab.settle()
  const chart = () => named(all(lab.store(), 'helm.cattle.io/helmcharts')).includes('metallb')
  assert.ok(chart(), 'nobody said that its definitions may go')
  assert.equal(definitions(lab, '.metallb.io').length, 9, hint)

  lab.git(METALLB('  prune: all\n'))
  assert.equal(await lab.settle(), 'settled', hint)
  lab.git('')
  await lab.settle()
  await lab.run.clock.advanceTo(lab.run.clock.now() + 60_000)
  assert.ok(!chart(), hint)
  assert.deepEqual(definitions(lab, '.metallb.io'), [], 'as with the real Helm, which keeps none of these')
})

test('[R22] Flux goes from a cluster, and everything that it kept stays', async () => {
  const flux = addonManifest(
    'flux',
    '  preset: flux\n  with: {repositories: [{name: home, url: "https://git.example.org/a"}]}',
  )
  const { lab, hint } = await standing(flux, 33)
  const kept = definitions(lab, '.fluxcd.io')
  assert.equal(kept.length, 14, hint)
  lab.git('')
  await lab.settle()
  await lab.run.clock.advanceTo(lab.run.clock.now() + 60_000)
  assert.ok(!named(all(lab.store(), 'helm.cattle.io/helmcharts')).includes('flux'), hint)
  assert.ok(!named(all(lab.store(), 'apps/deployments')).includes('source-controller'), 'Helm has uninstalled it')
  assert.deepEqual(definitions(lab, '.fluxcd.io'), kept, 'and its definitions are there')
})

test('[A52] Cilium with Hubble comes to rest at Argo CD', async () => {
  const preset = (more: string) => addonManifest('cilium', `  preset: cilium\n  with: {hubble: true}\n${more}`)
  const { lab, hint } = await standing(ARGO + preset(''), 34)
  lab.git(ARGO + preset('  handover: {to: argocd}'))
  assert.equal(await lab.settle(), 'settled', hint)
  const application = lab.found('argoproj.io/applications', 'argocd', 'cilium')
  assert.equal(tree(tree(application.status).sync).status, 'Synced', hint)
})

const BARE = '  allow: {degraded: true}\n  flannelBackend: none\n  kubeProxy: false\n  networkPolicy: false\n'

for (const [what, addon, outcome] of [
  ['the preset, told nothing, finds the API', '  preset: cilium', 'settled'],
  [
    'a chart that is told no place does not, and nodes wait',
    '  namespace: kube-system\n  chart: {repo: "https://helm.cilium.io", name: cilium, version: 1.19.6, bootstrap: true, values: {kubeProxyReplacement: true}}',
    'deadline',
  ],
] as const) {
  test(`Cilium without kube-proxy: ${what}`, async () => {
    const manifests = clusterManifest({ servers: ['s1'], spec: BARE }) + addonManifest('cilium', addon)
    const run = simulateCluster({ seed: 35, estate: clusterEstate(manifests) })
    assert.equal(await run.untilSettled(run.start(), { mostMs: 1_200_000 }), outcome, replay(FILE, 35))
  })
}

test('a chart that its repository does not have is not Ready: Helm fails again and again, and croft says where to read why', async () => {
  const { lab, hint } = await standing('', 38)
  const chart =
    '  chart: {repo: "https://charts.jetstack.io", name: cert-manger, version: v1.18.2}\n  namespace: certs\n'
  lab.git(addonManifest('certs', chart))
  assert.notEqual(await lab.run.untilSettled(lab.run.start(), { mostMs: 240_000 }), 'settled', hint)
  const [, record] = [...lab.run.disk.records].find(([key]) => key.startsWith('Addon/certs@HelmChart')) ?? []
  const ready = record?.conditions.find(({ type }) => type === 'Ready')
  assert.equal(ready?.status, 'False', hint)
  assert.match(ready?.message ?? '', /^Helm failed \d+ times and tries again; to see why: kubectl logs -n kube-system /)
  const { status } = lab.found('batch/jobs', 'kube-system', 'helm-install-certs')
  assert.equal(tree(status).failed, undefined, 'its Job counts none of it')
})
