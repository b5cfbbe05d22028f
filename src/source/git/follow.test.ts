import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { factsOf, judgeRevision, type Polled, type RevisionFacts } from './follow.ts'

const good: RevisionFacts = { id: 'aaa', declarations: 6, refused: 0, incomplete: false }
const saw = (facts: Partial<RevisionFacts>): Polled => ({ saw: 'revision', revision: { ...good, id: 'bbb', ...facts } })

const TABLE: readonly (readonly [string, RevisionFacts | undefined, Polled, string])[] = [
  ['a newer good revision', good, saw({}), 'new'],
  ['a force-push to something else that is good', good, saw({ declarations: 2 }), 'new'],
  ['one refused object among others', good, saw({ declarations: 5, refused: 1 }), 'new'],
  ['a file that cannot be read', good, saw({ declarations: 5, incomplete: true }), 'last-good broken'],
  ['a half-checked-out tree', good, saw({ declarations: 0, incomplete: true }), 'last-good empty'],
  ['an empty tree', good, saw({ declarations: 0 }), 'last-good empty'],
  ['everything refused', good, saw({ declarations: 0, refused: 6 }), 'new'],
  ['an outage', good, { saw: 'nothing', message: 'timed out' }, 'last-good unreachable'],
  ['the first revision', undefined, saw({}), 'new'],
  ['a first revision with a broken file', undefined, saw({ incomplete: true }), 'new'],
  ['a first revision that is empty', undefined, saw({ declarations: 0 }), 'nothing empty'],
  ['an outage at the start', undefined, { saw: 'nothing', message: 'timed out' }, 'nothing unreachable'],
]

for (const [name, last, look, expected] of TABLE) {
  test(`[F-36] ${name}: ${expected}`, () => {
    const judged = judgeRevision(last, look)
    assert.equal('reason' in judged ? `${judged.follow} ${judged.reason}` : judged.follow, expected)
  })
}

test('a revision that is kept back names the first error and its place', () => {
  const origin = { file: 'cluster.yaml', line: 7, column: 3 }
  const problem = (severity: 'error' | 'warning', message: string) => ({ severity, code: 'x', message, origin })
  const problems = [problem('warning', 'no checksum'), problem('error', '"networkk" is not a field of spec')]
  const revision = factsOf({ id: 'bbb', declarations: [1], unreadable: [1], incomplete: true, problems })
  const judged = judgeRevision(good, { saw: 'revision', revision })
  assert.equal(
    'message' in judged && judged.message,
    'revision bbb cannot be read as a whole (cluster.yaml:7:3: "networkk" is not a field of spec); revision aaa stays in force',
  )
})

test('[F-36] once there is a good revision, something is always followed, and never an empty or broken one', () => {
  const count = fc.integer({ min: 0, max: 3 })
  const facts = fc.record({ id: fc.constant('x'), declarations: count, refused: count, incomplete: fc.boolean() })
  fc.assert(
    fc.property(facts, facts, (last, next) => {
      const judged = judgeRevision(last, { saw: 'revision', revision: next })
      assert.notEqual(judged.follow, 'nothing')
      if (judged.follow === 'new') {
        assert.ok(!next.incomplete)
        assert.ok(next.declarations + next.refused > 0 || last.declarations + last.refused === 0)
      }
    }),
  )
})
