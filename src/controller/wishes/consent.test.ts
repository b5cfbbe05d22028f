import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, SIX } from '../../../test/simulation/manifests.ts'
import { type Harness, type HarnessOptions, startHarness } from '../testing/harness.ts'

const ANNA = { name: 'page:anna', from: 'page' } as const
const NAME = 'EnvironmentVM/server-1'
const HOUR_MS = 3_600_000

/** Makes six machines; the first has a data disk and reports its drift. */
function files(declared = true): Record<string, string> {
  const all: Record<string, string> = filesOf(declared ? SIX : SIX.slice(1))
  const file = 'machines/server-1.yaml'
  if (declared)
    all[file] = (all[file] ?? '')
      .replace('metadata: {name: server-1}', 'metadata: {name: server-1, annotations: {croft.dev/drift: report}}')
      .replace(/(size: 20, importFrom: "[^"]*"\})\]/, '$1, {interface: scsi1, datastoreId: local, size: 50}]')
  return all
}

const rowOf = (harness: Harness) => harness.controller.view().resources.find(({ key }) => key === NAME)
const heldBy = (harness: Harness) => {
  const action = rowOf(harness)?.action
  return action?.do === 'hold' ? action.guard : action?.do
}
const approve = (harness: Harness, forMs = HOUR_MS) =>
  harness.controller.ask({ wish: 'approve', keys: [NAME], expiresMs: harness.clock.now() + forMs }, ANNA)

async function started(given: Partial<HarnessOptions> = {}): Promise<Harness> {
  const harness = await startHarness({ files: files(), pollMs: 10_000, ...given })
  const settled = () => {
    const { resources } = harness.controller.view()
    return resources.length >= 6 && resources.every(({ action }) => action.do === 'nothing')
  }
  await harness.until(settled)
  return harness
}

const guestOf = ({ datacentre }: Harness) => {
  const guest = datacentre.world.guests.get(201)
  assert.ok(guest)
  return guest
}

test('[D-07] the approval of a drift lets the drift be put back, and not the machine go twenty minutes later', async () => {
  const harness = await started()
  assert.match(guestOf(harness).config.get('scsi1') ?? '', /50G/)
  guestOf(harness).config.set('memory', '1024')
  await harness.until(() => heldBy(harness) === 'drift', HOUR_MS)
  assert.equal(
    (await approve(harness)).message,
    `${NAME} approved: update vm 201 on default; memory.dedicatedMb: 1024 → 2048`,
  )
  await harness.until(() => guestOf(harness).config.get('memory') === '2048', 600_000)
  await harness.pass(20 * 60_000)
  harness.push(files(false), 'b'.repeat(40))
  await harness.pass(10 * 60_000)
  assert.equal(heldBy(harness), 'data-disks')
  guestOf(harness)
  await harness.stop()
})

test('[D-07] the approval of a deletion is used once: it does not let the same machine go again', async () => {
  const harness = await started()
  harness.push(files(false), 'b'.repeat(40))
  await harness.until(() => heldBy(harness) === 'data-disks')
  assert.equal((await approve(harness, 24 * HOUR_MS)).ok, true)
  await harness.until(() => !harness.datacentre.world.guests.has(201))
  harness.push(files(), 'c'.repeat(39).concat('1'))
  await harness.until(() => heldBy(harness) === 'nothing' && harness.datacentre.world.guests.has(201), HOUR_MS)
  harness.push(files(false), 'b'.repeat(39).concat('2'))
  await harness.pass(20 * 60_000)
  assert.equal(heldBy(harness), 'data-disks')
  await harness.stop()
})

test('[D-07] an approved deletion to which a person has attached one more disk asks again, and says of which', async () => {
  const harness = await started()
  harness.push(files(false), 'b'.repeat(40))
  await harness.until(() => heldBy(harness) === 'data-disks')
  const guest = guestOf(harness)
  guest.config.set('scsi2', (guest.config.get('scsi1') ?? '').replace(/disk-\d+/, 'disk-7'))
  assert.equal((await approve(harness)).ok, true)
  await harness.pass(20 * 60_000)
  const action = rowOf(harness)?.action
  assert.equal(action?.do, 'hold')
  assert.match(action?.do === 'hold' ? action.reason : '', /scsi1, scsi2/)
  guestOf(harness)
  await harness.stop()
})

test('the drift of a machine that was restored with another birth is put back when a person asks for it', async () => {
  const harness = await started()
  guestOf(harness).config.set('smbios1', 'uuid=11111111-2222-3333-4444-555555555555')
  guestOf(harness).config.set('memory', '1024')
  await harness.until(() => heldBy(harness) === 'drift', HOUR_MS)
  const action = rowOf(harness)?.action
  assert.match(action?.do === 'hold' ? (action.shows ?? []).join() : '', /born as uuid 11111111/)
  const answer = await harness.controller.ask({ wish: 'revert-drift', key: NAME }, ANNA)
  assert.equal(answer.message, `${NAME} will be put back as Git declares it`)
  await harness.until(() => guestOf(harness).config.get('memory') === '2048', 600_000)
  await harness.stop()
})

test('what is held is approved only as the page showed it', async () => {
  const harness = await started()
  guestOf(harness).config.set('memory', '1024')
  await harness.until(() => heldBy(harness) === 'drift', HOUR_MS)
  const wish = { wish: 'approve', keys: [NAME], expiresMs: harness.clock.now() + HOUR_MS } as const
  const answer = await harness.controller.ask({ ...wish, seen: { [NAME]: 'as it was before' } }, ANNA)
  assert.deepEqual(answer, {
    ok: false,
    reason: 'conflict',
    message: `what is held of ${NAME} has changed: update vm 201 on default; memory.dedicatedMb: 1024 → 2048. Look at it, then approve it`,
  })
  await harness.stop()
})

test('an approval that is under way when croft is killed ends with its attempt, not by the clock', async () => {
  const first = await started()
  guestOf(first).config.set('memory', '1024')
  await first.until(() => heldBy(first) === 'drift', HOUR_MS)
  await approve(first, 60_000)
  const seen: string[] = []
  const { pass } = first.engine
  // Killed at the first call: what was written before it is all that is left.
  first.engine.pass = (estate, signal, options = {}) =>
    pass(estate, signal, {
      ...options,
      async opens(consents) {
        await options.opens?.(consents)
        seen.push(...consents.map(({ guard }) => guard))
        return new Promise(() => {})
      },
    })
  await first.until(() => seen.length > 0)
  await first.pass(2 * HOUR_MS)
  assert.deepEqual(seen, ['drift'])
  assert.equal(guestOf(first).config.get('memory'), '1024')
  const kept: unknown = JSON.parse(first.disk.values.get('controller/wishes') ?? '{}')
  assert.match(JSON.stringify(kept), /"opened":true/)
  const again = await startHarness({ files: files(), pollMs: 10_000, disk: first.disk, on: first })
  await again.until(() => guestOf(again).config.get('memory') === '2048', 600_000)
  await again.stop()
})

test('approvals of an older database end: what they let go is held and asked for again', async () => {
  const harness = await started()
  harness.push(files(false), 'b'.repeat(40))
  await harness.until(() => heldBy(harness) === 'data-disks')
  await harness.stop()
  const before = { by: 'page:anna', keys: [NAME], expiresMs: harness.clock.now() + HOUR_MS }
  harness.disk.values.set('controller/wishes', JSON.stringify({ suspended: [], reverting: [], approvals: [before] }))
  const again = await startHarness({ files: files(false), pollMs: 10_000, disk: harness.disk, on: harness })
  await again.until(() => heldBy(again) === 'data-disks')
  await again.pass(20 * 60_000)
  guestOf(again)
  await again.stop()
})
