import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorsOf, readTexts } from './testing/fixture.ts'

/**
 * A declaration that is missing from the files is planned for removal. So a text with any one typing error must still
 * give as many declarations, or a problem: none of them may pass as foreign.
 */
const NETWORK = { apiVersion: 'croft.dev/v1alpha1', kind: 'Network', metadata: { name: 'lan' }, spec: { mtu: 1500 } }
const yaml = (name: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata:\n  name: ${name}\nspec: {mtu: 1500}\n`
const GRAPH = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: lan}
spec:
  schema: {apiVersion: home.lab/v1, kind: Lan, spec: {mtu: integer}}
  resources:
    - id: net
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Network
        metadata: {name: "\${schema.metadata.name}"}
        spec: {mtu: "\${schema.spec.mtu}"}
`
const INSTANCE = 'apiVersion: home.lab/v1\nkind: Lan\nmetadata: {name: lan}\nspec: {mtu: 1500}\n'

/** Each case: the files, and the one with the typing error. */
const TEXTS: Readonly<Record<string, readonly [Readonly<Record<string, string>>, string]>> = {
  'two documents': [{ 'a.yaml': `${yaml('lan')}---\n# second\n${yaml('wan')}` }, 'a.yaml'],
  JSON: [{ 'a.json': JSON.stringify(NETWORK, null, 1) }, 'a.json'],
  'a List': [
    { 'a.yaml': `apiVersion: v1\nkind: List\nitems:\n  - ${yaml('lan').trim().replaceAll('\n', '\n    ')}\n` },
    'a.yaml',
  ],
  "an object of Crossplane's provider": [
    {
      'a.yaml':
        'apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1\nkind: EnvironmentVM\nmetadata: {name: web}\nspec:\n  forProvider: {nodeName: alpha}\n',
    },
    'a.yaml',
  ],
  'an instance of an own API': [{ 'api.yaml': GRAPH, 'lan.yaml': INSTANCE }, 'lan.yaml'],
  'the definition of an own API': [{ 'api.yaml': GRAPH, 'lan.yaml': INSTANCE }, 'api.yaml'],
}

describe('[F-36] no slip of the pen takes a declaration away in silence', () => {
  for (const [what, [files, file]] of Object.entries(TEXTS))
    test(what, () => {
      const whole = readTexts(files)
      assert.deepEqual(errorsOf(whole), [])
      const text = files[file] ?? ''
      const silent = slipsOf(text).filter(([, changed]) => {
        const read = readTexts({ ...files, [file]: changed })
        const fewer = read.declarations.length < whole.declarations.length
        return fewer && errorsOf(read).length === 0 && !read.incomplete
      })
      assert.deepEqual(
        silent.map(([how]) => how),
        [],
      )
    })
})

/** Returns a text's variants with one typing error: a character added, removed, replaced or swapped. */
function slipsOf(text: string): readonly (readonly [string, string])[] {
  return [...text].flatMap((_, at) => {
    const [before, here = '', next = ''] = [text.slice(0, at), text[at], text[at + 1]]
    const rest = text.slice(at + 1)
    const place = `${JSON.stringify(before.slice(-12))} ${JSON.stringify(here)}`
    return [
      [`gone after ${place}`, before + rest],
      [`x instead, after ${place}`, `${before}x${rest}`],
      [`swapped after ${place}`, before + next + here + text.slice(at + 2)],
      ...['x', '#', '-', '&'].map((more) => [`${more} more, after ${place}`, before + more + here + rest] as const),
    ] as const
  })
}
