import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import { errorsOf, readTexts } from '../testing/fixture.ts'

/** A graph whose instances are each of so many of another, or of ConfigMaps. */
const graph = (kind: string, of: string, count: number) => `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: ${kind.toLowerCase()}}
spec:
  schema: {apiVersion: v1alpha1, kind: ${kind}, spec: {}}
  resources:
  - id: one
    forEach: [{n: "\${lists.range(${count})}"}]
    template:
${of
  .trim()
  .split('\n')
  .map((line) => `      ${line}`)
  .join('\n')}
`
const instance = (kind: string, name = `"\${schema.metadata.name}-\${string(n)}"`) =>
  `apiVersion: kro.run/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}, annotations: {croft.dev/cluster: home}}\n`
const MAP = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "\${schema.metadata.name}-\${string(n)}"}\n`

const most = LIMITS.composedDocuments
for (const [what, texts, message] of [
  [
    'three levels',
    {
      'a.yaml': graph('A', instance('B'), 220),
      'b.yaml': graph('B', instance('C'), 220),
      'c.yaml': graph('C', MAP, 220),
    },
    `A/top makes more than ${most} objects with the instances in it`,
  ],
  [
    'two levels, each within the limit',
    { 'a.yaml': graph('A', instance('B'), most), 'b.yaml': graph('B', MAP, most) },
    `A/top makes more than ${most} objects with the instances in it`,
  ],
  [
    'levels that make nothing in the end',
    {
      'a.yaml': graph('A', instance('B'), most),
      'b.yaml': graph('B', instance('C'), most),
      'c.yaml': graph('C', MAP, 0),
    },
    `A/top makes more than ${most} objects with the instances in it`,
  ],
] as const)
  test(`nested instances are counted: ${what}`, () => {
    const begunMs = process.cpuUsage().user / 1000
    const revision = readTexts({ ...texts, 'top/one.yaml': `\n${instance('A', 'top')}` })
    const found = errorsOf(revision).map(({ message: told, origin: { file, line } }) => `${file}:${line} ${told}`)
    assert.deepEqual(found, [`top/one.yaml:2 ${message}`])
    assert.ok(process.cpuUsage().user / 1000 - begunMs < 10_000)
    assert.equal(revision.incomplete, true, 'what it would declare is not gone')
  })

test('nested instances within the limit are made', () => {
  const revision = readTexts({
    'a.yaml': graph('A', instance('B'), 4),
    'b.yaml': graph('B', MAP, 5),
    'one.yaml': instance('A', 'top'),
  })
  assert.deepEqual(errorsOf(revision), [])
  assert.equal(revision.declarations.length, 20)
})
