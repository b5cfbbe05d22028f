import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { TROUBLE_SORTS } from '../../src/model/notification.ts'

const root = dirname(dirname(import.meta.dirname))
const page = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8')

/** Folders whose reasons become conditions of a resource or of a cluster. */
const FOLDERS = ['cli/clusters', 'drivers', 'engine', 'plan', 'helm', 'kubernetes', 'cloudinit']

/** Reasons that say that all is well, and words of other programs that are no reasons of a condition. */
const NO_TROUBLE = new Set(
  `Active AsDeclared AsWanted Current InPlace InSync NodesReady NotStalled
  Off Power Present Renamed RemovedWithWarnings Template`.split(/\s+/),
)

function explained(): readonly string[] {
  const tables = page.slice(page.indexOf('## Reasons'))
  return [...tables.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word),
  )
}

const sources = FOLDERS.flatMap((folder) => globSync(`src/${folder}/**/*.ts`, { cwd: root }))
  .filter((file) => !file.endsWith('.test.ts') && !file.includes('/testing/'))
  .map((file) => readFileSync(join(root, file), 'utf8'))

function said(): ReadonlySet<string> {
  return new Set(sources.flatMap((text) => [...text.matchAll(/\breason: '([A-Z]\w+)'/g)].map(([, word = '']) => word)))
}

test('the page explains every reason that a condition can have', () => {
  const known = new Set(explained())
  const missing = [...said()].filter((word) => !known.has(word) && !NO_TROUBLE.has(word))
  assert.deepEqual(missing, [], 'explain it in docs/troubleshooting.md: what it means, what to do')
})

test('the page explains no reason that croft no longer gives, and none twice', () => {
  const operator = readFileSync(join(root, 'src/operator/status.ts'), 'utf8')
  const given = [...sources, operator]
  const gone = explained().filter((word) => !given.some((text) => text.includes(`'${word}'`)))
  assert.deepEqual(gone, [])
  assert.equal(new Set(explained()).size, explained().length)
})

test('the page has a row for every class of trouble', () => {
  const rows = [...page.slice(0, page.indexOf('## Reasons')).matchAll(/^\| `(\w+)` \|/gm)].map(([, word = '']) => word)
  assert.deepEqual(new Set(rows), new Set(TROUBLE_SORTS))
  assert.equal(rows.length, TROUBLE_SORTS.length)
})
