import { parseArgs } from 'node:util'
import { renderWaterfall } from '../src/cli/demo/waterfall.ts'
import { PLAIN } from '../src/cli/render/text.ts'
import { type Measured, measurePower } from '../test/simulation/power-waterfall.ts'

/**
 * A whole cluster off and on in simulated time: `npm run bench:power`, or `npm run bench:power -- --seeds 5`. What
 * counts is what croft adds to what the world takes.
 */
const { values } = parseArgs({ options: { seeds: { type: 'string', default: '1' } } })
const seeds = Number(values.seeds)
if (!(seeds >= 1 && seeds <= 1000)) throw new Error('--seeds takes a number from 1 to 1000')

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
let worst = 0
for (let seed = 1; seed <= seeds; seed++) {
  const measured = await measurePower(seed)
  for (const state of ['off', 'on'] as const) show(state, measured[state], seed)
}
process.stdout.write(`worst of ${seeds}: ${seconds(worst)} added by croft (aim: at most 2 s)\n`)

function show(state: 'off' | 'on', { parts, totalMs, criticalMs, addedMs }: Measured, seed: number): void {
  worst = Math.max(worst, addedMs)
  if (seed === 1) {
    const spans = parts
      .filter(({ whose, fromMs, toMs }) => whose === 'world' || toMs - fromMs > 0)
      .map(({ label, whose, fromMs, toMs }) => ({ label: whose === 'croft' ? '  croft' : label, fromMs, toMs }))
    process.stdout.write(`power ${state}\n${renderWaterfall(spans, PLAIN)}\n`)
  }
  process.stdout.write(
    `seed ${seed}: ${state} took ${seconds(totalMs)}; critical path ${seconds(criticalMs)}, ` +
      `added by croft ${seconds(addedMs)}\n`,
  )
}
