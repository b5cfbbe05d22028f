import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { seededRandom } from '../../src/lib/random.ts'
import { cleanEffects, withFault } from './power-fault-run.ts'
import type { PowerFault, Way } from './power-fault-table.ts'
import { site } from './power-site.ts'
import { LONG } from './volume.ts'

interface Case {
  readonly at: number
  readonly way: Way
  readonly effect: string
  readonly fault: PowerFault
}

/** Builds the site once for all cases, and rebuilds it after a failed one. */
export async function everyStep(
  t: TestContext,
  file: string,
  faults: readonly PowerFault[],
  options: { readonly ordinary: number; readonly croftInside?: boolean },
): Promise<void> {
  const seed = 7
  const make = () => site(seed, options)
  let lab = await make()
  const effects = await cleanEffects(lab)
  assert.ok(effects.off.length > 20 && effects.on.length > 20, JSON.stringify(effects))
  const cases = chosen(effects, faults, options.ordinary)
  const failures: string[] = []
  let came = 0
  for (const one of cases) {
    try {
      if (await withFault(lab, one.way, one.effect, one.fault)) came++
    } catch (error) {
      const again = `CROFT_CASES=${one.at}-${one.at} node bin/run scripts/test.ts test/simulation/${file}`
      failures.push(`${error instanceof Error ? error.message : String(error)}\nto replay: ${again}`)
      if (LONG) process.stderr.write(`${failures.at(-1)}\n`)
      if (failures.length >= MOST_FAILURES) break
      lab = await make()
    }
    if (LONG) process.stderr.write(`${one.at} ${one.way} ${one.fault.name} at ${one.effect} ${failures.length}\n`)
  }
  assert.deepEqual(failures, [])
  t.diagnostic(`${effects.off.length} + ${effects.on.length} effects, ${cases.length} runs, ${came} faults came`)
}

const MOST_FAILURES = 20

/** Every fault at every effect with `npm run test:long`; else a sample, of another kind with another CROFT_SEED. */
function chosen(
  effects: Readonly<Record<Way, readonly string[]>>,
  faults: readonly PowerFault[],
  ordinary: number,
): readonly Case[] {
  const all = faults
    .flatMap((fault) => fault.ways.flatMap((way) => effects[way].map((effect) => ({ way, effect, fault }))))
    .map((one, at): Case => ({ ...one, at }))
  const [from, to] = (process.env.CROFT_CASES ?? '').split('-').map(Number)
  if (from !== undefined && to !== undefined) return all.slice(from, to + 1)
  // Spread, so that a long run that is stopped has been everywhere.
  if (LONG) return all.toSorted((a, b) => ((a.at * SPREAD) % all.length) - ((b.at * SPREAD) % all.length))
  const random = seededRandom(Number(process.env.CROFT_SEED ?? 1))
  return Array.from({ length: ordinary }, () => all[Math.floor(random.next() * all.length)]).flatMap((one) => one ?? [])
}

/** A prime: no number of cases shares a factor with it that matters. */
const SPREAD = 101
