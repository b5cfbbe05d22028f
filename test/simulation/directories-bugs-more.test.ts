import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computerOf } from '../../sim/guest/life.ts'
import { DATA } from '../../sim/k3s/disk.ts'
import { findsBugs, TURNS } from './directories-planted.ts'
import { tellStory } from './directories-story.ts'

findsBugs([
  {
    bug: 'a cluster that somebody made by hand is made as declared',
    changes: [
      [
        'src/plan/clusters/taken-over.ts',
        'return local === undefined ? [...servers, ...agents].some(isStrangers) : isStrangers(node)',
        'return false',
      ],
    ],
    found: /made by hand was changed/,
    seed: 1,
  },
  {
    bug: 'the event of a deletion does not say why',
    changes: [['src/engine/judge-events.ts', 'proof: showProof(proof)', 'plan: showProof(proof)']],
    found: /has no proof/,
    seed: 225,
  },
])

// The guards against wiping a member stand behind one another: no single broken line gets that far. So the wipe is done by
// hand, to see that the oracle would see it.
test('the stories of the directories see it when a member of a live quorum is wiped', async () => {
  const wiped = tellStory(225, TURNS, '', ({ datacentre: { world } }) => {
    const [, guest] = [...world.guests].find(([, { config }]) => config.get('name') === 'a-s2') ?? []
    assert.ok(guest)
    computerOf(world, guest).machine.files.remove(DATA)
  })
  await assert.rejects(wiped, /has a vote and no data any more|has lost its majority/)
})
