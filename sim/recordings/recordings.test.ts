import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Recorded, replay } from './replay.ts'

const PLACE = new URL('../../../shared/pve/', import.meta.url)
const present = existsSync(PLACE)
if (!present && process.env.CI) throw new Error(`the recordings of the real API are missing: ${PLACE.pathname}`)
const skip = present ? false : 'the recordings of the real API are not beside this clone'

function recording(name: string): Recorded[] {
  const text = readFileSync(new URL(`recording-${name}.jsonl`, PLACE), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded)
}

/**
 * Answers that came from the sandbox the real daemon ran in, and that no real host gives: a subroutine that is missing,
 * a file that is missing, the sandbox's own devices.
 */
const OF_THE_SANDBOX =
  /^get GET \/api2\/json\/(cluster\/status|nodes\/pve1\/(subscription|capabilities\/qemu\/machines|hardware\/pci)):/

/** Recordings 1 to 4 are older than these. */
const LATER = ['n.yaml', 'm.yaml', 'v.yaml', 'hook.sh', 'failhook.sh', 'noexec.sh'].map((name) => `snippets/${name}`)

test('recordings 1 to 4, in order, are answered as the real daemon answered them', { skip }, async () => {
  const result = await replay(['1', '2', '3', '4'].map(recording), { guestBeforeSecond: true, without: LATER })
  assert.ok(result.total >= 370, `only ${result.total} exchanges were compared`)
  assert.deepEqual(
    result.different.filter((line) => !OF_THE_SANDBOX.test(line)),
    [],
  )
})

/**
 * How many answers are the same. What is missing comes from the sandbox that the real daemon ran in, from ids and
 * counters that are born of each run, and from pauses that the recorder made. Raise a number when the simulator has
 * become better; never lower it.
 */
const FLOORS: Readonly<Record<string, number>> = { A: 486, B: 646, C: 541, E: 659, F: 284, G: 153 }

for (const [name, floor] of Object.entries(FLOORS)) {
  test(`recording ${name}: at least ${floor} answers as the real daemon gave them`, { skip }, async () => {
    const result = await replay([recording(name)], { guestBeforeSecond: false })
    assert.ok(
      result.good >= floor,
      `${result.good} of ${result.total} are the same; floor ${floor}\n${result.different.slice(0, 40).join('\n')}`,
    )
  })
}
