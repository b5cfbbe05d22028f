'use strict'
// A clone runs what `npm ci` or any `npm run` built of its sources, for as long as no source has changed since: a plan
// then begins with a third of the work. Otherwise, and wherever this cannot be told, it runs the sources.
const { readdirSync, readFileSync, statSync } = require('node:fs')
const path = require('node:path')

// One level below the root, like dist: what is built finds its tables, the page and the examples from there.
const FOLDER = '.built'
const STAMP = 'sources.json'

/** What is built of a clone and still true, or undefined. */
function builtOf(root) {
  const stamp = path.join(root, FOLDER, STAMP)
  try {
    const { files, beganMs } = JSON.parse(readFileSync(stamp, 'utf8'))
    const now = sourcesOf(root)
    return now.files === files && now.newestMs < beganMs ? path.join(root, FOLDER, 'main.js') : undefined
  } catch {
    return undefined
  }
}

/**
 * How many files the program is made of, and when the newest of them was changed or put in its place. That is the time
 * of the change of the inode: Git, cp and mv may set any other.
 */
function sourcesOf(root) {
  let files = 0
  let newestMs = 0
  const see = (file) => {
    files += 1
    newestMs = Math.max(newestMs, statSync(file).ctimeMs)
  }
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const file = `${folder}/${entry.name}`
      if (entry.isDirectory()) walk(file)
      else if (!entry.name.endsWith('.test.ts')) see(file)
    }
  }
  for (const folder of ['src', 'sim']) walk(path.join(root, folder))
  for (const file of ['scripts/build.ts', 'scripts/builtin-modules.ts', 'package.json', 'package-lock.json'])
    see(path.join(root, file))
  return { files, newestMs }
}

module.exports = { builtOf, sourcesOf, FOLDER, STAMP }
