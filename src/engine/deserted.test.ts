import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import type { RemoteTask, Survey } from '../model/resource.ts'
import { desertedIn } from './deserted.ts'

const LATER = LIMITS.desertedCreationMs

function survey(atMs: number, parts: Partial<Survey> = {}, lock = 'create'): Survey {
  const guest = { connection: 'default', type: 'vm', externalId: '300', host: 'pve1', power: 'stopped' } as const
  const resources = [lock === '' ? guest : { ...guest, lock }]
  return {
    connection: 'default',
    atMs,
    hosts: [{ name: 'pve1', online: true }],
    storages: [],
    resources,
    tasks: [],
    ...parts,
  }
}

function task(parts: Partial<RemoteTask>): RemoteTask {
  const none = { id: 'UPID', host: 'pve1', verb: 'qmcreate', subject: '300', user: 'croft', startedMs: 0 }
  return { ...none, state: 'running', ...parts }
}

type Row = readonly [what: string, first: Survey, second: Survey, deserted: boolean]

const ROWS: readonly Row[] = [
  ['left alone for long enough', survey(0), survey(LATER), true],
  ['not for long enough', survey(0), survey(LATER - 1), false],
  ['a task works on it', survey(0), survey(LATER, { tasks: [task({})] }), false],
  ['a task worked on it a while ago', survey(0, { tasks: [task({})] }), survey(LATER), false],
  ['another lock', survey(0, {}, 'backup'), survey(LATER, {}, 'backup'), false],
  ['no lock', survey(0, {}, ''), survey(LATER, {}, ''), false],
  ['its host is off', survey(0), survey(LATER, { hosts: [{ name: 'pve1', online: false }] }), false],
  [
    'a clone whose source is worked on',
    survey(0, {}, 'clone'),
    survey(LATER, { tasks: [task({ verb: 'qmclone', subject: '9000' })] }, 'clone'),
    false,
  ],
  ['a clone that nobody makes', survey(0, {}, 'clone'), survey(LATER, {}, 'clone'), true],
  [
    'its task died, says Proxmox',
    survey(0),
    survey(1, { tasks: [task({ state: 'failed', message: 'unexpected status' })] }),
    true,
  ],
  [
    'its task failed with a reason',
    survey(0),
    survey(1, { tasks: [task({ state: 'failed', message: 'no space' })] }),
    false,
  ],
]

describe('desertedIn', () => {
  for (const [what, first, second, deserted] of ROWS)
    it(what, () => {
      const since = new Map<string, number>()
      desertedIn(first, since)
      assert.deepEqual([...desertedIn(second, since)], deserted ? ['300'] : [])
    })
})
