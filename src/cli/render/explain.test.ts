import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../../kinds/kind.ts'
import { renderExplanation } from './explain.ts'
import { PLAIN } from './text.ts'

const kind = {
  kind: 'Barn',
  apiVersion: 'croft.dev/v1alpha1',
  plural: 'barns',
  shortNames: ['b'],
  summary: 'A barn.',
} as unknown as Kind

const LONG =
  'How long the doors of the barn may stay open at night, like 10m; without it they stay open until somebody closes them.'

const schema = {
  properties: {
    spec: {
      type: 'object',
      required: ['doors'],
      properties: {
        doors: { type: 'integer', description: 'Number of doors.' },
        open: { type: 'string', default: '10m', description: LONG },
        stalls: {
          description: 'Stalls by name.',
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: { width: { type: 'integer', description: 'In metres.' } },
          },
        },
        animals: {
          description: 'Who lives there.',
          anyOf: [
            { type: 'string' },
            { type: 'array', items: { allOf: [{ properties: { name: { type: 'string' } } }] } },
          ],
        },
      },
    },
  },
}

test('explain shows each field with its description, and gives a long one lines of its own', () => {
  const lines = renderExplanation(kind, schema, PLAIN).split('\n')
  assert.deepEqual(lines.slice(lines.indexOf('FIELDS:') + 1, -3), [
    '  doors <integer> -required-  Number of doors.',
    '  open <string>',
    '      How long the doors of the barn may stay open at night, like 10m; without it they stay open',
    '      until somebody closes them.',
    '  stalls <map[string]object>  Stalls by name.',
    '    width <integer>  In metres.',
    '  animals <string or []any>  Who lives there.',
    '    name <string>',
  ])
  assert.ok(lines.every((line) => line.length <= 100))
})

test('explain describes one field by its path, also inside a map', () => {
  assert.match(renderExplanation(kind, schema, PLAIN, ['spec', 'open']), /spec\.open <string>\n\nHow long .* them\.\n/)
  assert.match(renderExplanation(kind, schema, PLAIN, ['stalls', 'width']), /stalls\.width <integer>\n\nIn metres\.\n$/)
})
