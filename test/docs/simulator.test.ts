import { test } from 'node:test'
import { walked, whyNoReader } from './reader.ts'
import { RELEASE } from './walks/release.ts'
import { README, SIMULATOR } from './walks/simulator.ts'

for (const walk of [README, SIMULATOR, RELEASE])
  test(`a reader who types what the page says gets what it promises: ${walk.name}`, { skip: whyNoReader }, async () => {
    await walked(walk)
  })
