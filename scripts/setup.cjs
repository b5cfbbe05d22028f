'use strict'
// Makes a fresh clone ready, and costs nothing when it already is. Runs on Node 20 with no dependency.
const { spawnSync } = require('node:child_process')
const { readFileSync, writeFileSync, existsSync, rmSync } = require('node:fs')
const { createHash } = require('node:crypto')
const path = require('node:path')

const root = path.dirname(__dirname)
const modules = path.join(root, 'node_modules')
const lock = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex')
const stamp = path.join(modules, '.croft-setup')
const done = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''

/** Why what is installed cannot be used, whatever npm said of it; undefined when it can. */
function missing() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  for (const name of Object.keys({ ...dependencies, ...devDependencies }))
    if (!existsSync(path.join(modules, name, 'package.json'))) return `${name} is not there`
  if (Number(process.versions.node.split('.')[0]) >= 24) return undefined
  const name = `node-linux-${process.arch}`
  const pinned = path.join(modules, name, 'bin', 'node')
  if (!existsSync(pinned)) return `${name} is not there, and this is Node ${process.version}`
  // On a full disk npm leaves half a program and calls it added.
  const started = spawnSync(pinned, ['--version'], { stdio: 'ignore' })
  return started.status === 0 ? undefined : `${name} does not start`
}

/** The environment without what leaves parts out: a clone needs all of them, whatever the person's other projects do. */
function wholeInstall() {
  const leavesOut =
    /^(?:NODE_ENV|npm_config_(?:ignore_scripts|omit|include|only|production|also|dry_run|package_lock_only))$/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !leavesOut.test(name)))
}

// A person who ran `npm ci` by hand has everything but the stamp.
if (done !== lock) {
  if (done !== '' || missing() !== undefined) {
    process.stderr.write('setting up: npm ci --ignore-scripts\n')
    const words = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
    const ran = spawnSync('npm', [...words, '--loglevel=error'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      env: wholeInstall(),
    })
    if (ran.error !== undefined) process.stderr.write(`npm could not be started: ${ran.error.message}\n`)
    const lacks = ran.status === 0 ? missing() : undefined
    if (lacks !== undefined) rmSync(modules, { recursive: true, force: true })
    if (ran.status !== 0 || lacks !== undefined) {
      process.stderr.write(
        lacks === undefined
          ? 'setting up failed: npm ci did not succeed; the lines above say why\n'
          : `setting up failed: npm ci ended well, but ${lacks}. Is the disk full? node_modules was removed; make room and start again\n`,
      )
      process.exit(1)
    }
  }
  writeFileSync(stamp, lock)
}

// What starts croft from this clone finds it built. It runs without, too: only slower.
const { builtOf } = require('../bin/built.js')
if (builtOf(root) === undefined && existsSync(path.join(modules, 'esbuild'))) {
  const built = spawnSync(process.execPath, ['bin/run', 'scripts/build-clone.ts'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (built.status !== 0) process.stderr.write('croft could not be built from this clone and runs from its sources\n')
}
