'use strict'
// Loaded into every process that is measured, by NODE_OPTIONS=--require. When the process ends, what it used is
// appended to the file that METER_FILE names. CommonJS, because the launcher may run on a Node that knows no TypeScript.
const { appendFileSync } = require('node:fs')
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const line = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, rssMb: maxRSS / 1024 }
  if (process.env.METER_FILE) appendFileSync(process.env.METER_FILE, `${JSON.stringify(line)}\n`)
})
