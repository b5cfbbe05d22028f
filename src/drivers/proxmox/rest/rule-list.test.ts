import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Field } from '../../../model/rest.ts'
import { definitionNamed } from '../../../proxmox/registry.ts'
import { plainRules, ruleCalls } from './rule-list.ts'
import { apiName } from './values.ts'

const field = definitionNamed('firewall-rules').fields.rules as Field

type Row = Record<string, unknown>

/** Applies one call as Proxmox does: a new rule goes to the top, and moveto counts before the rule is removed. */
function applied(list: readonly Row[], call: ReturnType<typeof ruleCalls>[number]): Row[] {
  const next = [...list]
  const at = Number(call.below.slice(1))
  const { delete: gone, moveto, digest: _, ...params }: Record<string, string> = call.params
  if (call.method === 'POST') return [{ ...params }, ...next]
  assert.ok(at < next.length, `${call.method} ${call.below} of ${next.length}`)
  if (call.method === 'DELETE') return next.toSpliced(at, 1)
  if (moveto !== undefined) {
    const [rule] = next.splice(at, 1)
    return next.toSpliced(Number(moveto), 0, rule ?? {})
  }
  const row: Row = { ...next[at], ...params }
  for (const name of String(gone ?? '').split(',')) delete row[name]
  return next.toSpliced(at, 1, row)
}

const rule = fc.oneof(
  fc.record({ group: fc.constantFrom('web', 'db') }),
  fc.record(
    {
      action: fc.constantFrom('ACCEPT', 'DROP'),
      type: fc.constantFrom('in', 'out'),
      protocol: fc.constantFrom('tcp', 'udp'),
      destinationPort: fc.constantFrom('22', '80,443'),
      comment: fc.constantFrom('a', 'b', ''),
      enabled: fc.boolean(),
    },
    { requiredKeys: ['action'] },
  ),
)
const unique = fc.uniqueArray(rule, { maxLength: 7, selector: (one) => JSON.stringify(plainRules(field, [one])) })

/** Returns a rule as an answer has it: the API's names, numbers for flags. */
function answered(rules: readonly unknown[]): Row[] {
  return plainRules(field, rules).map(({ group, ...rest }) => {
    const row: Row = group === undefined ? {} : { type: 'group', action: group }
    for (const [name, value] of Object.entries(rest)) {
      const part = field.parts?.[name]
      if (part !== undefined) row[apiName(name, part)] = value === true ? 1 : value === false ? 0 : value
    }
    return row
  })
}

test('any list of rules becomes any other, one call at a time with a look in between, and then stays', () => {
  fc.assert(
    fc.property(unique, unique, (before, after) => {
      const wanted = plainRules(field, after)
      let list = answered(before)
      const made: string[] = []
      for (let calls = 0; calls <= 40; calls++) {
        const [call] = ruleCalls(field, plainRules(field, list), wanted, 'd1')
        if (call === undefined) break
        const signature = JSON.stringify(call)
        assert.notEqual(signature, made.at(-1), 'the same call twice in a row would look as if it had no effect')
        made.push(signature)
        list = applied(list, call)
      }
      assert.deepEqual(plainRules(field, list), wanted, 'd1')
    }),
    { numRuns: 300 },
  )
})

test('the plan of a list is what is done: all its calls at once lead to the same end', () => {
  fc.assert(
    fc.property(unique, unique, (before, after) => {
      const wanted = plainRules(field, after)
      const list = ruleCalls(field, plainRules(field, before), wanted, 'd1').reduce(applied, answered(before))
      assert.deepEqual(plainRules(field, list), wanted, 'd1')
    }),
    { numRuns: 300 },
  )
})

test('a changed rule is rewritten where it stands: no moment without it', () => {
  const before = plainRules(field, [{ action: 'ACCEPT', protocol: 'tcp', destinationPort: '22', comment: 'ssh' }])
  const after = plainRules(field, [{ action: 'ACCEPT', protocol: 'tcp', destinationPort: '2222' }])
  assert.deepEqual(
    ruleCalls(field, before, after, 'd1').map(({ method, below, params }) => [method, below, params.delete]),
    [['PUT', '/0', 'comment']],
  )
})

test('every call to a position carries the version of the list, and without one there is none', () => {
  fc.assert(
    fc.property(unique, unique, (before, after) => {
      const [seen, wanted] = [plainRules(field, before), plainRules(field, after)]
      for (const { below, params } of ruleCalls(field, seen, wanted, 'd1'))
        assert.equal(params.digest, below === '' ? undefined : 'd1')
      assert.ok(ruleCalls(field, seen, wanted, undefined).every(({ method }) => method === 'POST'))
    }),
    { numRuns: 100 },
  )
})
