import { parseArgs } from 'node:util'
import { renderWaterfall } from '../src/cli/demo/waterfall.ts'
import { PLAIN } from '../src/cli/render/text.ts'
import { measureFormation } from '../test/simulation/cluster-waterfall.ts'

/**
 * From the push to three Ready servers, in simulated time with the delays that were measured on real machines:
 * `npm run bench:cluster`, or `npm run bench:cluster -- --seeds 5`. What counts is what croft adds to what the world
 * takes.
 */
const { values } = parseArgs({ options: { seeds: { type: 'string', default: '3' } } })
const seeds = Number(values.seeds)
if (!(seeds >= 1 && seeds <= 1000)) throw new Error('--seeds takes a number from 1 to 1000')

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
let worst = 0
for (let seed = 1; seed <= seeds; seed++) {
  const { parts, totalMs, criticalMs, addedMs } = await measureFormation(seed)
  worst = Math.max(worst, addedMs)
  if (seed === 1) {
    const spans = parts.map(({ label, whose, fromMs, toMs }) => ({
      label: whose === 'croft' ? `croft: ${label}` : label,
      fromMs,
      toMs,
    }))
    process.stdout.write(`${renderWaterfall(spans, PLAIN)}\n`)
  }
  process.stdout.write(
    `seed ${seed}: ${seconds(totalMs)} from the push to three Ready servers; ` +
      `critical path ${seconds(criticalMs)}, added by croft ${seconds(addedMs)}\n`,
  )
}
process.stdout.write(`worst of ${seeds}: ${seconds(worst)} added by croft (aim: at most 2 s)\n`)
