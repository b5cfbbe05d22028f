import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tellStory } from './directories-story.ts'
import { LONG, replay, seeds } from './volume.ts'

const FILE = 'directories.test.ts'

test('[D-01] [D-02] [D-04] directories, clones and clusters on one hypervisor, and whatever happens to them: nothing of another is written, no member of a live quorum is wiped, every deletion has its proof', async (t) => {
  let deletions = 0
  for (const seed of seeds(2, 150)) {
    const told = await tellStory(seed, LONG ? 14 : 7, replay(FILE, seed))
    deletions += told.deletions
    assert.ok(told.clusters >= 2, 'a cluster was formed beside the one that was made by hand')
  }
  t.diagnostic(`${deletions} deletions`)
})
