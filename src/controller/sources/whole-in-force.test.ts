import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, SIX } from '../../../test/simulation/manifests.ts'
import { type Harness, startHarness } from '../testing/harness.ts'

const THREE = SIX.slice(0, 3)
const FIRST = 'machines/server-1.yaml'

async function settled(harness: Harness, count = 3): Promise<void> {
  const ready = () => {
    const { resources } = harness.controller.view()
    const machines = resources.filter(({ kind }) => kind === 'EnvironmentVM')
    return machines.length === count && resources.every(({ action }) => action.do === 'nothing')
  }
  await harness.until(ready)
}

const isError = ({ severity }: { readonly severity: string }) => severity === 'error'

const broken = (files: Readonly<Record<string, string>>) => ({
  ...files,
  [FIRST]: (files[FIRST] ?? '').replace('nodeName:', 'nodeNam:'),
})

test('[D-05] one wrong object in a commit keeps the last good one in force: shown, healed, and nothing of the new one done', async () => {
  const harness = await startHarness({ machines: THREE, pollMs: 10_000 })
  await settled(harness)
  const good = harness.controller.view().sources[0]?.commit
  harness.writes.length = 0
  // The commit also changes another, valid machine.
  const files = filesOf(THREE.map((one) => ({ ...one, memory: 4096 })))
  harness.push(broken(files), 'b'.repeat(40))
  await harness.until(() => harness.controller.view().sources[0]?.trouble !== undefined)
  await harness.pass(60_000)
  const view = harness.controller.view()
  assert.equal(view.sources[0]?.commit, good)
  assert.match(view.sources[0]?.trouble ?? '', /machines\/server-1\.yaml:\d+:\d+.*stays in force/)
  assert.deepEqual(
    view.problems.filter(isError).map(({ origin, severity }) => `${severity} ${origin.file}`),
    [`error ${FIRST}`],
  )
  assert.equal(view.resources.filter(({ kind }) => kind === 'EnvironmentVM').length, 3, 'nothing vanished')
  assert.ok(view.resources.every(({ action }) => action.do === 'nothing'))
  assert.deepEqual(harness.writes, [])
  assert.equal(harness.heard.filter(({ reason }) => reason === 'SourceTrouble').length, 1, 'told once')

  // The current revision repairs the machine with the wrong file.
  const guest = harness.datacentre.world.guests.get(201)
  assert.ok(guest)
  guest.config.set('memory', '1024')
  await harness.until(() => guest.config.get('memory') === '2048', 3_600_000)

  harness.push(files, 'e'.repeat(40))
  await harness.until(() => guest.config.get('memory') === '4096', 3_600_000)
  assert.equal(harness.controller.view().sources[0]?.trouble, undefined)
  assert.deepEqual(harness.controller.view().problems.filter(isError), [])
  await harness.stop()
})

test('[D-05] an error that only shows when everything is put together keeps a commit back as well', async () => {
  const harness = await startHarness({ machines: THREE, pollMs: 10_000 })
  await settled(harness)
  const files = filesOf(THREE)
  const sameId = (files[FIRST] ?? '').replace('vmId: 201', 'vmId: 202')
  harness.push({ ...files, [FIRST]: sameId }, 'b'.repeat(40))
  await harness.until(() => harness.controller.view().sources[0]?.trouble !== undefined)
  await harness.pass(60_000)
  assert.equal(harness.controller.view().resources.filter(({ kind }) => kind === 'EnvironmentVM').length, 3)
  await harness.stop()
})

test('[D-05] with keepGoing the good parts of a commit count, and nothing is deleted by it', async () => {
  const harness = await startHarness({ machines: THREE, pollMs: 10_000, keepGoing: true })
  await settled(harness)
  const files = filesOf(THREE.slice(0, 2).map((one) => ({ ...one, memory: 4096 })))
  harness.push(broken(files), 'b'.repeat(40))
  await harness.until(() => harness.datacentre.world.guests.get(202)?.config.get('memory') === '4096', 3_600_000)
  await harness.pass(60_000)
  assert.ok(harness.datacentre.world.guests.has(201))
  assert.ok(harness.datacentre.world.guests.has(203), 'what is gone from a commit that is not whole stays')
  const third = harness.controller.view().resources.find(({ key }) => key === 'EnvironmentVM/server-3')
  assert.ok(third === undefined || third.action.do !== 'delete')
  assert.equal(harness.controller.view().problems.filter(isError).length, 1)
  await harness.stop()
})
