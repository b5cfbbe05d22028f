import assert from 'node:assert/strict'
import type { Tree } from '../../sim/kubernetes/object.ts'
import { createLab, oneOwner, pictureOf, podsOf } from './addon-lab.ts'
import { addonManifest, FLUX } from './addon-manifests.ts'
import { points, replay } from './volume.ts'

/* Every change that can happen to an add-on, and what must come of it though croft is killed in the middle. */

const WIDGETS: Tree = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const WIDGET: Tree = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'app' } }

const agent = (image: string): Tree => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'app' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image }] } },
  },
})
const settings = (colour: string): Tree => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'app' },
  data: { colour },
})

/** A chart with values that are secret, and objects beside it. */
const chart = (version: string) =>
  `  chart: {repo: "https://charts.example.org", name: podinfo, version: ${version}, valuesFrom: {env: KEY}}\n`
const app = (objects: readonly Tree[], more = '') =>
  addonManifest(
    'app',
    `  namespace: app\n  needs: [flux]\n  secrets: [{name: keys, data: {key: {env: KEY}}}]\n${more}`,
    objects,
  )
const NEW = [agent('example.org/agent:2'), settings('red')]
const HANDED = '  handover: {to: flux, repository: "https://git.example.org/home", path: app}'

const NOTHING = FLUX
const INSTALLED = FLUX + app([WIDGETS, WIDGET, agent('example.org/agent:1'), settings('blue')], chart('1.0.0'))
const UPGRADED = FLUX + app([WIDGETS, WIDGET, ...NEW], chart('1.1.0'))
const GIVEN = FLUX + app([WIDGETS, WIDGET, ...NEW], chart('1.1.0') + HANDED)
const PRUNED = FLUX + app([agent('example.org/agent:2')])

/** Everything on which a difference would show. */
const SHOWN = [
  '/namespaces',
  '/configmaps',
  '/secrets',
  'apps/daemonsets',
  'example.org/widgets',
  'apiextensions.k8s.io/customresourcedefinitions',
  'helm.cattle.io/helmcharts',
  'source.toolkit.fluxcd.io/gitrepositories',
  'source.toolkit.fluxcd.io/helmrepositories',
  'helm.toolkit.fluxcd.io/helmreleases',
  'kustomize.toolkit.fluxcd.io/kustomizations',
]

export interface Chapter {
  readonly what: 'install' | 'upgrade' | 'hand over' | 'take back' | 'prune'
  readonly from: string
  readonly to: string
  /** No pod may notice it. */
  readonly quiet: boolean
}

/** One change in Git after the other. */
export const CHAPTERS: readonly Chapter[] = [
  { what: 'install', from: NOTHING, to: INSTALLED, quiet: false },
  { what: 'upgrade', from: INSTALLED, to: UPGRADED, quiet: false },
  { what: 'hand over', from: UPGRADED, to: GIVEN, quiet: true },
  { what: 'take back', from: GIVEN, to: UPGRADED, quiet: true },
  { what: 'prune', from: UPGRADED, to: PRUNED, quiet: true },
]

/** Does the chapter once in peace and then again and again, killed at another effect each time. Answers how often. */
export async function killedEverywhere(chapter: Chapter, seed: number, file: string): Promise<string> {
  const { lab, whole, again } = await rehearsed(chapter, seed, file)
  let killed = 0
  const chosen = points(whole.points, 40)
  for (const point of chosen) {
    await again(replay(file, seed, point), async () => {
      // With pods that come and go a run may need a look less than the first one.
      if ((await lab.settle(lab.run.start({ crashAt: point }))) === 'killed') killed++
    })
  }
  lab.watch()
  assert.ok(killed > 0.8 * chosen.length, `only ${killed} of ${chosen.length} points were reached`)
  return `${killed} kills at ${whole.points} points`
}

/** The same with each write lost on its way, unanswered, or refused by a failing server. */
export async function troubledEverywhere(chapter: Chapter, seed: number, file: string): Promise<string> {
  const { lab, whole, again } = await rehearsed(chapter, seed, file)
  const kinds = ['request lost', 'answer lost', 'server error'] as const
  let struck = 0
  for (const how of kinds)
    for (const at of points(whole.writes, 8)) {
      await again(`${replay(file, seed, at)} (${how})`, async () => {
        lab.trouble.writes = 0
        lab.trouble.strike = { at, how }
        await lab.settle()
        delete lab.trouble.strike
        if (lab.trouble.writes >= at) struck++
      })
    }
  lab.watch()
  assert.ok(struck > 0.8 * kinds.length * points(whole.writes, 8).length, `${struck} writes were struck`)
  return `${struck} times in trouble, at ${whole.writes} writes`
}

/** A cluster at the beginning of a chapter, how it ends in peace, and a way to go through it again. */
async function rehearsed({ what, from, to, quiet }: Chapter, seed: number, file: string) {
  const lab = createLab(from, seed, replay(file, seed))
  lab.repository.set('app', [WIDGET, ...NEW])
  assert.equal(await lab.settle(), 'settled', replay(file, seed))
  await lab.run.clock.advanceTo(lab.run.clock.now() + 120_000)
  assert.equal(await lab.settle(), 'settled', replay(file, seed))
  const start = lab.keep()

  lab.git(to)
  lab.trouble.writes = 0
  const process = lab.run.start()
  assert.equal(await lab.settle(process), 'settled', replay(file, seed))
  const whole = { points: process.points(), writes: lab.trouble.writes }
  const expected = pictureOf(lab.store(), SHOWN)
  const owners = ownersIn(lab.run.disk.records)

  const again = async (hint: string, happen: () => Promise<void>) => {
    lab.watch()
    lab.git(from)
    lab.back(start)
    await lab.run.clock.advanceTo(lab.run.clock.now() + 30_000)
    const pods = podsOf(lab.store(), 'agent')
    if (what === 'hand over' || what === 'take back') lab.watch(oneOwner(lab, hint))
    lab.git(to)
    await happen()
    assert.equal(await lab.settle(), 'settled', `it did not settle afterwards; ${hint}`)
    assert.deepEqual(pictureOf(lab.store(), SHOWN), expected, hint)
    assert.deepEqual(ownersIn(lab.run.disk.records), owners, `the ledger; ${hint}`)
    assert.equal(lab.run.disk.intentions.size, 0, hint)
    if (quiet) assert.deepEqual(podsOf(lab.store(), 'agent'), pods, `a pod was restarted; ${hint}`)
  }
  return { lab, whole, again }
}

function ownersIn(
  records: ReadonlyMap<string, { readonly key: string; readonly details?: Readonly<Record<string, string>> }>,
) {
  return [...records.values()]
    .flatMap(({ key, details }) =>
      key.includes('@') && details?.owner !== undefined ? [`${key}: ${details.owner}`] : [],
    )
    .sort()
}
