import { test } from 'node:test'
import { labMissing } from '../real-ssh/lab.ts'
import { walked, whyNoReader } from './reader.ts'
import { HOSTS } from './walks/hosts.ts'

test('a reader who types what the pages about hosts over SSH say gets what they promise', {
  skip: labMissing() ?? whyNoReader,
}, async () => {
  await walked(HOSTS)
})
