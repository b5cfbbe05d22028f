import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf } from './printed.ts'
import { walked, whyNoReader } from './reader.ts'
import { COMMAND_LINE } from './walks/command-line.ts'

test('a reader who types what the page about the command line says gets what it promises', {
  skip: whyNoReader,
}, async () => {
  const seen = await walked(COMMAND_LINE)
  const explained = blocksOf('docs/cli.md').find(({ text }) => text.startsWith('KIND:'))
  assert.ok(seen.get('croft explain cluster.spec.upgrade.drain')?.includes(explained?.text ?? 'no such block'))
})
