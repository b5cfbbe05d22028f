'use strict'
// Loaded into the controller by NODE_OPTIONS=--require. Between two ticks of a short timer the main thread has used no more
// processor time than its longest turn and the length of a tick; the most that was seen is kept in the file TURNS_FILE.
const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

const TICK_MS = 5
const file = process.env.TURNS_FILE
if (isMainThread && file && typeof process.threadCpuUsage === 'function') {
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let last = Number.NaN
  let longest = 0
  const tick = () => {
    const now = usedMs()
    // The first ticks are of a program that is still being loaded, before it reads anything.
    if (now - last > longest) {
      longest = now - last
      writeFileSync(file, JSON.stringify({ longestMs: longest, atMs: Math.round(process.uptime() * 1000) }))
    }
    last = usedMs()
  }
  setInterval(tick, TICK_MS).unref()
}
