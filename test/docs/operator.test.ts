import { test } from 'node:test'
import { walked, whyNoReader } from './reader.ts'
import { OPERATOR } from './walks/operator.ts'

test('a reader who types what the pages about an operator say moves a house into its cluster, back, and in again', {
  skip: whyNoReader,
}, async () => {
  await walked(OPERATOR)
})
