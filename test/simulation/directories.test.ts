import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tellStory } from './directories-story.ts'
import { LONG, replay, seeds } from './volume.ts'

const FILE = 'directories.test.ts'

test('[D-01] [D-02] [D-04] directories, clones and clusters on one hypervisor, and whatever happens to them: nothing of another is written, no member of a live quorum is wiped, every deletion has its proof', async (t) => {
  let deletions = 0
  const checkouts = new Set<number>()
  const all = seeds(2, 150)
  for (const seed of all) {
    const told = await tellStory(seed, LONG ? 14 : 7, replay(FILE, seed))
    deletions += told.deletions
    checkouts.add(told.checkouts)
    assert.ok(told.clusters >= 2, 'a cluster was formed beside the one that was made by hand')
  }
  t.diagnostic(`${deletions} deletions, ${[...checkouts].sort((a, b) => a - b).join(' and ')} checkouts`)
  if (all.length > 1) assert.ok(checkouts.has(2) && checkouts.size > 1, 'two, and more than two')
  if (all.length > 20)
    assert.ok(deletions > 0 && checkouts.size === 3, 'two, three and four, and something was deleted')
})
