import assert from 'node:assert/strict'
import { globSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { packExchange, unpackExchange } from './exchange.ts'
import { RECORDINGS, recordedExchanges } from './read.ts'

const HERE = import.meta.dirname
const MOST_BYTES = 3_000_000

test('the evidence is small, and the page says of every file how it was recorded', () => {
  const files = globSync('**/*.gz', { cwd: HERE }).sort()
  const page = readFileSync(`${HERE}/README.md`, 'utf8')
  for (const file of files) {
    const name = file.replace(/^.*\//, '').replace(/\.jsonl?\.gz$/, '')
    assert.ok(page.includes(name), `${file}: the page does not name it`)
  }
  const bytes = files.reduce((sum, file) => sum + statSync(`${HERE}/${file}`).size, 0)
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
})

test('every recorded exchange is kept as it is read', () => {
  const all = RECORDINGS.flatMap(recordedExchanges)
  assert.equal(all.length, 3_121)
  for (const one of all) assert.deepEqual(unpackExchange(packExchange(one)), one)
})

test('no test reads what lies beside the repository', () => {
  const root = `${HERE}/../..`
  const sources = globSync('{src,sim,test,scripts,bench}/**/*.ts', { cwd: root })
  const readers = sources.filter((path) =>
    /\.\.\/shared\/(?!kustomization)/.test(readFileSync(`${root}/${path}`, 'utf8')),
  )
  assert.deepEqual(
    readers.filter((path) => !path.startsWith('src/kinds/descriptions/')),
    [],
  )
})
