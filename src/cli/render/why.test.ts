import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { CroftEvent } from '../../model/record.ts'
import { whyLines } from './why.ts'

const COMMIT = 'a'.repeat(40)
const event = (seq: number, reason: string, message: string, more: Partial<CroftEvent> = {}): CroftEvent => ({
  seq,
  atMs: seq * 1000,
  type: 'Normal',
  reason,
  message,
  key: 'Machine/web',
  commit: COMMIT,
  ...more,
})

test('why tells the chain from the commit over the plan and the call to the result', () => {
  const lines = whyLines({
    key: 'Machine/web',
    record: {
      key: 'Machine/web',
      uid: 'u',
      connection: 'c',
      type: 'vm',
      generation: 'g',
      externalId: '105',
      host: 'pve1',
      policy: DEFAULT_POLICY,
      createdMs: 0,
      status: 'Running',
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Running', message: 'its agent answers', sinceMs: 5000 },
        { type: 'Stalled', status: 'False', reason: 'NotStalled', message: '', sinceMs: 0 },
      ],
      driftSinceMs: 9000,
      driftBy: { user: 'root@pam', task: 'qmstop', atMs: 8000 },
    },
    events: [
      event(2, 'Started', 'set memory to 4096', {
        cause: { plan: 'memory.dedicatedMb differs', call: 'PUT /nodes/pve1/qemu/105/config' },
      }),
      event(3, 'Done', 'set memory to 4096', { cause: { call: 'PUT /nodes/pve1/qemu/105/config' } }),
      event(4, 'Drift', 'power running → stopped \u001b[31m'),
      event(5, 'Locked', 'somebody is at work', { type: 'Warning' }),
    ],
    revisions: [event(1, 'Revision', 'main: More memory (anna)')],
    origin: 'machines/web.yaml:3:1',
  })
  assert.deepEqual(lines, [
    'Machine/web as 105 on pve1 is Running.',
    'Since 1970-01-01 00:00:05 Ready is True (Running): its agent answers.',
    'Since 1970-01-01 00:00:09 it differs from Git though Git did not change: root@pam did it at 1970-01-01 00:00:08 by qmstop.',
    'It is declared at machines/web.yaml:3:1.',
    'Commit aaaaaaaaaaaa came into force at 1970-01-01 00:00:01 (main: More memory (anna)):',
    '  1970-01-01 00:00:02 croft began to set memory to 4096, because memory.dedicatedMb differs. [PUT /nodes/pve1/qemu/105/config]',
    '  1970-01-01 00:00:03 set memory to 4096: done. [PUT /nodes/pve1/qemu/105/config]',
    lines[7],
    '  1970-01-01 00:00:05 trouble, Locked: somebody is at work.',
    'croft saw this when it last ran. Run croft health to look now.',
  ])
  assert.ok(!lines.join('').includes('\u001b'))
})

test('why says so when nothing is known', () => {
  assert.deepEqual(whyLines({ key: 'Machine/x', record: undefined, events: [], revisions: [] }), [
    'The database of this computer has no record of Machine/x: croft has not acted on it from here.',
    'Run croft plan to see whether it exists.',
  ])
})
