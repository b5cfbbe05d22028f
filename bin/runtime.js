'use strict'
// Runs a TypeScript entry on Node 24 or newer. A fresh machine has Node 20, which cannot strip types, so the
// pinned runtime from optionalDependencies is used there. No install script is involved: `npm ci --ignore-scripts`
// is enough, and the integrity of the binary is in package-lock.json.
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const OLDEST_MAJOR = 24

// The one setting of short commands: V8's default nursery costs 40 MB in a plan of 1,000 machines. The first line of
// bin/croft and the launcher of the packages say the same.
const NURSERY = '--max-semi-space-size=4'
exports.NURSERY = NURSERY
// For what runs for months: the least nursery, garbage is looked for from the beginning, and
// the heap grows by a third before it is collected, not to several times what is in use. Freed memory goes back to the
// system at once: it would otherwise keep the most that it ever needed.
// A replica of the operator looks after thousands of machines: with the least nursery it spends a tenth of its time on garbage.
const longFlags = (verb) => [
  `--max-semi-space-size=${verb === 'operator' ? 4 : 1}`,
  '--min-semi-space-size=0',
  '--no-parallel-scavenge',
  '--no-maglev',
  '--heap-growing-percent=30',
]
const ALLOCATOR = { MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' }

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

function isCroft() {
  return path.basename(process.argv[1] ?? '') === 'croft'
}

function isLong(args) {
  return isCroft() && (args[0] === 'run' || args[0] === 'operator')
}

/** Over in a second or two, or waiting for others most of the time: every verb but those that serve, and no test. */
function isBrief(args) {
  return isCroft() && !isLong(args) && args[0] !== 'sim'
}
exports.isBrief = isBrief

/** Both can be said only when a process begins. For what is over in a second that is not worth a second start. */
function beginAgain(args) {
  const { env } = process
  if (!isLong(args) || env.CROFT_BEGUN === '1' || env.NODE_CHANNEL_FD !== undefined || process.execve === undefined)
    return
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...longFlags(args[0]), process.argv[1], ...args],
    {
      ...ALLOCATOR,
      ...env,
      CROFT_BEGUN: '1',
    },
  )
}

/**
 * The folder for compiled code, which V8 runs as it is: whoever can write there runs as this user. So it is among the
 * user's own files, and the user alone has access. If others had access, its content is deleted; if another user owns it
 * or it is a link, there is none.
 */
function codeCache({ XDG_CACHE_HOME, HOME }) {
  const cache = XDG_CACHE_HOME || (HOME && path.join(HOME, '.cache'))
  if (!cache) return undefined
  const { chmodSync, lstatSync, mkdirSync, rmSync } = require('node:fs')
  const own = path.join(cache, 'croft')
  const code = path.join(own, 'code')
  const isOwn = (stat) => stat.isDirectory() && (process.getuid === undefined || stat.uid === process.getuid())
  try {
    mkdirSync(code, { recursive: true, mode: 0o700 })
    const [outer, inner] = [lstatSync(own), lstatSync(code)]
    if (!isOwn(outer) || !isOwn(inner)) return undefined
    const open = (outer.mode & 0o022) !== 0
    if (open) chmodSync(own, outer.mode & 0o755)
    if (open || (inner.mode & 0o777) !== 0o700) {
      rmSync(code, { recursive: true })
      mkdirSync(code, { mode: 0o700 })
    }
    return code
  } catch {
    // A home that cannot be written, or another process that does the same now: the code is compiled again.
    return undefined
  }
}
exports.codeCache = codeCache

/** `entryOf` says what to run. It is asked only by the Node that runs it: to find out costs a clone 20 ms. */
exports.run = function run(entryOf, args) {
  const major = Number(process.versions.node.split('.')[0])
  if (major >= OLDEST_MAJOR) {
    beginAgain(args)
    const cache = codeCache(process.env)
    if (cache) require('node:module').enableCompileCache(cache)
    const entry = entryOf()
    process.argv.splice(1, process.argv.length - 1, entry, ...args)
    void import(pathToFileURL(entry).href)
    return
  }
  // A Node that needs no other pays for neither.
  const { spawn } = require('node:child_process')
  const { constants } = require('node:os')
  const env = { ...process.env }
  const cache = codeCache(process.env)
  // croft's launcher runs once more, and enables it itself; its flags are then right.
  const program = isCroft() ? path.resolve(process.argv[1]) : entryOf()
  if (isLong(args)) env.CROFT_BEGUN = '1'
  else if (!isCroft() && cache && !env.NODE_COMPILE_CACHE) env.NODE_COMPILE_CACHE = cache
  // Through the channel the program notices when this process is gone, however it went: kill -9 is handed on by nobody.
  const child = spawn(pinnedNode(), [...(isLong(args) ? longFlags(args[0]) : [NURSERY]), program, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...ALLOCATOR, ...env },
  })
  const forward = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGINT', 'SIGQUIT']
  for (const signal of forward) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`croft could not start ${child.spawnfile}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
}
