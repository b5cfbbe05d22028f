import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, readText, told } from '../testing/fixture.ts'

const MACHINE = `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata:
  name: web
spec:
  host: pve1
  cpu: {cores: 2}
  memory: 2Gi
`

test('what comes along with a copy from a page is named once, by what it is', () => {
  const table: readonly (readonly [what: string, text: string, said: string])[] = [
    [
      'a space that does not break',
      MACHINE.replace('  host', '\u00a0\u00a0host'),
      'yaml-syntax 6:1 this line is indented with a character that only looks like a space (U+00A0) (delete the indentation and type it again with spaces)',
    ],
    [
      'the fences of a block',
      `\`\`\`yaml\n${MACHINE}\`\`\`\n`,
      'yaml-syntax 1:1 this line is a fence of Markdown, not YAML (remove the lines with ```)',
    ],
    [
      'the last fence alone',
      `${MACHINE}\`\`\`\n`,
      'yaml-syntax 9:1 this line is a fence of Markdown, not YAML (remove the lines with ```)',
    ],
    [
      'a separator that is too short',
      `${MACHINE}--\n${MACHINE}`,
      'yaml-syntax 9:1 -- does not separate two documents (write ---)',
    ],
    [
      'a separator that is too long',
      `${MACHINE}----\n${MACHINE}`,
      'yaml-syntax 9:1 ---- does not separate two documents (write ---)',
    ],
  ]
  for (const [what, text, said] of table) assert.deepEqual(told(errorsOf(readText(text))), [said], what)
})

test('the same characters inside a text are left alone', () => {
  const text = `${MACHINE}  description: |\n    \`\`\`\n    --\n    \u00a0x\n`
  assert.ok(!told(errorsOf(readText(text))).some((one) => one.startsWith('yaml-syntax')), text)
})
