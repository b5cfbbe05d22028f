import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostStateOf } from '../../sim/metal/host-state.ts'
import { asDeclared, begin } from './every-item.ts'
import { quietFor } from './oracle.ts'
import { LONG, replay } from './volume.ts'

const FILE = 'host-interrupted.test.ts'

/** Programs of croft's own, which belong to no item. */
const OWN = /^(?:mkdir|rm|sh -c croft \/var\/lib\/croft)/

async function settled(breaks?: string) {
  const run = begin(1)
  const hint = `${replay(FILE, 1)}${breaks === undefined ? '' : `; ${breaks} fails once`}`
  const state = hostStateOf(run.box('duck'))
  state.breaksOnce = breaks
  assert.equal(await run.untilSettled(run.start()), 'settled', hint)
  assert.equal(state.breaksOnce, undefined, `it was never run; ${hint}`)
  asDeclared(run, hint, breaks?.startsWith('wipefs') === true ? 'dd ' : undefined)
  return { run, deeds: [...state.deeds], hint }
}

/** How often each program ran after the file that was written last before it, by both. */
function effects(deeds: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  let written: string | undefined
  for (const deed of deeds) {
    if (deed.startsWith('put /var/lib/croft')) written = undefined
    else if (deed.startsWith('put ')) written = deed
    else if (written !== undefined && !OWN.test(deed)) found.add(`${written}; then ${deed}`)
  }
  return found
}

test('a program that fails once, whichever it is, runs again: a file that is right already hides nothing', async (t) => {
  const calm = await settled()
  const programs = [
    ...new Set(calm.deeds.filter((deed) => !/^(?:put|remove|boot|revert) ?/.test(deed) && !OWN.test(deed))),
  ]
  const wanted = [...effects(calm.deeds)].map((one) => one.split('; then ')[1] ?? '')
  assert.ok(wanted.includes('update-grub') && wanted.includes('systemctl daemon-reload'), wanted.join(', '))
  // Those that make a file take effect; the long run breaks all others as well.
  const some = LONG ? programs : programs.filter((program) => wanted.includes(program))
  for (const program of some) {
    const { run, deeds, hint } = await settled(program)
    const times = (all: readonly string[]) => all.filter((deed) => deed === program).length
    assert.ok(times(deeds) >= times(calm.deeds), `${program} ran ${times(deeds)} times; ${hint}`)
    // A program that makes a file take effect comes after it, also when it failed at first.
    for (const one of effects(calm.deeds)) {
      const [file = '', then = ''] = one.split('; then ')
      if (then !== program) continue
      assert.ok(deeds.lastIndexOf(then) > deeds.lastIndexOf(file), `${then} did not follow ${file}; ${hint}`)
    }
    await quietFor(run, 2, hint)
  }
  t.diagnostic(`${some.length} programs`)
})
