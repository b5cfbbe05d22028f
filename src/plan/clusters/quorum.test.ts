import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { majority } from '../../lib/majority.ts'
import type { EtcdMember } from '../../model/observed-cluster.ts'
import { refusesAdd, refusesRemove } from './etcd-rules.ts'
import { allowed, quorum, type ServerAction } from './quorum.ts'
import { tolerance } from './servers-change.ts'
import { member } from './testing/fixture.ts'

const STATES = ['up', 'down', 'learner', 'unknown'] as const
type State = (typeof STATES)[number]

/** Every combination of states of so many servers. */
function* combinations(count: number): Generator<readonly State[]> {
  for (let number = 0; number < STATES.length ** count; number++) {
    let rest = number
    yield Array.from({ length: count }, () => {
      const state = STATES[rest % STATES.length] ?? 'unknown'
      rest = Math.floor(rest / STATES.length)
      return state
    })
  }
}

function membersOf(states: readonly State[]): readonly EtcdMember[] {
  return states.map((state, index) =>
    member(`s${index}`, {
      learner: state === 'learner',
      up: state === 'down' ? 'no' : state === 'unknown' ? 'unknown' : 'yes',
    }),
  )
}

/** Returns all states that this one may be: an unknown server may be up or down. */
function truths(states: readonly State[]): readonly (readonly State[])[] {
  const at = states.indexOf('unknown')
  if (at < 0) return [states]
  return (['up', 'down'] as const).flatMap((truth) => truths(states.with(at, truth)))
}

const voters = (states: readonly State[]) => states.filter((state) => state !== 'learner')
const upOf = (states: readonly State[]) => states.filter((state) => state === 'up').length

describe('[F-27] the quorum guard, exhaustively', () => {
  for (const count of [1, 3, 5, 7]) {
    test(`${count} servers, every state, every action`, () => {
      let judged = 0
      let passed = 0
      for (const states of combinations(count)) {
        const members = membersOf(states)
        // Servers in the same state are interchangeable: test the first of each state.
        for (const state of new Set(states)) {
          const target = states.indexOf(state)
          for (const verb of [
            'reboot',
            'upgrade',
            'delete',
            'replace',
            'stop',
            'remove-member',
            'remove-live',
          ] as const) {
            judged += 1
            const action: ServerAction = { do: verb, node: `s${target}` }
            if (!allowed(action, { members }).allowed) continue
            passed += 1
            for (const truth of truths(states)) check(verb, truth, target)
          }
        }
      }
      const expected = [...combinations(count)].reduce((sum, states) => sum + new Set(states).size * 7, 0)
      assert.equal(judged, expected, 'all states were judged')
      assert.ok(passed > 0 && passed < judged)
    })
  }

  /** For every possible value of the unknowns, croft must not push the voters below the majority. */
  function check(verb: ServerAction['do'], truth: readonly State[], target: number): void {
    const told = `${verb} of s${target} in ${truth.join(' ')}`
    const before = voters(truth)
    const isVoter = truth[target] !== 'learner'
    const stops = verb !== 'remove-live' && verb !== 'remove-member'
    const removes = verb !== 'reboot' && verb !== 'upgrade' && verb !== 'stop'
    const held = upOf(before) >= majority(before.length)
    if (removes) assert.ok(held, `${told}: a removal needs a majority to agree`)
    if (stops && isVoter && held) {
      const left = upOf(truth.toSpliced(target, 1))
      const taken = truth[target] === 'up' ? left : upOf(before)
      assert.ok(taken >= majority(before.length), `${told}: stopped`)
    }
    if (removes && isVoter) {
      const rest = voters(truth.toSpliced(target, 1))
      assert.ok(upOf(rest) >= majority(rest.length), `${told}: removed`)
    }
  }
})

describe('quorum', () => {
  test('unknown counts as down', () => {
    assert.deepEqual(quorum(membersOf(['up', 'up', 'unknown'])), {
      voters: 3,
      majority: 2,
      up: 2,
      held: true,
      spare: 0,
    })
    assert.deepEqual(quorum(membersOf(['up', 'unknown', 'unknown'])).held, false)
    assert.deepEqual(quorum(membersOf(['up', 'up', 'up', 'learner'])).voters, 3)
  })

  test('when the members are not known, nothing is allowed', () => {
    for (const verb of ['reboot', 'upgrade', 'delete', 'replace'] as const) {
      assert.equal(allowed({ do: verb, node: 's1' }, { members: 'unknown' }).allowed, false)
    }
    assert.equal(allowed({ do: 'add' }, { members: 'unknown' }).allowed, false)
  })

  test('no server is added to a lost majority, also where etcd would take one beside a single voter', () => {
    for (const states of [['down'], ['unknown'], ['up', 'down'], ['up', 'unknown', 'down']] as const) {
      const members = membersOf(states).map((one) => ({ ...one, etcd: '3.6.14' }))
      const answer = allowed({ do: 'add' }, { members })
      assert.ok(!answer.allowed && answer.reason.startsWith('etcd has lost its majority'), states.join())
    }
  })

  test('says what is missing and what would help', () => {
    assert.deepEqual(allowed({ do: 'reboot', node: 's0' }, { members: membersOf(['up', 'up', 'unknown']) }), {
      allowed: false,
      reason: 'without s0 only 1 of 3 etcd voters would certainly be up, 2 are needed',
      allow: 'bring the other servers back first',
    })
  })

  test('one or two servers may be interrupted when a person says so, but only when all are up, and never deleted so', () => {
    const may = (verb: 'upgrade' | 'delete', states: readonly State[]) =>
      allowed({ do: verb, node: 's0' }, { members: membersOf(states) }, { degraded: false, interruption: true }).allowed
    assert.equal(may('upgrade', ['up']), true)
    assert.equal(may('upgrade', ['up', 'up']), true)
    assert.equal(may('upgrade', ['unknown']), false)
    assert.equal(may('upgrade', ['up', 'down']), false)
    assert.equal(may('upgrade', ['up', 'up', 'down']), false)
    assert.equal(may('delete', ['up']), false)
    assert.equal(allowed({ do: 'upgrade', node: 's0' }, { members: membersOf(['up']) }).allowed, false)
  })

  test('of two servers one may only leave alive', () => {
    const members = membersOf(['up', 'up'])
    assert.equal(allowed({ do: 'delete', node: 's0' }, { members }).allowed, false)
    assert.equal(allowed({ do: 'remove-live', node: 's0' }, { members }).allowed, true)
  })
})

describe("etcd's own rules", () => {
  // voters, connected, release, accepted
  const adds: readonly [number, number, string | undefined, boolean][] = [
    [1, 1, '3.5.21', true],
    [3, 3, '3.5.29', true],
    [3, 2, '3.5.29', false],
    [3, 2, '3.6.10', false],
    [3, 2, undefined, false],
    [3, 2, '3.6.11', false],
    [3, 3, '3.6.11', true],
    [5, 4, '3.6.10', false],
    [5, 4, '3.6.11', true],
    [5, 3, '3.6.14', false],
    [2, 2, '3.6.14', true],
    [2, 1, '3.6.14', false],
  ]
  for (const [voters, connected, etcd, accepted] of adds) {
    test(`adding to ${voters} voters, ${connected} connected, etcd ${etcd}: ${accepted}`, () => {
      const refusal = refusesAdd({ voters, connected, learners: 0, etcd })
      assert.equal(refusal, accepted ? undefined : 'etcdserver: unhealthy cluster')
    })
  }
  test('one learner at a time', () => {
    const refusal = refusesAdd({ voters: 3, connected: 3, learners: 1, etcd: '3.6.14' })
    assert.equal(refusal, 'etcdserver: too many learner members in cluster')
  })

  // voters, others up, target up, accepted
  const removals: readonly [number, number, boolean, boolean][] = [
    [3, 2, false, true],
    [3, 1, false, false],
    [3, 2, true, true],
    [3, 1, true, false],
    [2, 1, true, true],
    [2, 1, false, true],
    [2, 0, true, false],
    [5, 3, false, true],
    [5, 2, false, false],
  ]
  for (const [voters, othersUp, targetUp, accepted] of removals) {
    test(`removing a ${targetUp ? 'live' : 'down'} one of ${voters} voters with ${othersUp} others up: ${accepted}`, () => {
      assert.equal(refusesRemove({ voters, othersUp, targetUp }) === undefined, accepted)
    })
  }

  test('so a dead member is removed first and the new one added then', () => {
    assert.notEqual(refusesAdd({ voters: 3, connected: 2, learners: 0, etcd: '3.6.14' }), undefined)
    assert.equal(refusesRemove({ voters: 3, othersUp: 2, targetUp: false }), undefined)
    assert.equal(refusesAdd({ voters: 2, connected: 2, learners: 0, etcd: '3.6.14' }), undefined)
  })

  test('tolerance is what is left above the majority', () => {
    assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7].map(tolerance), [0, 0, 0, 1, 1, 2, 2, 3])
  })
})
