import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CoordinatedIntention, ThingIntention } from '../model/record.ts'
import type { RemoteTask } from '../model/resource.ts'
import type { ClusterVerb, Step } from '../model/step.ts'
import { NOW, step } from '../plan/testing/fixture.ts'
import { fateOf, fateOfStep } from './recover.ts'

function intention(verb: Step['verb'], taskId?: string): ThingIntention {
  return {
    id: '1-1',
    epoch: 1,
    key: 'Machine/web',
    uid: 'u',
    connection: 'default',
    externalId: '100',
    host: 'alpha',
    step: step(verb, '100'),
    generation: 'g',
    atMs: NOW,
    state: taskId === undefined ? 'intended' : 'started',
    ...(taskId === undefined ? {} : { taskId }),
  }
}

function task(id: string, more: Partial<RemoteTask> = {}): RemoteTask {
  return {
    id,
    host: 'alpha',
    verb: 'qmcreate',
    subject: '100',
    user: 'root@pam',
    state: 'running',
    startedMs: NOW,
    ...more,
  }
}

test('what another computer began is as old as we have known of it, whatever its clock says', () => {
  const late = intention('delete')
  const [sooner, later] = [NOW - 1_200_000, NOW + 1_200_000]
  for (const now of [sooner, later]) {
    assert.equal(fateOf(late, [], now, []).is, 'over', 'our own clock was set')
    assert.equal(fateOf(late, [], now, [], 39_000).is, 'unsure')
    assert.equal(fateOf(late, [], now, [], 41_000).is, 'over')
    assert.equal(fateOf(intention('create'), [], now, [], 0).is, 'over', 'a second one meets its own id')
  }
})

test('what became of an effect follows from the tasks that the system shows', () => {
  const table: [string, ThingIntention, RemoteTask[], number, string][] = [
    ['its task runs', intention('create', 't1'), [task('t1')], NOW, 'running'],
    ['its task has ended', intention('create', 't1'), [task('t1', { state: 'succeeded' })], NOW, 'ended'],
    ['its task is not listed: left the running set', intention('create', 't1'), [], NOW, 'ended'],
    ['no answer came, and a task is at work on it', intention('create'), [task('t2')], NOW, 'running'],
    [
      'no answer came, and the task is on another host',
      intention('create'),
      [task('t2', { host: 'beta' })],
      NOW,
      'over',
    ],
    [
      'no answer came, and nothing is at work on it',
      intention('create'),
      [task('t2', { subject: '101' })],
      NOW,
      'over',
    ],
    ['a delete without an answer may still arrive', intention('delete'), [], NOW + 39_000, 'unsure'],
    ['but not for ever', intention('delete'), [], NOW + 41_000, 'over'],
    [
      'a download names no guest',
      intention('download'),
      [task('t3', { verb: 'download', subject: '' })],
      NOW,
      'running',
    ],
  ]
  for (const [name, one, tasks, nowMs, expected] of table) assert.equal(fateOf(one, tasks, nowMs).is, expected, name)
})

test('[T-01] of several copies of one source, a task belongs to whoever knows it, and else to nobody in particular', () => {
  const copy = (id: string, taskId?: string): ThingIntention => {
    const made = intention('create', taskId)
    return { ...made, id, key: id, externalId: id, step: { ...made.step, taskSubject: '900' } }
  }
  const running = [task('t1', { verb: 'qmclone', subject: '900' })]
  const known = copy('a', 't1')
  const lost = copy('b')
  assert.equal(fateOf(lost, running, NOW, [known, lost]).is, 'over', 'the task is the other one')
  assert.equal(fateOf(lost, running, NOW, [lost]).is, 'running')
  assert.equal(fateOf(lost, running, NOW, [lost, copy('c')]).is, 'unsure', 'it may be either')
})

test('a step on a cluster or a Power of which nothing was heard is over, but for what must not arrive late', () => {
  const begun = { id: '1-1', epoch: 1, key: 'Cluster/homelab', atMs: NOW, state: 'intended' } as const
  const step = { node: 'n1', lane: 'node-program', summary: '', awaits: '' } as const
  const cluster = (verb: ClusterVerb): CoordinatedIntention => ({
    ...begun,
    // As the store returns it: without its Loss.
    step: { ...step, about: 'cluster', verb, reason: '', sinceMs: NOW } as Step<'cluster'>,
  })
  const stopHost: CoordinatedIntention = {
    ...begun,
    step: { ...step, about: 'power', verb: 'stop-host', tier: 'hosts' },
  }
  const table: [string, CoordinatedIntention, number, string][] = [
    ['joining again does no harm', cluster('join-server'), NOW, 'over'],
    ['a cordon again does no harm', cluster('cordon'), NOW, 'over'],
    ['a wipe may hit what has joined since', cluster('wipe-k3s'), NOW + 39_000, 'unsure'],
    ['but not for ever', cluster('wipe-k3s'), NOW + 41_000, 'over'],
    ['a Node may be deleted that came back', cluster('delete-node'), NOW, 'unsure'],
    ['a host may be switched off that was woken', stopHost, NOW + 1_000, 'unsure'],
    ['a clock that was set back by hours keeps nothing waiting', stopHost, NOW - 7_200_000, 'over'],
  ]
  for (const [name, one, nowMs, expected] of table) assert.equal(fateOfStep(one, nowMs).is, expected, name)
})
