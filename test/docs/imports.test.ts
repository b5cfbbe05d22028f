import { test } from 'node:test'
import { walked, whyNoReader } from './reader.ts'
import { IMPORTS } from './walks/imports.ts'

test('a reader who types what the pages about other tools say imports from each', { skip: whyNoReader }, async () => {
  await walked(IMPORTS)
})
