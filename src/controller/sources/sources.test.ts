import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { filesOf, SIX } from '../../../test/simulation/manifests.ts'
import type { RepositoryFollower } from '../../source/git/repository.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { Store } from '../../store/port.ts'
import { inMemory } from '../testing/harness.ts'
import { linkRevision } from './link-revision.ts'
import { type InForce, mergeRevisions } from './merge.ts'
import { type Source, sourceView } from './source-state.ts'
import { openSourceStates } from './sources.ts'

const THREE = SIX.slice(0, 3)
const FIRST = 'machines/server-1.yaml'
const LARGER = filesOf(THREE.map((one) => ({ ...one, memory: 4096 })))
const never = new AbortController().signal
const errorsIn = async (parts: readonly InForce[]) =>
  linkRevision(mergeRevisions(parts)).problems.filter(({ severity }) => severity === 'error')

/** Makes one source with a remote that accepts pushes and can become unreachable. */
async function oneSource(
  given: { readonly pollMs?: number; readonly manual?: boolean; readonly slowMs?: number; readonly store?: Store } = {},
) {
  const clock = createVirtualClock(1_000_000)
  const store = given.store ?? createMemoryStore()
  const epoch = await store.beginEpoch()
  const remote = { files: filesOf(THREE), commit: 'a'.repeat(40), away: false }
  let inner = inMemory(() => remote)
  let mayReturnTo = (_commit: string) => false
  const follower: RepositoryFollower = {
    async look(signal) {
      if (remote.away) return { is: 'kept', reason: 'unreachable', message: 'Could not resolve host: git.example' }
      const seen = await inner.look(signal)
      if (given.slowMs !== undefined) await clock.sleep(given.slowMs)
      return seen
    },
  }
  const { pollMs = 60_000, manual = false } = given
  const open: Source['open'] = (options) => {
    mayReturnTo = options.mayReturnTo
    return follower
  }
  /** As when a missing fetch arrives: the commit becomes new again. */
  const readAgain = () => {
    inner = inMemory(() => remote)
  }
  const source = { name: 'main', remote: 'm', ref: 'main', pollMs, manual, open }
  const counters = { sourceLooks: 0, sourceTroubles: 0 }
  const sources = await openSourceStates({ clock, store, epoch, counters, sources: [source], tell: async () => {} })
  const [state] = sources.states
  assert.ok(state)
  const look = async () => {
    await clock.advanceTo(clock.now() + pollMs)
    await sources.look(never, errorsIn)
    return sourceView(state)
  }
  return { clock, sources, state, remote, look, store, readAgain, mayReturnTo: (commit: string) => mayReturnTo(commit) }
}

test('[F-36] a broken commit is told of as long as it is there, also after the network was away', async () => {
  const { remote, look } = await oneSource()
  await look()
  const good = remote.files
  const text = (good[FIRST] ?? '').replace('nodeName:', 'nodeNam:')
  Object.assign(remote, { files: { ...good, [FIRST]: text }, commit: 'b'.repeat(40) })
  assert.match((await look()).trouble ?? '', /server-1\.yaml/)
  remote.away = true
  const away = await look()
  assert.match(away.trouble ?? '', /Could not resolve host.*; and .*server-1\.yaml/, 'both are said')
  assert.equal(away.unreachable, true)
  remote.away = false
  for (let n = 0; n < 3; n++) {
    const back = await look()
    assert.match(back.trouble ?? '', /^revision b+ has 1 error.*server-1\.yaml/)
    assert.equal(back.unreachable, undefined)
  }
  Object.assign(remote, { files: good, commit: 'a'.repeat(40) })
  assert.equal((await look()).trouble, undefined, 'the branch is back at what is in force')
})

test('a commit that waits for a person is no trouble after the network was away', async () => {
  const { remote, sources, state, look } = await oneSource({ manual: true })
  sources.approve('main', remote.commit)
  await look()
  Object.assign(remote, { files: LARGER, commit: 'b'.repeat(40) })
  await look()
  remote.away = true
  assert.equal((await look()).unreachable, true)
  remote.away = false
  const view = await look()
  assert.deepEqual([view.trouble, view.unreachable, state.waiting?.whole], [undefined, undefined, true])
})

test('a push that is told of during a look is looked at once more', async () => {
  const { clock, remote, sources, state } = await oneSource({ pollMs: 3_600_000, slowMs: 2_000 })
  const first = sources.look(never, errorsIn)
  await clock.advanceTo(clock.now() + 1_000)
  Object.assign(remote, { files: LARGER, commit: 'b'.repeat(40) })
  assert.ok(sources.hurry('main'))
  await clock.runUntil(first)
  assert.equal(sources.dueMs() - clock.monotonicMs(), 0)
  await clock.runUntil(sources.look(never, errorsIn))
  assert.equal(state.revision?.id, remote.commit)
  assert.equal(sources.dueMs() - clock.monotonicMs(), 3_600_000)
})

test('an approval that comes while another commit is put in force is not lost', async () => {
  const { remote, sources, state, look } = await oneSource({ manual: true })
  let approves = true
  await look()
  const approving = async (parts: readonly InForce[]) => {
    if (approves) sources.approve('main', remote.commit)
    approves = false
    return errorsIn(parts)
  }
  Object.assign(remote, { files: LARGER, commit: 'b'.repeat(40) })
  state.dueMs = 0
  await sources.look(never, approving)
  await sources.look(never, errorsIn)
  assert.equal(state.revision?.id, remote.commit)
})

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)]

test('an approval ends when its commit comes into force: a branch that is forced back waits for another one', async () => {
  const { remote, sources, state, look } = await oneSource({ manual: true })
  const first = remote.files
  sources.approve('main', A)
  await look()
  assert.equal(state.revision?.id, A)
  Object.assign(remote, { files: LARGER, commit: B })
  sources.approve('main', B)
  await look()
  assert.equal(state.revision?.id, B)
  Object.assign(remote, { files: first, commit: A })
  await look()
  assert.deepEqual([state.revision?.id, state.waiting?.revision.id], [B, A])
  sources.approve('main', A)
  await look()
  assert.equal(state.revision?.id, A, 'another approval is as good as the first')
})

test('the consent to a step back is for one step, and holds until that is made', async () => {
  const { remote, sources, state, look, mayReturnTo } = await oneSource()
  const first = remote.files
  await look()
  Object.assign(remote, { files: LARGER, commit: B })
  await look()
  sources.allowReturn(`main@${A}`)
  sources.allowReturn(`main@${'c'.repeat(40)}`)
  assert.ok(mayReturnTo(A))
  Object.assign(remote, { files: first, commit: A })
  await look()
  assert.equal(state.revision?.id, A)
  assert.deepEqual([mayReturnTo(A), mayReturnTo('c'.repeat(40))], [false, true])
})

test('the commit in force needs no other approval when it is read again, nor after a restart', async () => {
  const { sources, state, look, readAgain, store } = await oneSource({ manual: true })
  sources.approve('main', A)
  await look()
  readAgain()
  await look()
  assert.deepEqual([state.revision?.id, state.waiting], [A, undefined])
  const later = await oneSource({ manual: true, store })
  await later.look()
  assert.equal(later.state.revision?.id, A)
  Object.assign(later.remote, { files: LARGER, commit: B })
  await later.look()
  assert.deepEqual([later.state.revision?.id, later.state.waiting?.revision.id], [A, B])
})

test('what is wrong with a source shows no secret: of its declarations, and of its remote', async () => {
  const { state } = await oneSource()
  const message = 'https://croft:hunter2@git.example.org says no'
  const view = sourceView({
    ...state,
    trouble: { reason: 'broken', message },
    away: { reason: 'unreachable', message },
  })
  const masked = 'https://croft:***@git.example.org says no'
  assert.equal(view.trouble, `${masked}; and ${masked}`)
})
