import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, recordsOf } from '../kubernetes/objects.ts'
import { createGround, type Ground, VMS } from './testing/harness.ts'

const PATH = `${VMS}/wrong`

const message = async (ground: Ground) =>
  String(recordsOf(at(await ground.get(PATH), 'status', 'conditions')).find(({ type }) => type === 'Synced')?.message)

test('an object that is refused for another reason than before says so', async () => {
  const ground = await createGround()
  const operator = await ground.start()
  const forProvider = { nodeName: 'fun-bedbug', name: 'wrong', cpu: [{ cores: 1, affinity: 'all' }] }
  await ground.call('POST', VMS, { metadata: { name: 'wrong' }, spec: { forProvider } })
  await ground.pass(60_000)
  assert.match(await message(ground), /affinity/)
  await ground.call('PATCH', PATH, { spec: { forProvider: { cpu: [{ cores: -3 }] } } })
  await ground.pass(120_000)
  assert.match(await message(ground), /cores/)
  await operator.stop()
})
