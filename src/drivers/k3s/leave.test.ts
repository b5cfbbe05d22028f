import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stopService } from '../../../sim/k3s/service.ts'
import { NODE_PROGRAM } from '../../k3s/node-program.ts'
import { annotationsOf, type Foreign, labelsOf } from '../../kubernetes/objects.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const NAMES = 's1 a1'
const BOTH = ['s1', 'a1']

async function formed(): Promise<DriverLab> {
  const lab = driverLab(NAMES)
  await lab.until(allReady(NAMES), 900)
  for (const name of BOTH)
    await lab.call('PATCH', `/api/v1/nodes/${name}`, { metadata: { annotations: { 'croft.dev/test': 'x' } } })
  return lab
}

async function leave(lab: DriverLab): Promise<ReadonlyMap<string, string>> {
  const { signal } = new AbortController()
  return lab.clock.runUntil(lab.operator.leave(lab.surroundings(), new Set(BOTH), signal))
}

async function marked(lab: DriverLab): Promise<readonly string[]> {
  const answer = await lab.call('GET', '/api/v1/nodes')
  const { items } = JSON.parse(Buffer.from(answer.body).toString('utf8')) as { items: readonly Foreign[] }
  return items.flatMap((one) => [...annotationsOf(one).keys(), ...labelsOf(one).keys()].filter(isOurs))
}

function isOurs(name: string): boolean {
  return name.startsWith('croft.dev/')
}

function programs(lab: DriverLab): readonly string[] {
  return BOTH.filter((name) => lab.box(name).machine.files.text(NODE_PROGRAM) !== undefined)
}

test('a cluster whose record is lost keeps everything: each node is named with the way to read the record back', async () => {
  const lab = await formed()
  const { read } = lab.vault
  lab.vault.read = async () => undefined
  const left = await leave(lab)
  assert.deepEqual([...left.keys()], BOTH)
  for (const why of left.values()) assert.match(why, /croft cluster recover homelab --from s1/)
  assert.deepEqual(programs(lab), BOTH)
  assert.notDeepEqual(await marked(lab), [])
  lab.vault.read = read
  assert.deepEqual([...(await leave(lab))], [])
  assert.deepEqual([programs(lab), await marked(lab)], [[], []])
})

test('a record that says "not formed" is not believed beside nodes that hold data', async () => {
  const lab = await formed()
  const secrets = lab.vault.kept.get('homelab')
  assert.ok(secrets?.formed)
  lab.vault.kept.set('homelab', { ...secrets, formed: false })
  stopService(lab.box('s1').computer)
  await lab.clock.advanceTo(lab.clock.now() + 10_000)
  const left = await leave(lab)
  assert.deepEqual([...left.keys()], BOTH)
  for (const why of left.values()) assert.match(why, /API does not answer/)
  assert.deepEqual(programs(lab), BOTH)
})

test('a record that says "not formed" while the API answers: the marks go from the Nodes', async () => {
  const lab = await formed()
  const secrets = lab.vault.kept.get('homelab')
  assert.ok(secrets?.formed)
  lab.vault.kept.set('homelab', { ...secrets, formed: false })
  assert.deepEqual([...(await leave(lab))], [])
  assert.deepEqual(await marked(lab), [])
})

test('a cluster that was written down and never started has no Nodes, and is left', async () => {
  const lab = driverLab(NAMES)
  await lab.until(() => lab.vault.kept.has('homelab'), 50)
  assert.equal(lab.vault.kept.get('homelab')?.formed, false)
  await lab.clock.advanceTo(lab.clock.now() + 600_000)
  assert.deepEqual([...(await leave(lab))], [])
  assert.deepEqual(programs(lab), [])
})

test('a cluster that was never started, and a node that nobody can look at: it may hold data', async () => {
  const lab = driverLab(NAMES)
  await lab.until(() => lab.vault.kept.has('homelab'), 50)
  lab.box('a1').power = 'off'
  const left = await leave(lab)
  assert.deepEqual([...left.keys()], BOTH)
  assert.match(left.get('s1') ?? '', /no way into a1/)
})
