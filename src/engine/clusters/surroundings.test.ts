import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceRecord } from '../../model/record.ts'
import { guest, ledgerWith, machine, NOW, recordOf } from '../../plan/testing/fixture.ts'
import { drillReach, type ObservedMachines } from './surroundings.ts'

const web = machine('web')
const WAYS = { intoGuest: () => undefined, hosts: new Map(), former: new Map() }

function seen(record: Partial<ResourceRecord>, more: Partial<ObservedMachines> = {}): ObservedMachines {
  return {
    resources: new Map([[web.key, web]]),
    identities: new Map([[web.key, { is: 'ours', observed: guest(100, { of: web.key }) }]]),
    leaving: [],
    kept: new Map(),
    restarts: new Map(),
    hosts: new Map(),
    ledger: ledgerWith({ known: [recordOf(web, record)] }),
    nowMs: NOW,
    suspect: new Set(),
    ...more,
  }
}

const machineOf = (...args: Parameters<typeof seen>) => drillReach(web.key, seen(...args), WAYS).machine

test('a machine that croft made is as old as croft has seen it; of another nobody knows', () => {
  assert.equal(machineOf({ made: true, seenMs: NOW - 5 }).firstSeenMs, NOW - 5)
  assert.equal(machineOf({ made: true }).firstSeenMs, NOW)
  assert.equal(machineOf({ seenMs: NOW - 5 }).firstSeenMs, undefined)
})

test('a machine is gone only where the whole connection was seen and looked right', () => {
  const identities: ObservedMachines['identities'] = new Map([[web.key, { is: 'absent' }]])
  assert.equal(machineOf({}, { identities }).exists, 'no')
  assert.equal(machineOf({}, { identities, suspect: new Set(['default']) }).exists, 'unknown')
  assert.equal(machineOf({}, { identities, resources: new Map() }).exists, 'unknown')
  assert.equal(machineOf({}, { identities: new Map() }).exists, 'unknown')
  assert.equal(machineOf({}).exists, 'yes')
})
