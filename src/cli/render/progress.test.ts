import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../engine/engine.ts'
import { LIMITS } from '../../lib/limits.ts'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { Action } from '../../model/plan.ts'
import type { Condition, NewEvent } from '../../model/record.ts'
import { advance, beginProgress, heartbeat, liveLines, outcome, renderLine } from './progress.ts'
import { PLAIN } from './text.ts'

const KEY = 'Machine/web-1'
const creating: Action = { do: 'create', externalId: '1', host: 'h', steps: [], reason: '' }
const waiting: Action = { do: 'wait', reason: 'InProgress', message: 'm', lookAgainMs: 1 }

function report(
  action: Action | undefined,
  status: string | undefined,
  conditions: readonly Partial<Condition>[] = [],
  events: readonly NewEvent[] = [],
): PassReport {
  const full = conditions.map(
    (one) => ({ type: 'Ready', status: 'False', reason: '', message: '', sinceMs: 0, ...one }) as Condition,
  )
  return {
    plan: {
      entries: action === undefined ? [] : [{ key: KEY, uid: 'u', connection: 'c', type: 'vm', action }],
      notes: [],
      problems: [],
    },
    records:
      status === undefined
        ? []
        : [
            {
              key: KEY,
              uid: 'u',
              connection: 'c',
              type: 'vm',
              generation: 'g',
              policy: DEFAULT_POLICY,
              conditions: full,
              createdMs: 0,
              status,
            },
          ],
    events,
    effects: 0,
    settled: false,
    lookAgainMs: 0,
  }
}

const event = (atMs: number, reason: string): NewEvent => ({ atMs, key: KEY, type: 'Normal', reason, message: 'm' })

test('a resource is told from its first action until it is ready, each change once', () => {
  let { progress, lines } = advance(
    beginProgress(0),
    report(creating, 'Creating', [], [event(100, 'CreateStarted')]),
    100,
  )
  assert.deepEqual(
    lines.map((line) => line.reason),
    ['CreateStarted'],
  )
  ;({ progress, lines } = advance(progress, report(waiting, 'Creating'), 600))
  assert.deepEqual(lines, [])
  ;({ progress, lines } = advance(progress, report({ do: 'nothing' }, 'Booting', [{ message: 'no agent yet' }]), 4000))
  assert.deepEqual(
    lines.map((line) => renderLine(line, 0, PLAIN)),
    ['  4.0s ► Machine/web-1  Booting  no agent yet\n'],
  )
  ;({ progress, lines } = advance(progress, report({ do: 'nothing' }, 'Running', [{ status: 'True' }]), 42_100))
  assert.deepEqual(
    lines.map((line) => renderLine(line, 0, PLAIN)),
    ['   42s ✔ Machine/web-1  Running  after 42s\n'],
  )
  ;({ progress, lines } = advance(progress, report({ do: 'nothing' }, 'Running', [{ status: 'True' }]), 50_000))
  assert.deepEqual(lines, [])
  assert.equal(outcome(progress).create, 1)
  assert.equal(outcome(progress).unfinished, 0)
})

test('what is silent for ten seconds gets a heartbeat, and again ten seconds later', () => {
  const { progress } = advance(beginProgress(0), report(creating, 'Creating'), 0)
  assert.deepEqual(heartbeat(progress, 9_999).lines, [])
  const beat = heartbeat(progress, 10_000)
  assert.deepEqual(
    beat.lines.map((line) => renderLine(line, 0, PLAIN)),
    ['   10s ◎ Machine/web-1  still creating… [10s elapsed]\n'],
  )
  assert.deepEqual(heartbeat(beat.progress, 15_000).lines, [])
  assert.equal(heartbeat(beat.progress, 20_000).lines.length, 1)
})

test('stalled ends the story as a failure', () => {
  const begun = advance(beginProgress(0), report(creating, 'Creating'), 0).progress
  const refused: Action = { do: 'refuse', guard: 'stalled', reason: 'r', allow: 'a' }
  const { progress, lines } = advance(
    begun,
    report(refused, 'Stalled', [{ type: 'Stalled', status: 'True', message: 'no space' }]),
    5,
  )
  assert.deepEqual(
    lines.map((line) => [line.tone, line.message]),
    [['warning', 'no space']],
  )
  assert.equal(outcome(progress).failed, 1)
  assert.equal(outcome(progress).create, 0)
})

test('what had stalled in an earlier run and ends well in this one is no failure', () => {
  const starting: Action = { do: 'update', externalId: '1', changes: [], steps: [], reason: '' }
  const stalled = { type: 'Stalled', status: 'True', message: 'no space' } as const
  let { progress } = advance(beginProgress(0), report(starting, 'Stalled', [stalled]), 0)
  progress = advance(progress, report(waiting, 'Starting'), 1).progress
  assert.deepEqual([outcome(progress).failed, outcome(progress).unfinished], [0, 1])
  progress = advance(progress, report({ do: 'nothing' }, 'Running', [{ status: 'True' }]), 2).progress
  assert.deepEqual([outcome(progress).failed, outcome(progress).update], [0, 1])
})

test('a machine whose cloud-init failed is told as failed, and nobody says any more that it is being made', () => {
  const begun = advance(beginProgress(0), report(creating, 'Creating'), 0).progress
  const failed = { reason: 'CloudInitFailed', status: 'False', message: 'cloud-init failed: no space' } as const
  const { progress, lines } = advance(begun, report({ do: 'nothing' }, 'Failed', [failed]), 5000)
  assert.deepEqual(
    lines.map((line) => renderLine(line, 0, PLAIN)),
    ['  5.0s ✗ Machine/web-1  Failed  cloud-init failed: no space\n'],
  )
  assert.deepEqual(
    heartbeat(progress, 60_000).lines.map(({ reason }) => reason),
    [],
  )
  assert.deepEqual([outcome(progress).failed, outcome(progress).create, outcome(progress).unfinished], [1, 0, 0])
})

test('a deleted thing ends when it is neither planned nor remembered', () => {
  const gone: Action = { do: 'delete', externalId: '1', host: 'h', steps: [], reason: '' }
  const begun = advance(beginProgress(0), report(gone, 'Deleting'), 0).progress
  const { progress } = advance(begun, report(undefined, undefined), 5)
  assert.equal(outcome(progress).delete, 1)
})

test('what only waits or is already fine is not followed', () => {
  const { progress, lines } = advance(beginProgress(0), report({ do: 'nothing' }, 'Running', [{ status: 'True' }]), 0)
  assert.equal(progress.tracked.size, 0)
  assert.deepEqual(lines, [])
})

test('live lines show what is under way, the oldest first, and a bounded number of them', () => {
  const entries = Array.from({ length: 20 }, (_, index) => `Machine/m${String(index).padStart(2, '0')}`)
  const { progress } = advance(
    beginProgress(0),
    {
      ...report(undefined, undefined),
      plan: {
        entries: entries.map((key) => ({ key, uid: key, connection: 'c', type: 'vm', action: creating })),
        notes: [],
        problems: [],
      },
      records: [],
    },
    0,
  )
  const lines = liveLines(progress, 1000, PLAIN)
  assert.equal(lines.length, 13)
  assert.match(lines[0] ?? '', /^. Machine\/m00 {2}Creating 1\.0s$/)
  assert.equal(lines[12], '  … and 8 more')
})

test('when nothing is under way, what waits is told with what it waits for, again and again', () => {
  const unmet: Action = { do: 'wait', reason: 'NeedsNotReady', message: 'waits for the moon', lookAgainMs: 1 }
  const { progress } = advance(beginProgress(0), report(unmet, 'Waiting'), 100)
  assert.deepEqual(heartbeat(progress, LIMITS.heartbeatMs - 1).lines, [])
  const first = heartbeat(progress, LIMITS.heartbeatMs)
  assert.deepEqual(
    first.lines.map(({ key, message }) => [key, message]),
    [[KEY, 'still waits for the moon']],
  )
  assert.deepEqual(heartbeat(first.progress, LIMITS.heartbeatMs + 1).lines, [], 'not at every tick')
  assert.equal(heartbeat(first.progress, 2 * LIMITS.heartbeatMs).lines.length, 1)
  assert.deepEqual(liveLines(progress, 100, PLAIN), [`… ${KEY}  waits for the moon`])
  const { progress: begun } = advance(progress, report(creating, 'Creating'), 200)
  assert.doesNotMatch(liveLines(begun, 200, PLAIN).join(), /moon/)
})

test('a cluster that waits between two steps is told with what it waits for, and not while a step is done', () => {
  const wait = { awaits: 'k3s-2 to stay healthy for 10 min (upgrade.soak)', sinceMs: 0 }
  const passed = (steps: readonly object[]) => {
    const { plan, ...rest } = report(undefined, undefined)
    const clusters = [{ declaration: { key: 'Cluster/home' }, decision: { steps, waits: [wait] } }]
    return { ...rest, plan: { ...plan, clusters } } as unknown as PassReport
  }
  const { progress } = advance(beginProgress(0), passed([]), 100)
  assert.deepEqual(
    heartbeat(progress, LIMITS.heartbeatMs).lines.map(({ key, message }) => [key, message]),
    [['Cluster/home', 'still waits for k3s-2 to stay healthy for 10 min (upgrade.soak)']],
  )
  assert.match(liveLines(progress, 100, PLAIN).join(), /Cluster\/home {2}waits for k3s-2 to stay healthy/)
  const { progress: at } = advance(progress, passed([{}]), 200)
  assert.deepEqual(heartbeat(at, LIMITS.heartbeatMs).lines, [])
  const drain = { verb: 'drain', awaits: 'no pod left to move on k3s-2', reason: '1 pod left on k3s-2: its budget' }
  const { progress: draining } = advance(progress, passed([drain]), 200)
  assert.deepEqual(
    heartbeat(draining, LIMITS.heartbeatMs).lines.map(({ message }) => message),
    ['still waits for no pod left to move on k3s-2: 1 pod left on k3s-2: its budget'],
  )
})

test('trouble that comes again at the next attempt is told once, with a sign of life now and then', () => {
  const trouble: NewEvent = {
    atMs: 5,
    key: 'Cluster/home',
    type: 'Warning',
    reason: 'NoChecksum',
    message: 'none found',
  }
  let { progress, lines } = advance(beginProgress(0), report(undefined, undefined, [], [trouble]), 5)
  assert.equal(lines.length, 1)
  ;({ progress, lines } = advance(progress, report(undefined, undefined, [], [{ ...trouble, atMs: 900 }]), 900))
  assert.deepEqual(lines, [])
  const other = { ...trouble, message: 'another' }
  ;({ progress, lines } = advance(progress, report(undefined, undefined, [], [trouble, other]), 1000))
  assert.deepEqual(
    lines.map(({ message }) => message),
    ['another'],
  )
  assert.deepEqual(heartbeat(progress, 1000 + LIMITS.heartbeatMs).lines, [])
  const beat = heartbeat(progress, 1000 + LIMITS.heartbeatMs * 6)
  assert.match(beat.lines[0]?.message ?? '', /still trying; the trouble above has not changed \[1m01s elapsed\]/)
  assert.deepEqual(heartbeat(beat.progress, 1001 + LIMITS.heartbeatMs * 6).lines, [])
  assert.match(liveLines(progress, 5000, PLAIN)[0] ?? '', /still trying/)
})

test('trouble is told in full once; what follows from it adds only what is new', () => {
  const cause = `checksum mismatch: got 'd2a6' != expect '0000'; look up the checksum that its publisher lists for it`
  const advice = 'change the declaration, or remove the cause and run croft apply'
  const warning = (reason: string, message: string): NewEvent => ({
    ...event(1, reason),
    type: 'Warning',
    message,
  })
  const { progress, lines } = advance(
    beginProgress(0),
    report(creating, 'Creating', [], [warning('ChecksumMismatch', `download noble.qcow2: ${cause}`)]),
    1,
  )
  const after = advance(
    progress,
    report(creating, 'Creating', [], [warning('Stalled', cause), warning('Refused', `${cause}; ${advice}`)]),
    2,
  )
  const told = [...lines, ...after.lines].map((line) =>
    renderLine(line, 0, PLAIN).trim().split('  ').slice(1).join(' '),
  )
  assert.deepEqual(told, [
    `ChecksumMismatch download noble.qcow2: ${cause}`,
    'Stalled as above',
    `Refused as above; ${advice}`,
  ])
  assert.equal(after.lines[1]?.message, `${cause}; ${advice}`, 'whole for programs')
  const again = advance(after.progress, report(creating, 'Creating', [], [warning('Stalled', cause)]), 3)
  assert.deepEqual(again.lines, [], 'nothing is told twice')
  const short = advance(progress, report(creating, 'Creating', [], [warning('Stalled', 'no space left')]), 2)
  assert.equal(short.lines[0]?.short, undefined)
})

test('what one cause does to several things is told in full of the first', () => {
  const message = (name: string) =>
    `this revision would delete 3 of 6 machines, the limit is 1; run croft delete Machine/${name}`
  const events = ['a', 'b', 'c'].map(
    (name): NewEvent => ({ atMs: 1, key: `Machine/${name}`, type: 'Warning', reason: 'Held', message: message(name) }),
  )
  const { lines, progress } = advance(beginProgress(0), report(undefined, undefined, [], events), 1)
  assert.deepEqual(
    lines.map(({ short, message: whole }) => short ?? whole),
    [message('a'), 'as Machine/a', 'as Machine/a'],
  )
  assert.deepEqual(advance(progress, report(undefined, undefined, [], events), 2).lines, [])
})
