import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import type { Revision } from '../git/revision.ts'
import { NeedsCage } from '../needs-cage.ts'
import { readHere } from '../read-here.ts'
import { readTree } from '../read-tree.ts'
import { TooCostly } from '../reader.ts'
import { createCommandReader } from './command-reader.ts'

/** An expression of a template. */
const cel = (expression: string) => `\${${expression}}`

const graph = (text: string) => `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: note}
spec:
  schema: {apiVersion: v1alpha1, kind: Note, spec: {text: string}}
  resources:
    - id: map
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: "${cel('schema.metadata.name')}"}
        data: {text: "${text}"}
`
const note = (name: string, text: string) => `apiVersion: kro.run/v1alpha1
kind: Note
metadata: {name: ${name}, annotations: {croft.dev/cluster: home}}
spec: {text: ${text}}
`
const WRONG = `apiVersion: croft.dev/v1alpha1
kind: ProxmoxPool
metadata: {name: lab}
spec: {poolid: lab, coment: nothing}
`

function directory(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'croft-command-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

/** All of a revision that a command shows. */
const shown = (revision: Revision) => ({
  declarations: revision.declarations,
  problems: revision.problems,
  ignored: revision.ignored,
  expanded: revision.expanded,
  incomplete: revision.incomplete,
  unreadable: revision.unreadable,
  files: revision.files,
  apis: revision.apis?.map(({ kind, apiVersion, summary, spec, origin }) => ({
    kind,
    apiVersion,
    summary,
    spec,
    origin,
  })),
  doubtful: revision.doubtful?.().map(({ declaration, problems, whole, problemAt }) => ({
    declaration,
    problems,
    whole,
    placed: problemAt({ code: 'x', path: ['spec', 'poolid'], message: 'm' }),
  })),
})

for (const [what, files] of [
  ['definitions', { 'g.yaml': graph(cel('schema.spec.text')), 'a/n.yaml': note('one', 'x'), 'p.yaml': WRONG }],
  ['a definition that is wrong', { 'g.yaml': graph(cel('schema.spec.')), 'n.yaml': note('one', 'x') }],
  ['a kustomization', { 'kustomization.yaml': 'resources: [p.yaml]\nnamePrefix: a-\n', 'p.yaml': WRONG }],
] as const)
  test(`[S-33] a command reads a tree with ${what} in the cage, and sees the same as here`, async (t) => {
    const root = directory(t, files)
    const here = await readTree(root)
    await assert.rejects(
      readTree(root, { reader: { ...readHere, tree: (reading) => readHere.tree({ ...reading, evaluates: false }) } }),
      NeedsCage,
    )
    const caged = await readTree(root, { reader: createCommandReader(systemClock) })
    assert.deepEqual(structuredClone(shown(caged)), structuredClone(shown(here)))
  })

test('a command reads a tree of plain manifests in its own process', async (t) => {
  const root = directory(t, { 'p.yaml': WRONG, 'n.yaml': note('one', 'x') })
  const reader = createCommandReader(systemClock)
  const never = { ...reader, objects: () => assert.fail(), kustomized: () => assert.fail() }
  const before = process.getActiveResourcesInfo().filter((one) => one === 'ProcessWrap').length
  const [caged, here] = [await readTree(root, { reader: never }), await readTree(root)]
  assert.deepEqual(structuredClone(shown(caged)), structuredClone(shown(here)))
  assert.equal(process.getActiveResourcesInfo().filter((one) => one === 'ProcessWrap').length, before)
})

test('[S-33] what grows without end ends for a command as well, by name, and the command answers meanwhile', async (t) => {
  const grown = Array.from({ length: 6 }).reduce<string>((text) => `${text}.replace('a', schema.spec.text)`, `'aaa'`)
  const root = directory(t, { 'g.yaml': graph(cel(grown)), 'n.yaml': note('one', 'a'.repeat(40)) })
  let [longest, last, over] = [0, performance.now(), false]
  const turn = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!over) setTimeout(turn, 5)
  }
  turn()
  await assert.rejects(readTree(root, { reader: createCommandReader(systemClock) }), (error) => {
    assert.ok(error instanceof TooCostly)
    assert.match(error.message, /^reading \w+\.yaml takes (?:more than 256 MB|longer than 60 s)$/)
    return true
  })
  over = true
  assert.ok(longest < 1_000, `the command answered nothing for ${longest} ms`)
})
