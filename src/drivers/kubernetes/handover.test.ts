import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import type { KubeObject, WantedObject } from '../../model/kube-object.ts'
import { handoverStep, keeperLook, onlyOurs } from './handover.ts'
import { marked, type ObjectDetails, onlyMark } from './marks.ts'
import { rules } from './rules.ts'
import { applied, DATA, MAP, manager, resource, seen, shown, wanted } from './testing/fixture.ts'

const APPLICATION: KubeObject = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name: 'x', namespace: 'argocd' },
}
const SYNCED = keeperLook({
  kind: 'Application',
  status: { sync: { status: 'Synced' }, health: { status: 'Healthy' } },
})
const GONE = keeperLook(undefined)
const KEPT_BY = 'argocd argoproj.io/v1alpha1 Application.argoproj.io/argocd/x'

const handed = wanted(MAP, { handover: { to: 'argocd', by: APPLICATION } })
const both = [manager('croft', DATA), manager('argocd-controller', DATA)]
const released = onlyMark(resource(handed), handed) as unknown as Foreign

/** Ours again, but still marked as the other's: taking it back was interrupted. */
function halfBack(managers: readonly object[]): Foreign {
  const object = marked(resource(wanted()), wanted(), { keptBy: KEPT_BY })
  return { ...object, metadata: { ...object.metadata, managedFields: managers } }
}

test('[R22] [A52] from what is seen to the next step of handing over, and back: one owner at any time', () => {
  const table: readonly (readonly [string, WantedObject, ObjectDetails, string])[] = [
    ['nobody asked', wanted(), { object: applied(wanted()) }, 'keep'],
    ['the Application is not there', handed, { object: applied(handed, both) }, 'keep'],
    ['it is not there, as was seen', handed, { object: applied(handed, both), keeper: GONE }, 'keep'],
    ['it is not in sync', handed, { object: applied(handed, both), keeper: { ...SYNCED, synced: false } }, 'stand-by'],
    ['it is ill', handed, { object: applied(handed, both), keeper: { ...SYNCED, healthy: false } }, 'stand-by'],
    ['it does not keep our field', handed, { object: applied(handed), keeper: SYNCED }, 'stand-by'],
    ['it keeps all', handed, { object: applied(handed, both), keeper: SYNCED }, 'release'],
    ['it is given', handed, { object: released, keeper: SYNCED }, 'watch'],
    ['it is given, and ill', handed, { object: released, keeper: { ...SYNCED, healthy: false } }, 'watch'],
    ['wanted back, the other is there', wanted(), { object: released, keeper: SYNCED }, 'await'],
    ['wanted back, the other is gone', wanted(), { object: released, keeper: GONE }, 'take-back'],
    ['half taken back', wanted(), { object: halfBack(both), keeper: GONE }, 'take-back'],
  ]
  for (const [what, one, look, expected] of table) assert.equal(handoverStep(one, look).do, expected, what)
})

test('[A52] giving up is one apply of nothing but our mark, and is never forced', () => {
  const look = { object: applied(handed, both), keeper: SYNCED }
  const [give, ...more] = rules.updateSteps(resource(handed), seen(look), rules.diff(resource(handed), seen(look)))
  assert.equal(more.length, 0)
  assert.match(shown(give).path, /fieldManager=croft$/)
  assert.doesNotMatch(shown(give).params.body ?? '', /"data"/)
})

test('[R22] while the other is at it nothing is written, though the two say different things and force is set', () => {
  const forced = { ...handed, force: true as const }
  // The other has forced its value: the field is no longer ours.
  const theirs = applied(forced, [manager('croft', {}), manager('argocd-controller', DATA)], { data: { a: '2' } })
  const look = { object: theirs, keeper: { ...SYNCED, synced: false } }
  assert.deepEqual(rules.diff(resource(forced), seen(look)), [])
  assert.match(rules.notes?.(resource(forced), seen(look)).join() ?? '', /data\.a is left as it is there/)
})

test('[R22] taking back goes on where it was stopped: our fields first, their names off, then the mark', () => {
  const steps = (object: Foreign) => {
    const look = seen({ object, keeper: GONE })
    return rules
      .updateSteps(resource(wanted()), look, rules.diff(resource(wanted()), look))
      .map((step) => shown(step).path.replace(/^.*fieldManager=/, ''))
  }
  const withFields = (managers: readonly object[]) => ({
    ...released,
    metadata: { ...(released.metadata as object), managedFields: managers },
  })
  const theirs = [manager('argocd-controller', DATA)]
  assert.deepEqual(steps(withFields(theirs)), ['croft&force=true', 'argocd-controller', 'croft'])
  assert.deepEqual(steps(halfBack(both)), ['argocd-controller', 'croft'])
  assert.deepEqual(steps(halfBack([manager('croft', DATA)])), ['croft'])
})

test('a keeper of Flux is well when it is Ready for what was last written', () => {
  const release = (generation: number, observedGeneration: number, status: string) =>
    keeperLook({
      kind: 'HelmRelease',
      metadata: { generation },
      status: { observedGeneration, conditions: [{ type: 'Ready', status, message: 'm' }] },
    })
  assert.equal(release(2, 2, 'True').synced, true)
  assert.equal(release(2, 1, 'True').synced, false)
  assert.equal(release(2, 2, 'False').synced, false)
  assert.equal(keeperLook({ kind: 'Kustomization' }).synced, false)
})

test('a keeper that was put to rest on its way out and is declared again is woken', () => {
  const rest = manager('croft-rest', { 'f:spec': { 'f:suspend': {} } })
  const one = wanted(MAP)
  const look = seen({ object: { ...applied(one, [manager('croft', DATA), rest]), spec: { suspend: true } } })
  const changes = rules.diff(resource(one), look)
  assert.deepEqual(
    changes.map(({ path, from }) => [path, from]),
    [['spec.suspend', true]],
  )
  const [wake, ...more] = rules.updateSteps(resource(one), look, changes)
  assert.equal(more.length, 0)
  assert.match(shown(wake).path, /fieldManager=croft-rest$/)
  assert.doesNotMatch(shown(wake).params.body ?? '', /suspend/)
})

test('a chart that was handed over is as well as its keeper says: its job is gone', () => {
  const chart: KubeObject = { apiVersion: 'helm.cattle.io/v1', kind: 'HelmChart', metadata: { name: 'c' } }
  const one = wanted(chart, { handover: { to: 'argocd', by: APPLICATION } })
  const object = onlyMark(resource(one), one) as unknown as Foreign
  const ready = (healthy: boolean) => rules.readiness(resource(one), seen({ object, keeper: { ...SYNCED, healthy } }))
  assert.deepEqual([ready(true).ready, ready(true).status], [true, 'HandedOver'])
  assert.equal(ready(false).ready, false)
})

test('a field is only ours unless somebody else keeps it, what it is in, or a part of it', () => {
  const object = (ours: object, theirs: object): Foreign => ({
    metadata: { managedFields: [manager('croft', ours), manager('argocd-controller', theirs)] },
  })
  const A = { 'f:spec': { 'f:a': {} } }
  const PART = { 'f:spec': { 'f:a': { 'f:b': {} } } }
  assert.deepEqual(onlyOurs(object(A, A)), [])
  assert.deepEqual(onlyOurs(object(PART, A)), [], 'they keep what it is in')
  assert.deepEqual(onlyOurs(object(A, PART)), [], 'they keep a part of it')
  assert.deepEqual(onlyOurs(object(A, { 'f:spec': { 'f:ab': {} } })), ['f:spec\nf:a'], 'another of a longer name')
  assert.deepEqual(onlyOurs(object(A, {})), ['f:spec\nf:a'])
})
