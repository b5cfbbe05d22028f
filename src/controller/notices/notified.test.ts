import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { filesOf, SIX } from '../../../test/simulation/manifests.ts'
import { statusIn } from '../../model/estate-status.ts'
import type { EstateView } from '../../model/estate-view.ts'
import { TROUBLE_SORTS } from '../../model/notification.ts'
import { troublesOf } from '../../model/trouble.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { startHarness } from '../testing/harness.ts'
import { metricsText } from '../view/metrics.ts'
import { createNotifier } from './notifier.ts'

const COUNTERS = { passes: 0, effects: 0, passMs: 0, sourceLooks: 0, sourceTroubles: 0, pokes: 0 }
const notification = (about: readonly string[]) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Notification\nmetadata: {name: phone}\nspec: {after: 10s, about: [${about.join(', ')}], ntfy: {topic: t}}\n`

function outboxInto(posted: string[]) {
  return {
    resolveSecret: async () => assert.fail(),
    mail: async () => {},
    post: async ({ body = '' }: { readonly body?: string }) => {
      posted.push(String((JSON.parse(body) as { readonly title: string }).title))
      return { status: 200 }
    },
  }
}

test('[D-11] a host that goes offline and a commit with an error reach the phone, the page and the metrics alike', async () => {
  const posted: string[] = []
  const files: Record<string, string> = { ...filesOf(SIX.slice(0, 3)), 'phone.yaml': notification([]) }
  const harness = await startHarness({
    files,
    pollMs: 10_000,
    options: (clock) => ({
      notifier: (memory) =>
        createNotifier({ clock, random: { next: () => 0.5 }, outbox: outboxInto(posted), memory, warn: () => {} }),
    }),
  })
  await harness.until(() => harness.controller.view().resources.every(({ action }) => action.do === 'nothing'))
  await harness.pass(120_000)
  posted.length = 0
  harness.datacentre.hostPower('fun-bedbug', 'off')
  const wrong = (files['machines/server-1.yaml'] ?? '').replace('nodeName:', 'nodeNam:')
  harness.push({ ...files, 'machines/server-1.yaml': wrong }, 'b'.repeat(40))
  await harness.until(() => posted.some((title) => title.includes('is offline')), 3_600_000)
  await harness.pass(60_000)
  const view = harness.controller.view()
  const judged = troublesOf(statusIn(view), harness.clock.now())
  assert.ok(posted.includes('Host fun-bedbug is offline'), posted.join('\n'))
  assert.ok(posted.includes('The newest commit of main is not in force'), posted.join('\n'))
  assert.ok(
    posted.some((title) => /^machines\/server-1\.yaml:\d+ is not valid$/.test(title)),
    posted.join('\n'),
  )
  for (const { title } of judged) assert.ok(posted.includes(title), `${title} was not told`)
  const metrics = metricsText(view, COUNTERS, '1', harness.clock.now())
  assert.match(metricsText(view, COUNTERS, '1', 0, 250), /^croft_longest_stall_seconds 0.25$/m)
  for (const sort of ['host', 'manifest', 'source'])
    assert.match(metrics, new RegExp(`croft_troubles\\{sort="${sort}",tone="bad"\\} 1`))
  await harness.stop()
})

const EMPTY: EstateView = {
  version: 1,
  atMs: 0,
  sources: [],
  problems: [],
  connections: [],
  hosts: [],
  resources: [],
  clusters: [],
  drifts: [],
  checks: [],
}
const POWER = {
  name: 'site',
  phase: 'On',
  wanted: { state: 'on' },
  hosts: [],
  holds: [],
  refusals: [{ guard: 'quorum', reason: 'why', allow: 'how' }],
  ups: { name: 'rack', state: 'battery', charge: 9, levels: [] },
} as unknown as NonNullable<EstateView['power']>[number]

for (const about of [[], ['power', 'ups'], ['ups'], ['check']])
  test(`[D-11] a refused Power and a UPS at 9 % are told to whoever asked about ${about.join(' and ') || 'everything'}`, async () => {
    const clock = createVirtualClock(1_000_000)
    const posted: string[] = []
    const memory = { remembered: undefined, save: async () => {} }
    const notifier = createNotifier({
      clock,
      random: { next: () => 0.5 },
      outbox: outboxInto(posted),
      memory,
      warn: () => {},
    })
    const revision = readTexts({ 'n.yaml': notification(about) })
    assert.deepEqual(revision.problems, [])
    await notifier.look({ ...EMPTY, power: [POWER] }, revision)
    await clock.advanceTo(1_010_000)
    await notifier.look({ ...EMPTY, power: [POWER] }, revision)
    const wanted = [
      ...(about.length === 0 || about.includes('power') ? ['Power site is refused'] : []),
      ...(about.length === 0 || about.includes('ups') ? ['The UPS of site is on battery'] : []),
    ]
    assert.deepEqual(posted, wanted)
  })

test('[D-11] every class of trouble can be named in a Notification, and no other word', () => {
  assert.deepEqual(readTexts({ 'n.yaml': notification(TROUBLE_SORTS) }).problems, [])
  assert.equal(readTexts({ 'n.yaml': notification(['weather']) }).problems.length, 1)
})
