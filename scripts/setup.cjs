'use strict'
// Makes a fresh clone ready, and costs nothing when it already is. Runs on Node 20 with no dependency.
const { spawnSync } = require('node:child_process')
const { readFileSync, writeFileSync, existsSync } = require('node:fs')
const { createHash } = require('node:crypto')
const path = require('node:path')

const root = path.dirname(__dirname)
const lock = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex')
const stamp = path.join(root, 'node_modules', '.croft-setup')
const done = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''

// A person who ran `npm ci` by hand has everything but the stamp: the hidden lock tells that it is complete.
const byHand = existsSync(path.join(root, 'node_modules', '.package-lock.json'))
if (done !== lock) {
  if (done !== '' || !byHand) {
    process.stderr.write('setting up: npm ci --ignore-scripts\n')
    const { npm_config_ignore_scripts, ...env } = process.env
    const ran = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      env,
    })
    if (ran.status !== 0) {
      process.stderr.write('setting up failed: npm ci did not succeed; the lines above say why\n')
      process.exit(1)
    }
  }
  writeFileSync(stamp, lock)
}

// What starts croft from this clone finds it built. It runs without, too: only slower.
const { builtOf } = require('../bin/built.js')
if (builtOf(root) === undefined && existsSync(path.join(root, 'node_modules', 'esbuild'))) {
  const built = spawnSync(process.execPath, ['bin/run', 'scripts/build-clone.ts'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (built.status !== 0) process.stderr.write('croft could not be built from this clone and runs from its sources\n')
}
