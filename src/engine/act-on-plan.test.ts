import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Step } from '../model/step.ts'
import { trafficOf } from './act-on-plan.ts'
import type { PassDeps } from './pass-deps.ts'

const KEY: ResourceKey = 'Machine/node-0'
const DEPS = { clock: systemClock, windows: { current: new Map() } } as unknown as PassDeps

interface Last {
  readonly verb: string
  readonly ready: boolean
  readonly ageMs?: number
}

/** Returns how many unready machines keep others from being restarted. */
function unready(record: Last | undefined, endedNow?: string, declared = true): number {
  const records = new Map<ResourceKey, ResourceRecord>()
  if (record !== undefined) {
    const { verb, ready, ageMs = 0 } = record
    records.set(KEY, {
      lastEffect: { verb, atMs: Date.now() - ageMs },
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    } as unknown as ResourceRecord)
  }
  const ended = new Map(
    endedNow === undefined ? [] : [[KEY, { what: 'succeeded' as const, step: { verb: endedNow } as Step }]],
  )
  const estate = { connections: [], resources: declared ? [{ key: KEY }] : [] } as unknown as Estate
  return trafficOf(estate, records, DEPS, { intentions: [] }, ended).unready
}

const ROWS: readonly (readonly [what: string, count: number, expected: number])[] = [
  ['nothing was done', unready(undefined), 0],
  ['it was restarted and is not back', unready({ verb: 'reboot', ready: false }), 1],
  ['it was restarted and is back', unready({ verb: 'reboot', ready: true }), 0],
  ['it was restarted and does not come back', unready({ verb: 'reboot', ready: false, ageMs: 3_600_000 }), 0],
  ['something else was done', unready({ verb: 'upload', ready: false }), 0],
  ['its shutdown ended in this pass, and no record knows', unready({ verb: 'upload', ready: true }, 'shutdown'), 1],
  ['a restart ended in this pass', unready(undefined, 'reboot'), 1],
  ['something else ended in this pass', unready(undefined, 'upload'), 0],
  ['it goes for good', unready({ verb: 'shutdown', ready: false }, undefined, false), 0],
  ['it goes for good, and went down in this pass', unready(undefined, 'shutdown', false), 0],
]

for (const [what, count, expected] of ROWS)
  test(`machines that keep others from being restarted: ${what}`, () => assert.equal(count, expected))
