// The whole exploration, and its findings as scripts: FAULTS=2 DEEDS=1 STATES=200000 STORY=upgrade npm run test:explorer
import { explore } from './explore.ts'
import { STORIES } from './stories.ts'

const numberOf = (name: string, usual: number) => Number(process.env[name] ?? usual)
const budget = { faults: numberOf('FAULTS', 1), deeds: numberOf('DEEDS', 1), states: numberOf('STATES', 100_000) }
const shown = numberOf('FINDINGS', 5)
let findings = 0
for (const story of STORIES.filter(({ name }) => process.env.STORY === undefined || name === process.env.STORY)) {
  const begun = process.cpuUsage()
  const { states, findings: found, whole } = await explore(await story.begins(), budget)
  const { user, system } = process.cpuUsage(begun)
  console.info(
    `${story.name}: ${states} states${whole ? '' : ', not all'}, ${((user + system) / 1e6).toFixed(1)} s, ${found.length} findings`,
  )
  for (const { what, script } of found.slice(0, shown))
    console.info([`  ${what}`, ...script.map((line) => `      ${line}`)].join('\n'))
  findings += found.length
}
process.exitCode = findings === 0 ? 0 : 1
