import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../lib/clock.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { Outcome } from '../../model/step.ts'
import type { Api } from './api.ts'
import { snapshotsOf } from './snapshots.ts'
import { exampleObserved } from './testing/vm-example.ts'

const SIGNAL = new AbortController().signal
const UPID = 'UPID:pve1:00000001:00000001:00000001:vzrollback:118:root@pam!croft:'
const UID = '0123456789abcdef'

/** A clock that advances only during waits. */
function patient(): Clock {
  let nowMs = 0
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms
    },
  }
}

function scripted(answers: Readonly<Record<string, unknown>>, outcome: Outcome = { result: 'started', taskId: UPID }) {
  const sent: string[] = []
  const api: Api = {
    read: async (path) => {
      sent.push(`GET ${path}`)
      const found = Object.entries(answers).find(([end]) => path.endsWith(end))
      assert.ok(found, `nobody asked for ${path}`)
      return found[1]
    },
    readAnswer: () => assert.fail('not asked for'),
    upload: () => assert.fail('not asked for'),
    socket: () => assert.fail('not asked for'),
    ask: () => assert.fail('not asked for'),
    write: async (call) => {
      sent.push(`${call.method} ${call.path} ${JSON.stringify(call.params)}`)
      return outcome
    },
  }
  return { sent, snapshots: snapshotsOf(api, patient()) }
}

const container: ObservedResource = {
  ...exampleObserved(),
  type: 'container',
  externalId: '118',
  host: 'pve1',
  mark: { uid: UID, owner: 'Machine/web', estate: 'default', deletion: 'Delete' } as NonNullable<
    ObservedResource['mark']
  >,
}
const ENDED = { status: 'stopped', exitstatus: 'OK' }

test('a container goes back as a machine does, and is started again because it ran', async () => {
  const { sent, snapshots } = scripted({
    '/snapshot/before/config': { tags: `croft;croft-${UID}` },
    '/status/current': { status: 'running' },
    '/status': ENDED,
  })
  assert.deepEqual(await snapshots.revert(container, 'before', SIGNAL), { result: 'done' })
  assert.deepEqual(
    sent.filter((line) => line.startsWith('POST')),
    ['POST /nodes/pve1/lxc/118/snapshot/before/rollback {"start":"1"}'],
  )
  const off = scripted({
    '/snapshot/before/config': { tags: `croft-${UID}` },
    '/status/current': { status: 'stopped' },
    '/status': ENDED,
  })
  await off.snapshots.revert(container, 'before', SIGNAL)
  assert.match(off.sent.join('\n'), /rollback \{\}/, 'what was off stays off')
})

test('without our mark in the snapshot nothing is sent', async () => {
  for (const config of [{}, { tags: 'croft-fedcba9876543210' }, null]) {
    const { sent, snapshots } = scripted({ '/snapshot/before/config': config })
    const outcome = await snapshots.revert(container, 'before', SIGNAL)
    assert.ok(outcome.result === 'refused' && outcome.refusal.reason === 'NotOurs')
    assert.equal(sent.length, 1)
  }
})

test('the list says what each is, and names neither the present nor what moves a cursor', async () => {
  const { snapshots } = scripted({
    '/snapshot': [
      { name: 'first', snaptime: 1_767_225_600 },
      { name: 'sec\u001b[31mond', parent: 'first', snaptime: '1767225700' },
      { name: 'current', parent: 'first', running: 1 },
      { snaptime: 5 },
    ],
  })
  assert.deepEqual(await snapshots.list(container, SIGNAL), [
    { name: 'first', current: true, createdMs: 1_767_225_600_000 },
    { name: 'second', current: false, createdMs: 1_767_225_700_000 },
  ])
})

test('a task that fails says why, one that does not end or is not known says that it is not sure', async () => {
  const failing = scripted({ '/status': { status: 'stopped', exitstatus: "snapshot name 'x1' already used" } })
  const refused = await failing.snapshots.take(container, 'x1', SIGNAL)
  assert.ok(refused.result === 'refused')
  assert.match(refused.refusal.message, /already used/)
  const endless = scripted({ '/status': { status: 'running' } })
  const late = await endless.snapshots.remove(container, 'x1', SIGNAL)
  assert.ok(late.result === 'unclear')
  assert.match(late.message, /remove snapshot x1 of container 118 continues by itself/)
  const ended = await scripted({ '/status': { status: 'running' } }).snapshots.take(
    container,
    'x1',
    AbortSignal.abort('SIGINT'),
  )
  assert.equal(ended.result, 'unclear')
})
