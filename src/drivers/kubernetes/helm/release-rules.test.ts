import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removed } from '../../../model/destruction.ts'
import { RELEASE, type WantedObject } from '../../../model/kube-object.ts'
import type { Change, ObservedResource } from '../../../model/resource.ts'
import { readIntention, savedIntention, shownCall } from '../../../model/shown-step.ts'
import type { Step } from '../../../model/step.ts'
import type { ReleaseDetails } from '../marks.ts'
import { rules } from '../rules.ts'
import { resource, seen, wanted } from '../testing/fixture.ts'
import { releaseLabels } from './marks.ts'

const SPEC = { chart: 'till', version: '1.0.0', repo: 'https://charts.example.org', values: { replicas: 2 } }
const release = (spec: object = SPEC, more: Partial<WantedObject> = {}) =>
  wanted({ ...RELEASE, metadata: { name: 'till', namespace: 'shop' }, spec }, { plural: 'releases', ...more })

const DEPLOYED: ReleaseDetails = {
  revision: 3,
  status: 'deployed',
  description: 'Upgrade complete',
  sinceMs: 0,
  chart: { name: 'till', version: '1.0.0' },
  stuck: false,
  values: { replicas: 2 },
  secretsDiffer: [],
  drift: [],
  holding: [],
  workloads: [],
  record: { name: 'sh.helm.release.v1.till.v3', uid: 'u-3', version: '7' },
}

/** As Helm's record shows it; `by`: the owner in its mark. */
function observed(details: Partial<ReleaseDetails> = {}, by: WantedObject = release()): ObservedResource {
  const labels = releaseLabels(resource(by), by)
  const object = { ...RELEASE, metadata: { name: 'till', namespace: 'shop', labels } }
  return { ...seen({ object, release: { ...DEPLOYED, ...details } }), list: 'helm.sh/v1 Release' }
}

const paths = (changes: readonly Change[]) => changes.map(({ path }) => path)
const MOVED: Change = { path: 'Deployment.apps/shop/till spec.replicas', from: 5, to: 2, effect: 'live' }
const UNMENDABLE: Change = {
  ...MOVED,
  path: 'Till.example.org/shop/till spec.open',
  blocked: { message: 'm', allow: 'a' },
}

const CASES: readonly (readonly [string, WantedObject, ObservedResource, readonly string[]])[] = [
  ['as declared', release(), observed(), []],
  [
    'a v before the version says nothing',
    release({ ...SPEC, version: 'v1.0.0' }),
    observed({}, release({ ...SPEC, version: 'v1.0.0' })),
    [],
  ],
  ['another version', release({ ...SPEC, version: '1.1.0' }), observed(), ['spec.version']],
  ['another chart', release({ ...SPEC, chart: 'shop' }), observed(), ['spec.chart']],
  [
    'the same version from elsewhere',
    release({ ...SPEC, repo: 'https://other.example.org' }),
    observed(),
    ['spec.source'],
  ],
  [
    'a chart of a registry is called by its last word',
    release({ ...SPEC, chart: 'oci://r.example.org/a/till', repo: undefined }),
    observed({}, release({ ...SPEC, chart: 'oci://r.example.org/a/till', repo: undefined })),
    [],
  ],
  [
    'values',
    release({ ...SPEC, values: { replicas: 3, a: { b: 1 } } }),
    observed(),
    ['spec.values.replicas', 'spec.values.a.b'],
  ],
  ['values that cannot be compared now', release(), observed({ values: undefined }), []],
  ['a secret value', release(), observed({ secretsDiffer: ['spec.values.word'] }), ['spec.values.word']],
  ['failed', release(), observed({ status: 'failed' }), ['status']],
  [
    'pending, and somebody may be at work',
    release({ ...SPEC, version: '2.0.0' }),
    observed({ status: 'pending-upgrade' }),
    [],
  ],
  ['pending for nobody', release(), observed({ status: 'pending-upgrade', stuck: true }), ['status']],
  ['unreadable', release(), observed({ status: 'unreadable' }), ['status']],
  ['drift', release(), observed({ drift: [MOVED, UNMENDABLE] }), [MOVED.path]],
  [
    'drift that Helm cannot mend is told, where nothing else is to be done',
    release(),
    observed({ drift: [UNMENDABLE] }),
    [UNMENDABLE.path],
  ],
  ['prune: none', release(SPEC, { deletion: 'Orphan' }), observed(), ['deletion']],
  ['prune: all', release(SPEC, { definitions: 'Delete' }), observed(), ['holding']],
  ['nobody’s', release(), nobodys(), ['mark']],
  ['nobody’s, adopted as it is', release(SPEC, { adopt: true }), nobodys(), ['mark']],
  [
    'nobody’s, adopted with other values',
    release({ ...SPEC, values: {} }, { adopt: true }),
    nobodys(),
    ['mark', 'spec.values.replicas'],
  ],
  [
    'nobody’s, and the declared chart is in Git',
    release({ ...SPEC, git: { url: 'https://g.example.org/x', commit: 'c' } }, { adopt: true }),
    nobodys(),
    ['mark', 'spec.source'],
  ],
]

/** As a person installed it, without croft. */
function nobodys(): ObservedResource {
  const object = { ...RELEASE, metadata: { name: 'till', namespace: 'shop', labels: {} } }
  return { ...seen({ object, release: DEPLOYED }), list: 'helm.sh/v1 Release' }
}

for (const [name, one, there, expected] of CASES)
  test(`a release differs: ${name}`, () => {
    assert.deepEqual(paths(rules.diff(resource(one), there)), expected)
  })

test('a release of nobody is refused without adopt, and one of another estate always', () => {
  const [foreign] = rules.diff(resource(release()), nobodys())
  assert.match(foreign?.blocked?.message ?? '', /the Helm release shop\/till is there already \(revision 3\)/)
  const others = { ...resource(release()), estate: 'other/0123' }
  const labels = releaseLabels(others, release())
  const theirs = seen({
    object: { ...RELEASE, metadata: { name: 'till', namespace: 'shop', labels } },
    release: DEPLOYED,
  })
  const [change] = rules.diff({ ...resource(release(SPEC, { adopt: true })), estate: 'default' }, theirs)
  assert.match(change?.blocked?.message ?? '', /another estate \(other\/0123\)/)
})

test('a value that is declared no more is shown to nobody', () => {
  const [change] = rules.diff(resource(release({ ...SPEC, values: {} })), observed({ values: { word: 'hunter2' } }))
  assert.deepEqual([change?.from, change?.secret], ['***', true])
})

test('only the mark: no run of Helm. A record that hangs goes first, by its uid. Everything else is one upgrade', () => {
  const stepsFor = (one: WantedObject, there: ObservedResource) =>
    rules.updateSteps(resource(one), there, rules.diff(resource(one), there)).map(shownCall)
  const [mark, ...none] = stepsFor(release(SPEC, { deletion: 'Orphan' }), observed())
  assert.deepEqual(none, [])
  assert.equal(mark?.method, 'PATCH')
  assert.match(mark?.path ?? '', /\/secrets\/sh\.helm\.release\.v1\.till\.v3\?/)
  assert.match(mark?.params.body ?? '', /"uid":"u-3"/)
  const [forget, upgrade] = stepsFor(release(), observed({ status: 'pending-upgrade', stuck: true }))
  assert.deepEqual([forget?.method, forget?.params.uid, upgrade?.method], ['DELETE', 'u-3', 'HELM'])
  assert.equal(forget?.params.resourceVersion, '7', 'a Helm that ends meanwhile changes the record: then it stays')
  assert.deepEqual(
    stepsFor(release({ ...SPEC, version: '2.0.0' }), observed()).map(({ method, path }) => `${method} ${path}`),
    ['HELM upgrade shop/till'],
  )
})

test('a run of Helm is saved and read again as it was, and shows no secret', () => {
  const one = release(SPEC, { adopt: true, secrets: { values: { env: 'WORD' } } })
  const [step] = rules.createSteps(resource(one), '')
  const hanging = observed({ status: 'pending-upgrade', stuck: true })
  const removal = [
    ...rules.deleteSteps(removed(observed(), [])),
    ...rules.updateSteps(resource(release()), hanging, rules.diff(resource(release()), hanging)).slice(0, 1),
  ]
  for (const was of [step, ...removal] as readonly Step[]) {
    const intention = { id: '1', key: 'k', step: was } as never
    const read = readIntention(JSON.parse(JSON.stringify(savedIntention(intention))))
    assert.deepEqual((read.step as Step & { write: unknown }).write, (was as Step & { write: unknown }).write)
  }
  assert.ok(step)
  assert.deepEqual(shownCall(step).secretParams, ['valuesFrom'])
})

test('a release that holds data is not uninstalled without a person’s word', () => {
  const holding = ['PersistentVolumeClaim/shop/drawer']
  assert.match(rules.undeletable(observed({ holding }))?.message ?? '', /holds data of others: PersistentVolumeClaim/)
  assert.equal(rules.undeletable(observed({ holding }, release(SPEC, { definitions: 'Delete' }))), undefined)
  assert.equal(rules.undeletable(observed()), undefined)
  assert.match(rules.undeletable(observed({ status: 'pending-upgrade' }))?.message ?? '', /Helm works on revision 3/)
  assert.match(rules.undeletable(observed({ status: 'unreadable' }))?.allow ?? '', /helm uninstall till/)
})

for (const prune of [{}, { definitions: 'Delete' }] as const)
  test(`a release whose manifest cannot be read is not uninstalled: ${JSON.stringify(prune)}`, () => {
    const { message, allow } = rules.undeletable(observed({ unread: true }, release(SPEC, prune))) ?? {}
    assert.match(message ?? '', /manifest of the release till cannot be read, so what would go with it is not known/)
    assert.match(allow ?? '', /helm uninstall till/)
  })

test('a release is ready when it is deployed and what it brought runs', () => {
  const ill = { ready: false, reason: 'Pods', message: 'updatedReplicas is 0 of 1', status: 'InProgress' }
  const said = (details: Partial<ReleaseDetails>) => {
    const { ready, reason } = rules.readiness(resource(release()), observed(details))
    return `${ready} ${reason}`
  }
  assert.equal(said({}), 'true Current')
  assert.equal(said({ workloads: [{ what: 'Deployment shop/till', readiness: ill }] }), 'false Workloads')
  assert.equal(said({ unread: true }), 'false Unknown')
  assert.equal(said({ unread: true, status: 'failed' }), 'false ReleaseFailed')
  assert.equal(said({ status: 'failed' }), 'false ReleaseFailed')
  assert.equal(said({ status: 'pending-install' }), 'false Installing')
  assert.equal(said({ status: 'pending-install', stuck: true }), 'false Stuck')
})
