import { dirname } from 'node:path'
import { runChecks } from './checks.ts'

// `npm run check`: every tool that judges the sources without running them.
const results = await runChecks(dirname(import.meta.dirname), (text) => process.stdout.write(text))
const failed = results.filter(({ ok }) => !ok).length
process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
