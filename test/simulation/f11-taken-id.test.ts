import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { simulate } from './run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'f11-taken-id.test.ts'
// Ids that croft chooses itself: only those can be taken by another client first.
const estate = estateOf(SIX.map(({ vmid: _, ...machine }) => machine))

test('[F-11] a person takes the id between choosing and creating: another id, the person keeps theirs', async () => {
  for (const seed of seeds(6, 1000)) {
    const hint = replay(FILE, seed)
    const run = simulate({ seed, estate })
    let taken = 0
    const { handle } = run.datacentre
    // Just before our create arrives, a person makes a guest under the very same id.
    const meddling = run.datacentre as { handle: typeof handle }
    meddling.handle = (request) => {
      const body = String(request.body ?? '')
      const id = Number(/(?:^|&)vmid=(\d+)/.exec(body)?.[1])
      const create = request.method === 'POST' && request.path.endsWith('/qemu')
      if (create && taken < 3 && !run.datacentre.world.guests.has(id)) {
        taken++
        run.datacentre.addGuest(id, 'still-fawn', { name: `person-${id}`, memory: '512' })
      }
      return handle(request)
    }
    const before = strangersOf(run.datacentre)
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    assert.equal(taken, 3, `the person never came; ${hint}`)
    const persons = [...run.datacentre.world.guests.values()].filter((guest) =>
      guest.config.get('name')?.startsWith('person-'),
    )
    assert.equal(persons.length, 3, `a person's guest is gone; ${hint}`)
    for (const guest of persons)
      assert.equal(guest.config.get('tags'), undefined, `a person's guest was marked; ${hint}`)
    nothingDoubledOrLost(run, before, hint)
    asDeclared(run, hint)
    await quietFor(run, 5, hint)
  }
})
