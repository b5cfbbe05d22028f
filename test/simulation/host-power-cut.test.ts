import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceOf, hostStateOf } from '../../sim/metal/host-state.ts'
import { asDeclared, begin, type Run } from './every-item.ts'
import { quietFor } from './oracle.ts'
import { LONG, points, replay } from './volume.ts'

const FILE = 'host-power-cut.test.ts'
const FAR = 1_000_000

/** What keeps a host from starting, or people from getting in. */
function troubles(run: Run): readonly string[] {
  const state = hostStateOf(run.box('duck'))
  const text = (path: string) => run.textOf('duck', path)
  const missing = text('/etc/fstab')
    .split('\n')
    .filter((line) => /^[^#\s]/.test(line) && !/\bnofail\b/.test(line))
    .filter((line) => deviceOf(state, line.split(/\s+/)[0] ?? '') === undefined)
    .map((line) => `fstab: ${line}`)
  const kernel = /^GRUB_CMDLINE_LINUX_DEFAULT="[^"\n]*"$/m.test(text('/etc/default/grub')) ? [] : ['no kernel line']
  const interfaces = text('/etc/network/interfaces')
  const cards = interfaces === '' || interfaces.includes('eth0') ? [] : ['the network card is gone']
  return [...missing, ...kernel, ...cards]
}

async function settled(cutAfter: number) {
  const run = begin(1)
  const hint = replay(FILE, 1, cutAfter)
  const state = hostStateOf(run.box('duck'))
  state.cutAfter = cutAfter
  const box = run.box('duck')
  const { life } = box
  let seen: readonly string[] | undefined
  const end = await run.untilSettled(run.start(), {
    onPass: () => {
      // As it is right after the start that the cut led to, before anything is mended.
      if (box.life !== life && box.booted) seen ??= troubles(run)
    },
  })
  assert.equal(end, 'settled', hint)
  return { run, hint, seen: seen ?? [], done: FAR - (state.cutAfter ?? FAR) }
}

test('[F-23] the power is cut after any command: the host starts, lets croft in, and every item comes into force', async (t) => {
  const { done } = await settled(FAR)
  const cuts = points(done, 24)
  for (const cutAfter of cuts) {
    const { run, hint, seen } = await settled(cutAfter)
    assert.deepEqual(seen, [], hint)
    assert.deepEqual(troubles(run), [], hint)
    const { deeds } = hostStateOf(run.box('duck'))
    const last = deeds.slice(0, deeds.indexOf('boot')).at(-1) ?? ''
    asDeclared(
      run,
      `after ${last}; ${hint}`,
      ['mkfs.btrfs', 'zpool create', 'dd '].find((one) => last.startsWith(one) || last.startsWith('wipefs')),
    )
    if (LONG || cutAfter % 5 === 0) await quietFor(run, 2, hint)
  }
  t.diagnostic(`${cuts.length} of ${done} commands`)
})
