import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKubernetesClient } from '../kubernetes/client.ts'
import { at, type Foreign, recordsOf } from '../kubernetes/objects.ts'
import { seededRandom } from '../lib/random.ts'
import { declaredObject } from './objects.ts'
import { servedKinds } from './served.ts'
import { conditionOf, createGround, type Ground } from './testing/harness.ts'
import { tellObject } from './write-back.ts'

const API = 'croft.dev/v1alpha1'
const POOLS = `/apis/${API}/namespaces/croft-system/proxmoxpools`
const APPROVALS = `/apis/${API}/namespaces/croft-system/approvals`

function manifest(kind: string, name: string, spec: Foreign): Foreign {
  return { apiVersion: API, kind, metadata: { name, namespace: 'croft-system' }, spec }
}

const pool = (name: string, comment = 'one') => manifest('ProxmoxPool', name, { connection: 'default', comment })

/** Returns the status by kstatus (generic.go of cli-utils) for an object without special rules. */
function kstatus(object: Foreign | undefined): string {
  const observed = at(object, 'status', 'observedGeneration')
  if (at(object, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating'
  if (typeof observed === 'number' && observed !== at(object, 'metadata', 'generation')) return 'InProgress'
  const conditions = recordsOf(at(object, 'status', 'conditions'))
  if (conditions.some((one) => one.type === 'Reconciling' && one.status === 'True')) return 'InProgress'
  if (conditions.some((one) => one.type === 'Stalled' && one.status === 'True')) return 'Failed'
  const ready = conditions.find((one) => one.type === 'Ready')
  return ready !== undefined && ready.status !== 'True' ? 'InProgress' : 'Current'
}

const said = (object: Foreign | undefined) =>
  ['Synced', 'Ready', 'Stalled'].map((type) => `${type} ${conditionOf(object, type)}`).join(', ')

async function refusedAndMended(ground: Ground, path: string, wrong: Foreign, mended: Foreign): Promise<void> {
  await ground.pass(120_000)
  const first = await ground.get(path)
  assert.equal(kstatus(first), 'Current')
  await ground.call('PATCH', path, { spec: wrong })
  await ground.pass(120_000)
  const refused = await ground.get(path)
  assert.equal(said(refused), 'Synced False Refused, Ready False Refused, Stalled True Refused')
  assert.equal(at(refused, 'status', 'observedGeneration'), 2)
  assert.equal(kstatus(refused), 'Failed')
  await ground.call('PATCH', path, { spec: mended })
  await ground.pass(120_000)
  const good = await ground.get(path)
  assert.equal(kstatus(good), 'Current', said(good))
  assert.equal(conditionOf(good, 'Stalled'), 'False NotStalled')
}

test('a change that croft refuses is Failed for kstatus until it is mended', async () => {
  const ground = await createGround()
  const operator = await ground.start()
  await ground.call('POST', POOLS, pool('web'))
  await refusedAndMended(ground, `${POOLS}/web`, { coment: 'two' }, { coment: null, comment: 'two' })
  await operator.stop()
})

test('so is a change of an Approval, which every shard reads and croft keeps no record of', async () => {
  const ground = await createGround()
  const operator = await ground.start()
  const spec = { reason: 'old ones', maxDeletes: 3, expires: '2036-12-31T18:00:00Z' }
  await ground.call('POST', APPROVALS, manifest('Approval', 'old', spec))
  await refusedAndMended(ground, `${APPROVALS}/old`, { maxDeletes: -1 }, { maxDeletes: 4 })
  await operator.stop()
})

test('an edit during a pass: kstatus says Current only once Proxmox has what the newest generation declares', async () => {
  const ground = await createGround({ callMs: [20, 60] })
  const operator = await ground.start()
  for (const name of ['a', 'b']) await ground.call('POST', POOLS, pool(name))
  await ground.pass(120_000)
  const commentOf = (name: string) => JSON.stringify(ground.datacentre.world.pools.get(name))
  const random = seededRandom(7)
  for (let round = 0; round < 100; round++) {
    const text = `round-${round}.`
    await ground.call('PATCH', `${POOLS}/a`, { spec: { comment: text } })
    await ground.pass(Math.round(random.next() * 500))
    await ground.call('PATCH', `${POOLS}/b`, { spec: { comment: text } })
    for (let ms = 0; ms < 20_000; ms += 20) {
      if (kstatus(await ground.get(`${POOLS}/b`)) === 'Current') break
      await ground.pass(20)
    }
    assert.match(commentOf('b'), new RegExp(text), `edit ${round}`)
  }
  await operator.stop()
})

const OTHERS = { type: 'Backup', status: 'True', reason: 'Done', lastTransitionTime: '2026-01-01T00:00:00Z' }

test('a condition that another program writes meanwhile is kept, and a new object of the name is not told what was found of the old', async () => {
  const ground = await createGround()
  const client = createKubernetesClient(ground.api.wire())
  await ground.pass(2_000)
  const made = await ground.call('POST', POOLS, pool('web'))
  const kinds = await ground.api.lab.clock.runUntil(servedKinds(client, new AbortController().signal))
  assert.ok(kinds.is === 'answer')
  const served = kinds.value.find(({ kind }) => kind.kind === 'ProxmoxPool')
  assert.ok(served)
  const tell = async (object: Foreign) => {
    const declared = declaredObject(served, object, 'croft-system')
    assert.ok(declared)
    const warn = (message: string) => assert.fail(message)
    const to = { client, home: 'croft-system', name: 'one', nowMs: 0, note: () => {}, warn }
    const known = { judged: made, records: [], problems: [], paused: false, kept: undefined, passed: true }
    await ground.api.lab.clock.runUntil(tellObject(to, declared, known))
    return ground.get(`${POOLS}/web`)
  }
  await ground.call('PATCH', `${POOLS}/web/status`, { status: { conditions: [OTHERS] } })
  const both = await tell(made)
  assert.equal(conditionOf(both, 'Backup'), 'True Done')
  assert.equal(conditionOf(both, 'Ready'), 'True Accepted')
  await ground.call('DELETE', `${POOLS}/web`)
  const another = await ground.call('POST', POOLS, pool('web'))
  assert.equal(at(another, 'metadata', 'generation'), at(made, 'metadata', 'generation'))
  assert.equal(conditionOf(await tell(another), 'Ready'), undefined)
})
