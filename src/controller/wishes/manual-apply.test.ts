import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, SIX } from '../../../test/simulation/manifests.ts'
import { shownPlan } from '../../cli/saved-plan.ts'
import { systemClock } from '../../lib/clock.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { grantOf, grantSchema } from '../sources/grant-schema.ts'
import { linkRevision } from '../sources/link-revision.ts'
import { mergeRevisions } from '../sources/merge.ts'
import { type Harness, type HarnessOptions, startHarness } from '../testing/harness.ts'
import { createManualApply } from './manual-apply.ts'

const ANNA = { name: 'page:anna', from: 'page' } as const
const TWO = SIX.slice(0, 2)
const BIGGER = TWO.map((one) => ({ ...one, memory: 4096 }))

/** A source with `apply: manual`, planned by the engine of the harness. */
async function manualHarness(given: HarnessOptions): Promise<Harness> {
  const made: { harness?: Harness } = {}
  const harness = await startHarness({
    ...given,
    manual: true,
    pollMs: 5_000,
    options: {
      async planWaiting(estate, _revision, signal) {
        while (made.harness === undefined) await new Promise(setImmediate)
        return shownPlan(await made.harness.engine.plan(estate, signal))
      },
    },
  })
  made.harness = harness
  return harness
}

const waiting = (harness: Harness) => harness.controller.view().sources[0]?.waiting

async function approve(harness: Harness, hash = waiting(harness)?.plan ?? '') {
  const wish = { wish: 'approve', keys: [`Source/main@${hash}`], expiresMs: harness.clock.now() + 3_600_000 } as const
  return harness.clock.runUntil(harness.controller.ask(wish, ANNA))
}

async function settled(harness: Harness): Promise<void> {
  await harness.until(() => {
    const { resources } = harness.controller.view()
    return (
      resources.length === 4 &&
      resources.every(
        ({ action, conditions }) =>
          action.do === 'nothing' && conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
      )
    )
  })
}

/** Two machines that a person approved. */
async function twoInForce(given: HarnessOptions = {}): Promise<Harness> {
  const harness = await manualHarness({ machines: TWO, ...given })
  await harness.until(() => waiting(harness)?.plan !== undefined)
  assert.equal((await approve(harness)).ok, true)
  await settled(harness)
  harness.writes.length = 0
  return harness
}

test('a commit of a source with apply: manual is planned and shown, and nothing is written before it is approved', async () => {
  const harness = await manualHarness({ machines: TWO })
  await harness.until(() => waiting(harness)?.plan !== undefined)
  await harness.pass(120_000)
  assert.equal(harness.writes.length, 0)
  assert.match(waiting(harness)?.summary ?? '', /^Plan: 4 to add, 0 to change, 0 to destroy\./)
  assert.match(waiting(harness)?.text ?? '', /EnvironmentVM\/server-1/)
  const told = harness.heard.filter(({ reason }) => reason === 'PlanWaits')
  assert.equal(told.length, 1, 'told once')
  assert.match(told[0]?.message ?? '', /croft ask approve Source\/main@[0-9a-f]{12}$/)
  const granted = await approve(harness)
  assert.equal(granted.ok, true, granted.message)
  await settled(harness)
  assert.equal(waiting(harness), undefined)
  await harness.stop()
})

test('another hash, or a plan that is another one by now, is refused and nothing is done', async () => {
  const harness = await twoInForce()
  harness.push(filesOf(BIGGER), 'a'.repeat(40))
  await harness.until(() => waiting(harness)?.plan !== undefined)
  const shown = waiting(harness)?.plan ?? ''
  assert.equal((await approve(harness, '0'.repeat(12))).ok, false)
  // A machine vanishes after the plan was shown.
  assert.ok(harness.datacentre.world.guests.delete(201))
  const granted = await approve(harness, shown)
  assert.equal(granted.ok, false)
  assert.match(granted.message, /^the plan of main has changed: it is [0-9a-f]{12} now/)
  assert.doesNotMatch(granted.message, new RegExp(shown))
  await harness.stop()
})

test('what is in force heals while the next commit waits', async () => {
  const harness = await twoInForce()
  harness.push(filesOf(BIGGER), 'a'.repeat(40))
  await harness.until(() => waiting(harness)?.plan !== undefined)
  const guest = harness.datacentre.world.guests.get(201)
  assert.ok(guest)
  guest.config.set('memory', '1024')
  await harness.until(() => guest.config.get('memory') === '2048', 3_600_000)
  assert.equal(waiting(harness)?.commit, 'a'.repeat(40))
  await harness.stop()
})

test('a commit that changes nothing, and one that goes back to what is in force, wait for nobody', async () => {
  const harness = await twoInForce()
  harness.push({ ...filesOf(TWO), 'README.yaml': '# nothing\n' }, 'a'.repeat(40))
  await harness.until(() => harness.controller.view().sources[0]?.commit === 'a'.repeat(40))
  harness.push(filesOf(BIGGER), 'b'.repeat(40))
  await harness.until(() => waiting(harness)?.commit === 'b'.repeat(40))
  harness.push(filesOf(TWO), 'e'.repeat(40))
  await harness.until(() => harness.controller.view().sources[0]?.commit === 'e'.repeat(40))
  assert.equal(waiting(harness), undefined)
  assert.equal(harness.writes.length, 0)
  await harness.stop()
})

test('an Approval in Git with the hash of the plan approves it, and one that has expired does not', async () => {
  const harness = await twoInForce()
  harness.push(filesOf(BIGGER), 'a'.repeat(40))
  await harness.until(() => waiting(harness)?.plan !== undefined)
  const hash = waiting(harness)?.plan ?? ''
  const approval = (expires: string) => `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: more-memory}
spec: {reason: agreed, plans: ["${hash}"], expires: "${expires}"}
`
  harness.push({ ...filesOf(BIGGER), 'approval.yaml': approval('2020-01-01T00:00:00Z') }, 'b'.repeat(40))
  await harness.until(() => waiting(harness)?.commit === 'b'.repeat(40))
  await harness.pass(30_000)
  assert.equal(waiting(harness)?.plan, hash, 'an Approval changes no plan')
  harness.push({ ...filesOf(BIGGER), 'approval.yaml': approval('2099-01-01T00:00:00Z') }, 'e'.repeat(40))
  await harness.until(() => harness.datacentre.world.guests.get(201)?.config.get('memory') === '4096')
  await harness.stop()
})

test('a broken commit does not wait: it is told as broken', async () => {
  const harness = await twoInForce()
  harness.push({ ...filesOf(BIGGER), 'broken.yaml': 'apiVersion: croft.dev/v1alpha1\nkind: Machine\n' }, 'a'.repeat(40))
  await harness.until(() => harness.controller.view().sources[0]?.trouble !== undefined)
  assert.equal(waiting(harness), undefined)
  await harness.stop()
})

test('a restart keeps the approved commit in force, and the newer one waits again', async () => {
  const first = await twoInForce()
  first.push(filesOf(BIGGER), 'a'.repeat(40))
  await first.until(() => waiting(first)?.plan !== undefined)
  const hash = waiting(first)?.plan
  await first.stop()
  const second = await manualHarness({ machines: BIGGER, commit: 'a'.repeat(40), disk: first.disk, on: first })
  await second.until(() => waiting(second)?.plan !== undefined)
  assert.equal(waiting(second)?.plan, hash)
  await second.pass(60_000)
  assert.equal(second.writes.length, 0)
  await second.stop()
})

test('[S-34] the plan of a source with a grant is made without going anywhere that it names', async () => {
  const bounds: boolean[] = []
  const grant = { kinds: ['Addon'], names: ['*'] }
  for (const given of [undefined, grant]) {
    const revision = readTexts({})
    const state = {
      source: {
        name: 'lab',
        remote: '',
        ref: '',
        pollMs: 1,
        manual: true,
        open: () => assert.fail(),
        ...(given === undefined ? {} : { grant: grantOf('lab', grantSchema.parse(given)) }),
      },
      followed: { look: () => assert.fail() },
      waiting: { revision, whole: true },
      wanted: 0,
      answered: 0,
      dueMs: 0,
    }
    const manual = createManualApply({
      clock: systemClock,
      states: [state],
      tryOut: async (parts) => {
        const merged = mergeRevisions(parts)
        return { revision: merged, linked: linkRevision(merged) }
      },
      async plan(_estate, _revision, _signal, { bounded }) {
        bounds.push(bounded)
        return { hash: 'a'.repeat(64), changes: true, summary: '', text: '' }
      },
      approve: () => {},
      tell: async () => {},
    })
    await manual.look(AbortSignal.any([]))
  }
  assert.deepEqual(bounds, [false, true])
})
