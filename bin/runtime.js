'use strict'
// Runs a TypeScript entry on Node 24 or newer. A fresh machine has Node 20, which cannot strip types, so the
// pinned runtime from optionalDependencies is used there. No install script is involved: `npm ci --ignore-scripts`
// is enough, and the integrity of the binary is in package-lock.json.
const { spawn } = require('node:child_process')
const path = require('node:path')
const { constants } = require('node:os')
const { pathToFileURL } = require('node:url')

const OLDEST_MAJOR = 24

function pinnedNode() {
  const name = `node-linux-${process.arch}`
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'node')
  } catch {
    process.stderr.write(
      `croft needs Node ${OLDEST_MAJOR} or newer, this is ${process.version}, and the pinned runtime ${name} is not installed.\n` +
        `Run "npm ci" in ${path.dirname(__dirname)}, or put Node ${OLDEST_MAJOR} first in PATH.\n`,
    )
    process.exit(1)
  }
}

exports.run = function run(entry, args) {
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_MAJOR) {
    require('node:module').enableCompileCache?.()
    process.argv.splice(1, process.argv.length - 1, entry, ...args)
    void import(pathToFileURL(entry).href)
    return
  }
  const env = { ...process.env }
  const cache = process.env.XDG_CACHE_HOME || (process.env.HOME && path.join(process.env.HOME, '.cache'))
  if (cache && !env.NODE_COMPILE_CACHE) env.NODE_COMPILE_CACHE = path.join(cache, 'croft', 'code')
  // Through the channel the program notices when this process is gone, however it went: kill -9 is handed on by nobody.
  // A smaller nursery costs no time here and saves 20 MB on a large estate.
  const child = spawn(pinnedNode(), ['--max-semi-space-size=8', entry, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env,
  })
  const forward = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGINT', 'SIGQUIT']
  for (const signal of forward) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`croft could not start ${child.spawnfile}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
}
