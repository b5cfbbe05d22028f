import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Followed } from '../../source/git/repository.ts'
import type { Revision } from '../../source/git/revision.ts'
import { isWanted, nextFacts, type SourceFacts, type SourceHappening, UNSEEN } from './source-facts.ts'

const revisionOf = (id: string) => ({ id, declarations: [], problems: [] }) as unknown as Revision
const away = { reason: 'unreachable', message: 'no answer' } as const
const rewound = { reason: 'rewound', message: 'an older history', commit: 'old' } as const

/** Events of a source, and the state that an observer expects then. */
interface Onlooker {
  readonly inForce: string | undefined
  /** The problem of the newest commit that was reached. */
  readonly wrong: string | undefined
  readonly isAway: boolean
  readonly isAsked: boolean
}

interface Kind {
  happens(before: SourceFacts, n: number): readonly SourceHappening[]
  expects(before: Onlooker, n: number): Onlooker
}

const look = (before: SourceFacts, saw: Followed): SourceHappening => ({ is: 'looked', saw, asked: before.wanted })
const fresh = (n: number): Followed => ({ is: 'new', revision: revisionOf(`c${n}`) })
const reached = (before: Onlooker): Onlooker => ({ ...before, isAway: false, isAsked: false })

const KINDS: Readonly<Record<string, Kind>> = {
  'a good commit': {
    happens: (before, n) => [look(before, fresh(n)), { is: 'accepted', revision: revisionOf(`c${n}`) }],
    expects: (before, n) => ({ ...reached(before), inForce: `c${n}`, wrong: undefined }),
  },
  'a broken commit': {
    happens: (before, n) => [
      look(before, fresh(n)),
      { is: 'refused', problem: { reason: 'broken', message: 'an error', commit: `c${n}` } },
    ],
    expects: (before, n) => ({ ...reached(before), wrong: `c${n}` }),
  },
  'nothing new': {
    happens: (before) => [look(before, { is: 'same' })],
    expects: (before) => ({ ...reached(before), wrong: before.wrong === 'old' ? undefined : before.wrong }),
  },
  'a look that does not reach it': {
    happens: (before) => [look(before, { is: 'kept', ...away })],
    expects: (before) => ({ ...before, isAway: true, isAsked: false }),
  },
  'a history that was forced': {
    happens: (before) => [look(before, { is: 'kept', ...rewound })],
    expects: (before) => ({ ...reached(before), wrong: 'old' }),
  },
  'a push that is told of during a look': {
    happens: (before) => [{ is: 'wanted' }, look(before, { is: 'same' })],
    expects: (before) => ({
      ...reached(before),
      isAsked: true,
      wrong: before.wrong === 'old' ? undefined : before.wrong,
    }),
  },
}

test('after each order of up to four happenings, an onlooker and the facts agree', () => {
  let orders = 0
  const go = (names: readonly string[], facts: SourceFacts, onlooker: Onlooker): void => {
    const seen = {
      inForce: facts.revision?.id,
      wrong: facts.trouble?.commit,
      isAway: facts.away !== undefined,
      isAsked: isWanted(facts),
    }
    assert.deepEqual(seen, onlooker, names.join(', then '))
    orders++
    if (names.length === 4) return
    for (const [name, { happens, expects }] of Object.entries(KINDS)) {
      const next = happens(facts, names.length).reduce(nextFacts, facts)
      go([...names, name], next, expects(onlooker, names.length))
    }
  }
  go([], UNSEEN, { inForce: undefined, wrong: undefined, isAway: false, isAsked: false })
  assert.equal(orders, 1 + 6 + 36 + 216 + 1296)
})

test('what was in force before a restart is in force again, whatever the first look brings', () => {
  const begun = { revision: revisionOf('before') }
  const newer = nextFacts(UNSEEN, {
    is: 'looked',
    asked: 0,
    saw: { is: 'new', revision: revisionOf('next'), before: begun },
  })
  assert.equal(newer.revision?.id, 'before')
  assert.equal(newer.waiting?.revision.id, 'next')
  const seen = nextFacts(UNSEEN, { is: 'looked', asked: 0, saw: { is: 'new', ...begun, trouble: away } })
  assert.deepEqual([seen.waiting?.revision.id, seen.away, seen.trouble], ['before', away, undefined])
})

test('a commit that waits for a person waits on while the source is away', () => {
  const waits = [
    { is: 'looked', asked: 0, saw: { is: 'new', revision: revisionOf('next') } },
    { is: 'judged', whole: true },
    { is: 'looked', asked: 0, saw: { is: 'kept', ...away } },
    { is: 'looked', asked: 0, saw: { is: 'same' } },
  ] as const satisfies readonly SourceHappening[]
  const facts = waits.reduce<SourceFacts>(nextFacts, UNSEEN)
  assert.deepEqual([facts.waiting?.whole, facts.away, facts.trouble], [true, undefined, undefined])
})
