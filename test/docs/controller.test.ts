import { test } from 'node:test'
import { walked, whyNoReader } from './reader.ts'
import { CONTROLLER } from './walks/controller.ts'

test('a reader who types what the pages about daily work say gets what they promise', {
  skip: whyNoReader,
}, async () => {
  await walked(CONTROLLER)
})
