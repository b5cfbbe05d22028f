import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOfReference } from '../../model/desired-secrets.ts'
import type { Plan, PlanEntry } from '../../model/plan.ts'
import { Sealed } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { SeedDocument } from '../../model/vm.ts'
import { refuseUnread, secretsOf } from './unread-secrets.ts'

const PASSWORD = { secretRef: { name: 'users', key: 'ubuntu' } }
const KEY = { env: 'SEED_KEY' }

const step = (summary: string, of: Partial<Step>): Step =>
  ({ summary, verb: 'create', host: 'a', queues: [], disruption: 'none', ...of }) as unknown as Step

const call = (params: Readonly<Record<string, string>>) => ({ method: 'POST' as const, path: '/x', params })
const withPassword = step('create', {
  lane: 'rest',
  call: call({ cipassword: JSON.stringify(PASSWORD), memory: '1' }),
  secretParams: ['cipassword'],
})
const withSeed = step('upload', {
  lane: 'rest',
  call: call({}),
  upload: {
    fileName: 'x',
    bytes: 1,
    hash: 'x',
    document: new Sealed({ userData: { password: { valueFrom: KEY } } } as unknown as SeedDocument),
  },
})
const plain = step('start', { lane: 'rest', call: call({}) })

const entry = (key: string, action: PlanEntry['action']) => ({ key, uid: key, connection: 'c', type: 'vm', action })
const create = (...steps: Step[]) => ({ do: 'create' as const, externalId: '1', host: 'a', steps })
const planOf = (...entries: unknown[]) => ({ entries, notes: [], problems: [] }) as unknown as Plan

test('secrets are found in calls, in seeds and in what is done after a wait, each once', () => {
  const plan = planOf(
    entry('a', { ...create(withPassword, withSeed, plain), reason: '' }),
    entry('b', { do: 'wait', reason: '', message: '', lookAgainMs: 1, next: create(withPassword) }),
    entry('c', { do: 'nothing' }),
  )
  assert.deepEqual(secretsOf(plan), [PASSWORD, KEY])
})

test('what needs a secret that cannot be read is refused with the cause, and nothing else is', () => {
  const plan = planOf(
    entry('a', { ...create(plain, withPassword), reason: '' }),
    entry('b', { do: 'wait', reason: '', message: '', lookAgainMs: 1, next: create(withSeed) }),
    entry('c', { ...create(plain), reason: '' }),
  )
  const refused = refuseUnread(plan, new Map([[nameOfReference(PASSWORD), 'users.yaml: no age key is known']]))
  assert.deepEqual(
    refused.entries.map(({ action }) => action.do),
    ['refuse', 'wait', 'create'],
  )
  const [first] = refused.entries
  assert.match(JSON.stringify(first?.action), /users\.yaml: no age key is known/)
  assert.equal(refuseUnread(plan, new Map()), plan)
})
