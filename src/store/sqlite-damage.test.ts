import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, beforeEach, describe, test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import { openSqliteStore } from './sqlite.ts'

/** A closed store with some history, and one that a process was killed on: its last writes are in the log only. */
let folder: string
let path: string
let closed: Buffer
let killed: { readonly database: Buffer; readonly log: Buffer }
let warnings: string[]

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'croft-damage-'))
  path = join(folder, 'croft.db')
  const store = await openSqliteStore(path)
  const epoch = await store.beginEpoch()
  await store.markComplete(epoch)
  await store.putValue(epoch, 'long', 'x'.repeat(20_000))
  await store.appendEvents(
    epoch,
    Array.from({ length: 300 }, (_, n) => ({
      atMs: n,
      type: 'Normal' as const,
      reason: 'Tested',
      message: `event ${n} ${'y'.repeat(50)}`,
    })),
  )
  await store.close()
  closed = readFileSync(path)
  const again = await openSqliteStore(path)
  const next = await again.beginEpoch()
  for (let n = 0; n < 5; n++) await again.putValue(next, 'counter', String(n))
  killed = { database: readFileSync(path), log: readFileSync(`${path}-wal`) }
  await again.close()
})
after(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
  warnings = []
})

const open = () => openSqliteStore(path, { warn: (message) => warnings.push(message) })

async function expectFreshAfterDamage(bytes: Buffer): Promise<void> {
  writeFileSync(path, bytes)
  const store = await open()
  assert.equal(await store.isFresh(), true)
  assert.deepEqual(await store.events({}), [])
  const epoch = await store.beginEpoch()
  await store.putValue(epoch, 'works', 'yes')
  await store.close()
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /damaged .*moved to .*croft\.db\.damaged-1 and a new one was begun/)
  assert.deepEqual(readFileSync(`${path}.damaged-1`), bytes, 'what was there is kept as it was')
}

describe('[F-25] a damaged database is moved aside with a warning, and a fresh store begins', () => {
  test('all zeroes', () => expectFreshAfterDamage(Buffer.alloc(closed.length)))
  test('not a database', () => expectFreshAfterDamage(Buffer.from('metadata: {name: not-a-database}\n'.repeat(200))))
  test('a few bytes of something', () => expectFreshAfterDamage(Buffer.from('x')))
  for (const part of [0.1, 0.5, 0.9]) {
    test(`cut at ${part * 100} % of its length`, () => expectFreshAfterDamage(closed.subarray(0, closed.length * part)))
    test(`zeroed from ${part * 100} % of its length`, () => {
      const bytes = Buffer.from(closed)
      bytes.fill(0, Math.floor((closed.length * part) / 4096) * 4096)
      return expectFreshAfterDamage(bytes)
    })
  }
  test('one page zeroed in the middle of a long value', () => {
    const bytes = Buffer.from(closed)
    const page = [...bytes.keys()].find(
      (at) => at % 4096 === 0 && bytes.subarray(at + 4, at + 4096).every((byte) => byte === 0x78),
    )
    assert.ok(page)
    bytes.fill(0, page, page + 4096)
    return expectFreshAfterDamage(bytes)
  })
  test('cut inside its header', () => expectFreshAfterDamage(closed.subarray(0, 60)))
  test('a table is missing', () => {
    writeFileSync(path, closed)
    const db = new DatabaseSync(path)
    db.exec('DROP TABLE events')
    db.close()
    return expectFreshAfterDamage(readFileSync(path))
  })
  test('a sound tree around a body that cannot be read', () => {
    writeFileSync(path, closed)
    const db = new DatabaseSync(path)
    db.exec(`UPDATE events SET body = '{"torn' WHERE seq = 7`)
    db.close()
    return expectFreshAfterDamage(readFileSync(path))
  })
  test('its row of state is missing', () => {
    writeFileSync(path, closed)
    const db = new DatabaseSync(path)
    db.exec('DELETE FROM state')
    db.close()
    return expectFreshAfterDamage(readFileSync(path))
  })

  test('its log and its index of the log go with it', async () => {
    writeFileSync(path, Buffer.alloc(closed.length))
    writeFileSync(`${path}-wal`, killed.log)
    const store = await open()
    assert.equal(await store.isFresh(), true)
    await store.close()
    assert.equal(warnings.length, 1)
    assert.ok(existsSync(`${path}.damaged-1`))
    assert.ok(!existsSync(`${path}-wal`))
  })

  test('each damaged one gets a number of its own, up to a limit', async () => {
    for (const n of [1, 2]) {
      writeFileSync(path, `damage ${n}`)
      await (await open()).close()
      assert.equal(readFileSync(`${path}.damaged-${n}`, 'utf8'), `damage ${n}`)
    }
    for (let n = 3; n <= LIMITS.damagedStoresKept; n++) writeFileSync(`${path}.damaged-${n}`, '')
    writeFileSync(path, 'once more')
    await assert.rejects(open(), /damaged ones are already in that folder: remove them/)
    assert.equal(readFileSync(path, 'utf8'), 'once more')
  })
})

describe('[F-25] what is not damage', () => {
  test('a deleted database is a fresh one, also when its log was left behind', async () => {
    writeFileSync(`${path}-wal`, killed.log)
    const store = await open()
    assert.equal(await store.isFresh(), true)
    assert.equal(await store.getValue('counter'), undefined)
    await store.close()
    assert.deepEqual(warnings, [])
  })

  test('an empty file is a fresh one', async () => {
    writeFileSync(path, '')
    const store = await open()
    assert.equal(await store.isFresh(), true)
    await store.close()
    assert.deepEqual(warnings, [])
  })

  test('a log that is torn anywhere gives the state of a moment that was, and never an error', async () => {
    const moments = new Set([undefined, '0', '1', '2', '3', '4'])
    const seen = new Set<string | undefined>()
    for (let length = 0; length <= killed.log.length; length += 1000) {
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
      writeFileSync(path, killed.database)
      writeFileSync(`${path}-wal`, killed.log)
      truncateSync(`${path}-wal`, length)
      const store = await open()
      const counter = await store.getValue('counter')
      assert.ok(moments.has(counter), `${counter} at ${length}`)
      assert.equal((await store.getValue('long'))?.length, 20_000)
      assert.equal((await store.events({})).length, 300)
      seen.add(counter)
      await store.close()
    }
    assert.deepEqual(warnings, [])
    assert.ok(seen.size > 3, `the cuts reached ${seen.size} moments`)
  })
})
