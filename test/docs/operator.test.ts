import { test } from 'node:test'
import { HELM } from '../helm-here.ts'
import { walked, whyNoReader } from './reader.ts'
import { OPERATOR } from './walks/operator.ts'

test('a reader who types what the pages about an operator say moves a house into its cluster, back, and in again', {
  skip: whyNoReader,
}, async (t) => {
  if (HELM === undefined) t.diagnostic('there is no helm here: nobody typed what the page says about it')
  await walked(OPERATOR)
})
