import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action, Plan, PlanEntry } from '../model/plan.ts'
import type { ConnectionFacts } from './connection-facts.ts'
import { sayWhyUnread } from './observation.ts'

const missing = { look: 'config', externalId: '101' } as const
const wait: Action = { do: 'wait', reason: 'NotReadClosely', message: 'not read yet', lookAgainMs: 1, missing }
const entry = (action: Action, more: Partial<PlanEntry> = {}): PlanEntry => ({
  key: 'Machine/web-1',
  uid: 'u',
  connection: 'default',
  type: 'vm',
  action,
  host: 'pve1',
  ...more,
})
const facts = (online: boolean, failed: readonly (readonly [string, string])[] = []) => {
  const survey = {
    hosts: [
      { name: 'pve1', online },
      { name: 'pve2', online: true },
    ],
  }
  return new Map([['default', { survey, failed: new Map(failed) } as unknown as ConnectionFacts]])
}

test('what could not be read says why: the host is off, is not there, or somebody refused to say', () => {
  const told = (one: PlanEntry, seen: ReadonlyMap<string, ConnectionFacts>): string => {
    const plan: Plan = { entries: [one], notes: [], problems: [] }
    const { action } = sayWhyUnread(plan, seen).entries[0] ?? entry({ do: 'nothing' })
    return action.do === 'wait' ? `${action.reason}: ${action.message}` : action.do
  }
  assert.match(told(entry(wait), facts(false)), /^HostOffline: host pve1 is offline/)
  assert.equal(
    told(entry(wait, { host: 'pve9' }), facts(true)),
    'NoSuchHost: default has no host pve9; it has pve1, pve2',
  )
  assert.equal(told(entry(wait), facts(true, [[JSON.stringify(missing), 'no rights']])), 'CannotBeRead: no rights')
  assert.equal(told(entry(wait), facts(true)), 'NotReadClosely: not read yet')
  // A finished entry, or one that waits for something else, has its reason already.
  const { missing: _lack, ...other } = wait
  assert.equal(told(entry(other), facts(false)), 'NotReadClosely: not read yet')
  assert.equal(told(entry({ do: 'nothing' }), facts(false)), 'nothing')
  assert.equal(told(entry(wait, { connection: 'another' }), facts(false)), 'NotReadClosely: not read yet')
})
