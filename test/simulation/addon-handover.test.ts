import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEEPERS } from '../../sim/kubernetes/controllers/agents.ts'
import type { Tree } from '../../sim/kubernetes/object.ts'
import { all, find } from '../../sim/kubernetes/store.ts'
import { createLab, type Lab, oneOwner, ownersOf, podsOf } from './addon-lab.ts'
import { ARGO, addonManifest, FLUX } from './addon-manifests.ts'
import { replay } from './volume.ts'

const FILE = 'addon-handover.test.ts'

const agentOf = (image: string, more: object = { hostNetwork: true }): Tree => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'cilium', namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { app: 'cilium' } },
    template: { metadata: { labels: { app: 'cilium' } }, spec: { ...more, containers: [{ name: 'agent', image }] } },
  },
})
const AGENT = agentOf('quay.io/cilium/cilium:v1.18.4')
const NEWER = agentOf('quay.io/cilium/cilium:v1.18.5')
const SETTINGS: Tree = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'kube-system' },
  data: { a: 'b' },
}
const KEY = 'Addon/cilium@DaemonSet.apps/kube-system/cilium'

const cilium = (agent: string, more = '', object = AGENT) =>
  addonManifest(
    'cilium',
    `  namespace: kube-system\n  needs: [${agent}]\n  secrets: [{name: cilium-keys, data: {key: {env: KEY}}}]\n${more}`,
    [object, SETTINGS],
  )
const handed = (to: string) =>
  `  handover: {to: ${to}, repository: "https://git.example.org/home", path: clusters/cilium}`

/** A cluster on which the add-on stands and whose pods run. */
async function standing(git: string, seed: number): Promise<{ readonly lab: Lab; readonly hint: string }> {
  const hint = replay(FILE, seed)
  const lab = createLab(git, seed, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  // The node loses its last taints a moment after it is ready.
  await lab.run.clock.advanceTo(lab.run.clock.now() + 120_000)
  assert.equal(await lab.settle(), 'settled', hint)
  return { lab, hint }
}

for (const [to, ground] of [
  ['argocd', ARGO],
  ['flux', FLUX],
] as const) {
  test(`[R22] [A52] what is handed over to ${to} changes its owner and nothing else, and can be taken back`, async () => {
    const { lab, hint } = await standing(ground + cilium(to), 3)
    const daemonSet = () => lab.found('apps/daemonsets', 'kube-system', 'cilium')
    const { generation, uid } = daemonSet().metadata
    const pods = podsOf(lab.store(), 'cilium')
    assert.ok(pods.length > 0, 'a pod of it runs')
    lab.watch(oneOwner(lab, hint))

    // The agent has not synced yet: its object is written, and everything is still ours.
    lab.git(ground + cilium(to, handed(to)))
    const process = lab.run.start()
    await lab.run.passes(process, 12)
    const written = KEEPERS.flatMap((kind) => all(lab.store(), kind))
    assert.equal(written.length, 1, 'the object by which the other keeps it is written')
    assert.deepEqual(ownersOf(daemonSet()), { croft: true, agents: [] })

    lab.repository.set('clusters/cilium', [AGENT, SETTINGS])
    assert.equal(await lab.settle(process), 'settled', hint)
    for (const object of [daemonSet(), lab.found('/configmaps', 'kube-system', 'settings')]) {
      assert.equal(ownersOf(object).croft, false, `${object.kind}: we keep no field of it any more`)
      assert.equal(ownersOf(object).agents.length, 1)
    }
    assert.deepEqual([daemonSet().metadata.generation, daemonSet().metadata.uid], [generation, uid])
    assert.deepEqual(podsOf(lab.store(), 'cilium'), pods, 'no pod was restarted')
    assert.equal(lab.run.disk.records.get(KEY)?.details?.owner, to)
    assert.equal(lab.run.disk.records.get(KEY)?.status, 'HandedOver')
    const secret = lab.found('/secrets', 'kube-system', 'cilium-keys')
    assert.equal(secret.metadata.annotations?.['croft.dev/kept-by'], undefined, 'nobody else has its values')

    // From now on only the agent acts: what it changes stays changed, and what we would say is not said.
    lab.watch()
    lab.repository.set('clusters/cilium', [NEWER, SETTINGS])
    lab.play()
    assert.equal(await lab.settle(), 'settled', hint)
    assert.match(JSON.stringify(daemonSet().spec), /v1\.18\.5/)
    assert.equal(
      (await lab.run.passes(lab.run.start(), 3)).reduce((sum, { effects }) => sum + effects, 0),
      0,
    )

    // Back again: first the other is gone, then it is ours, and nothing was deleted on the way.
    await lab.run.clock.advanceTo(lab.run.clock.now() + 60_000)
    const [mark, running] = [daemonSet().metadata.generation, podsOf(lab.store(), 'cilium')]
    lab.watch(oneOwner(lab, hint))
    lab.git(ground + cilium(to, '', NEWER))
    assert.equal(await lab.settle(), 'settled', hint)
    assert.deepEqual(
      KEEPERS.flatMap((kind) => all(lab.store(), kind)),
      [],
    )
    assert.deepEqual(ownersOf(daemonSet()), { croft: true, agents: [] })
    assert.doesNotMatch(JSON.stringify(daemonSet().metadata), /tracking-id|fluxcd\.io|kept-by/, 'nothing of it is left')
    assert.deepEqual([daemonSet().metadata.uid, daemonSet().metadata.generation], [uid, mark])
    assert.deepEqual(podsOf(lab.store(), 'cilium'), running, 'no pod was restarted')
    assert.equal(lab.run.disk.records.get(KEY)?.details?.owner, 'croft')
    const drift = lab.run.disk.events.filter(({ reason }) => reason === 'Drift')
    assert.deepEqual(drift, [], 'going over and coming back is what croft does: nobody changed anything')
    lab.watch()
  })
}

const CHART = (more: string, version = '1.18.4') =>
  addonManifest(
    'cilium',
    `  namespace: kube-system
  needs: [flux]
  chart: {repo: "https://helm.cilium.io", name: cilium, version: ${version}, values: {a: 1}, valuesFrom: {env: KEY}, bootstrap: true}
${more}`,
  )

test('[A52] a chart is handed over to Flux as the release it is; its secret values are there before Flux looks', async () => {
  const { lab, hint } = await standing(FLUX + CHART(''), 7)
  const daemonSet = () => lab.found('apps/daemonsets', 'kube-system', 'cilium')
  const { generation } = daemonSet().metadata
  const pods = podsOf(lab.store(), 'cilium')
  assert.ok(pods.length > 0)
  const order: string[] = []
  lab.watch(({ type, resource, object }) => {
    assert.ok(type !== 'DELETED' || object.metadata.name !== 'cilium' || resource !== 'apps/daemonsets', hint)
    if (type === 'ADDED') order.push(`${resource} ${object.metadata.namespace}/${object.metadata.name}`)
  })
  lab.git(FLUX + CHART('  handover: {to: flux}'))
  assert.equal(await lab.settle(), 'settled', hint)
  const at = (what: string) => order.indexOf(what)
  const secret = at('/secrets flux-system/cilium-values')
  const release = at('helm.toolkit.fluxcd.io/helmreleases flux-system/cilium')
  assert.ok(secret >= 0 && release > secret, order.join('\n'))
  const chart = () => lab.found('helm.cattle.io/helmcharts', 'kube-system', 'cilium')
  assert.equal(chart().metadata.annotations?.['helmcharts.helm.cattle.io/unmanaged'], 'true')
  await lab.run.clock.advanceTo(lab.run.clock.now() + 1_000)
  assert.equal(find(lab.store(), 'batch/jobs', 'kube-system', 'helm-install-cilium'), undefined, 'K3s lets it be')
  const record = lab.run.disk.records.get('Addon/cilium@HelmChart.helm.cattle.io/kube-system/cilium')
  assert.equal(record?.details?.owner, 'flux')
  assert.deepEqual([daemonSet().metadata.generation, podsOf(lab.store(), 'cilium')], [generation, pods])

  // A newer version is Flux's to install: K3s is not told, and would not listen.
  lab.git(FLUX + CHART('  handover: {to: flux}', '1.18.5'))
  assert.equal(await lab.settle(), 'settled', hint)
  assert.match(
    JSON.stringify(lab.found('helm.toolkit.fluxcd.io/helmreleases', 'flux-system', 'cilium').spec),
    /1\.18\.5/,
  )
  assert.match(JSON.stringify(chart().spec), /1\.18\.4/)

  lab.git(FLUX + CHART('', '1.18.5'))
  assert.equal(await lab.settle(), 'settled', hint)
  assert.equal(chart().metadata.annotations?.['helmcharts.helm.cattle.io/unmanaged'], undefined)
  assert.deepEqual(all(lab.store(), 'helm.toolkit.fluxcd.io/helmreleases'), [])
  assert.deepEqual([daemonSet().metadata.generation, podsOf(lab.store(), 'cilium')], [generation, pods], hint)
  lab.watch()
})

test('[R22] [A52] Cilium of the bootstrap is handed over to Argo CD as the chart it is; its pools stay ours', async () => {
  const preset = (more: string) =>
    addonManifest('cilium', `  preset: cilium\n  with: {pools: [{name: lan, ranges: [192.168.4.200/29]}]}\n${more}`)
  const { lab, hint } = await standing(ARGO + preset(''), 8)
  const daemonSet = () => lab.found('apps/daemonsets', 'kube-system', 'cilium')
  const [{ generation, uid }, pods] = [daemonSet().metadata, podsOf(lab.store(), 'cilium')]
  assert.ok(pods.length > 0)
  lab.git(ARGO + preset('  handover: {to: argocd}'))
  assert.equal(await lab.settle(), 'settled', hint)
  const { spec } = lab.found('argoproj.io/applications', 'argocd', 'cilium')
  assert.match(JSON.stringify(spec), /"chart":"cilium","targetRevision":"1\.19\.6"/)
  assert.deepEqual([daemonSet().metadata.generation, daemonSet().metadata.uid], [generation, uid])
  assert.deepEqual(podsOf(lab.store(), 'cilium'), pods, 'no pod was restarted')
  const owner = (end: string) => lab.run.disk.records.get(`Addon/cilium@${end}`)?.details?.owner
  assert.equal(owner('HelmChart.helm.cattle.io/kube-system/cilium'), 'argocd')
  assert.equal(owner('CiliumLoadBalancerIPPool.cilium.io/lan'), 'croft', 'nobody was told where else to find it')
})

test('a field that the agent does not keep is not given up, because it would be lost', async () => {
  const { lab, hint } = await standing(ARGO + cilium('argocd'), 4)
  lab.repository.set('clusters/cilium', [agentOf('quay.io/cilium/cilium:v1.18.4', {}), SETTINGS])
  lab.git(ARGO + cilium('argocd', handed('argocd')))
  await lab.settle()
  const [report] = await lab.run.passes(lab.run.start(), 1)
  const entry = report?.plan.entries.find(({ key }) => key === KEY)
  assert.match(entry?.notes?.join() ?? '', /does not keep spec\.template\.spec\.hostNetwork/, hint)
  assert.match(JSON.stringify(lab.found('apps/daemonsets', 'kube-system', 'cilium').spec), /"hostNetwork":true/)
})
