import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Problem } from '../../model/declaration.ts'
import type { Revision } from '../../source/git/revision.ts'
import type { InForce } from './merge.ts'
import { wholeOnly } from './whole.ts'

const revision = (id: string) => ({ id, incomplete: false }) as Revision
const part = (source: string, id: string, more: Partial<InForce> = {}): InForce => ({
  source,
  revision: revision(id),
  ...more,
})
const grant = { name: 'g' } as unknown as NonNullable<InForce['grant']>

/** Errors by `source@id`, or by two of them that do not go together. */
function errors(table: Readonly<Record<string, string>>) {
  return (parts: readonly InForce[]): readonly Problem[] => {
    const there = new Set(parts.map(({ source, revision: { id } }) => `${source}@${id}`))
    return Object.entries(table).flatMap(([when, file]) =>
      when.split('+').every((one) => there.has(one))
        ? [{ code: 'x', message: when, severity: 'error' as const, origin: { file, line: 1, column: 1 } }]
        : [],
    )
  }
}

interface Case {
  readonly inForce: readonly InForce[]
  readonly candidates: readonly (InForce & { readonly keepGoing?: boolean })[]
  readonly wrong: Readonly<Record<string, string>>
  /** `source@id`, with a star where it is followed in part. */
  readonly becomes: readonly string[]
}

const CASES: Readonly<Record<string, Case>> = {
  'what is whole comes into force': {
    inForce: [part('a', '1')],
    candidates: [part('a', '2')],
    wrong: {},
    becomes: ['a@2'],
  },
  'one error, and the last good one stays': {
    inForce: [part('a', '1')],
    candidates: [part('a', '2')],
    wrong: { 'a@2': 'f.yaml' },
    becomes: [],
  },
  'keepGoing takes the good parts': {
    inForce: [part('a', '1')],
    candidates: [{ ...part('a', '2'), keepGoing: true }],
    wrong: { 'a@2': 'f.yaml' },
    becomes: ['a@2*'],
  },
  'nothing was in force before': {
    inForce: [],
    candidates: [part('a', '1')],
    wrong: { 'a@1': 'f.yaml' },
    becomes: ['a@1*'],
  },
  'what was in force was not whole either': {
    inForce: [part('a', '1')],
    candidates: [part('a', '2')],
    wrong: { 'a@1': 'f.yaml', 'a@2': 'f.yaml' },
    becomes: ['a@2*'],
  },
  'an error of one source is not one of another': {
    inForce: [part('a', '1'), part('b', '1')],
    candidates: [part('a', '2'), part('b', '2')],
    wrong: { 'a@2': 'a:f.yaml' },
    becomes: ['b@2'],
  },
  'one that needs what another has waits with it': {
    inForce: [part('a', '1'), part('b', '1')],
    candidates: [part('a', '2'), part('b', '2')],
    wrong: { 'a@2': 'a:f.yaml', 'a@1+b@2': 'b:f.yaml' },
    becomes: [],
  },
  'two that need each other come together': {
    inForce: [part('a', '1'), part('b', '1')],
    candidates: [part('a', '2'), part('b', '2')],
    wrong: { 'a@2+b@1': 'a:f.yaml', 'a@1+b@2': 'b:f.yaml' },
    becomes: ['a@2', 'b@2'],
  },
  'one that breaks another source waits': {
    inForce: [part('a', '1'), part('b', '1')],
    candidates: [part('a', '2')],
    wrong: { 'a@2+b@1': 'b:f.yaml' },
    becomes: [],
  },
  'what was wrong in another source before keeps nobody back': {
    inForce: [part('a', '1'), part('b', '1')],
    candidates: [part('a', '2')],
    wrong: { 'b@1': 'b:f.yaml' },
    becomes: ['a@2'],
  },
  'a source that is held to a grant keeps nobody back': {
    inForce: [part('a', '1'), part('b', '1', { grant })],
    candidates: [part('a', '2')],
    wrong: { 'a@2+b@1': 'b:f.yaml' },
    becomes: ['a@2'],
  },
}

for (const [what, { inForce, candidates, wrong, becomes }] of Object.entries(CASES)) {
  test(`[D-05] ${what}`, async () => {
    const { accepted, refused } = await wholeOnly(
      inForce,
      candidates.map((one) => ({ keepGoing: false, ...one })),
      async (parts) => errors(wrong)(parts),
    )
    assert.deepEqual(
      accepted.map(({ source, revision: one }) => `${source}@${one.id}${one.incomplete ? '*' : ''}`),
      becomes,
    )
    assert.equal(accepted.length + refused.size, candidates.length)
    for (const problems of refused.values()) assert.ok(problems.length > 0)
  })
}
