import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { type Driver, type DriverDeps, ObservationFailed, type Session } from '../drivers/port.ts'
import type { Estate } from '../model/estate.ts'
import type { ObservedResource } from '../model/resource.ts'
import type { Refusal } from '../model/step.ts'
import { createConsoles } from './consoles.ts'

const SIZE = { columns: 80, rows: 24 }
const NEVER = new AbortController().signal

interface World {
  readonly marks?: readonly string[]
  readonly refusal?: Refusal
  readonly without?: 'console' | 'connection' | 'driver' | 'pass'
  readonly broken?: Error
}

/** A machine, a cluster's object beside it, and a driver that counts its open sessions. */
function world({ marks = ['uid-web'], refusal, without, broken }: World = {}) {
  const opened: string[] = []
  let sessions = 0
  const stream = new PassThrough()
  const console: Session['console'] = {
    lines: () => [],
    async open(observed) {
      opened.push(observed.externalId)
      if (broken !== undefined) throw broken
      if (refusal !== undefined) throw new ObservationFailed(refusal)
      return { stream, resize: () => undefined }
    },
  }
  const session = {
    survey: async () => ({
      resources: marks.map(
        (uid, index) => ({ externalId: `10${index}`, mark: { uid } }) as unknown as ObservedResource,
      ),
    }),
    ...(without === 'console' ? {} : { console }),
    close: async () => void sessions--,
  } as unknown as Session
  const driver = {
    name: 'lab',
    connect: () => {
      sessions++
      return session
    },
  } as unknown as Driver
  const estate = {
    resources: [
      { key: 'Machine/web', uid: 'uid-web', connection: 'pve', driver: 'lab', desired: { type: 'vm', vm: {} } },
      { key: 'Addon/x', uid: 'uid-x', connection: 'pve', driver: 'lab', desired: { type: 'object', object: {} } },
    ],
    connections: without === 'connection' ? [] : [{ name: 'pve' }],
  } as unknown as Estate
  const consoles = createConsoles({
    estate: () => (without === 'pass' ? undefined : estate),
    drivers: without === 'driver' ? [] : [driver],
    deps: {} as DriverDeps,
  })
  return { consoles, opened, stream, sessions: () => sessions }
}

test('the console of a machine is opened on the guest that has its mark, and its session lives as long', async () => {
  const it = world({ marks: ['somebody-else', 'uid-web'] })
  assert.deepEqual(['Machine/web', 'Addon/x', 'Machine/none'].map(it.consoles.offers), [true, false, false])
  const opened = await it.consoles.open('Machine/web', SIZE, NEVER)
  assert.ok(opened.ok)
  assert.deepEqual([it.opened, it.sessions()], [['101'], 1])
  opened.terminal.stream.destroy()
  await new Promise((done) => setImmediate(done))
  assert.equal(it.sessions(), 0)
})

const refusal = (meaning: Refusal['meaning']): Refusal => ({ reason: 'X', meaning, message: 'it has no \u001b[1mport' })

for (const [what, parts, key, reason, message] of [
  ['nothing was seen yet', { without: 'pass' }, 'Machine/web', 'not-found', /not declared/],
  ['it is no machine', {}, 'Addon/x', 'not-found', /not declared/],
  ['its connection is gone', { without: 'connection' }, 'Machine/web', 'not-found', /speaks to its host/],
  ['nothing speaks to it', { without: 'driver' }, 'Machine/web', 'not-found', /speaks to its host/],
  ['its driver has none', { without: 'console' }, 'Machine/web', 'not-found', /driver lab has no console/],
  ['it was not made yet', { marks: ['other'] }, 'Machine/web', 'refused', /not there yet/],
  ['two have its mark', { marks: ['uid-web', 'uid-web'] }, 'Machine/web', 'refused', /2 guests carry the mark/],
  ['the driver says no', { refusal: refusal('stalled') }, 'Machine/web', 'refused', /^it has no port$/],
  ['the host is away', { refusal: refusal('backoff') }, 'Machine/web', 'away', /^it has no port$/],
] as const)
  test(`no console, and no session is left open: ${what}`, async () => {
    const it = world(parts)
    const answer = await it.consoles.open(key, SIZE, NEVER)
    assert.ok(!answer.ok)
    assert.equal(answer.reason, reason)
    assert.match(answer.message, message)
    assert.equal(it.sessions(), 0)
  })

test('somebody who has gone gets no console, and what nobody expected is no answer', async () => {
  const late = world({ broken: new Error('aborted') })
  const answer = await late.consoles.open('Machine/web', SIZE, AbortSignal.abort())
  assert.match(answer.ok ? '' : answer.message, /did not open in time/)
  const broken = world({ broken: new Error('a bug') })
  await assert.rejects(broken.consoles.open('Machine/web', SIZE, NEVER), /a bug/)
  assert.deepEqual([late.sessions(), broken.sessions()], [0, 0])
})
