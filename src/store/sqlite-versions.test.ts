import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { DEFAULT_POLICY } from '../model/declaration.ts'
import { openSqliteStore } from './sqlite.ts'
import { takeSchemaBack } from './sqlite-down.ts'
import { lockDatabase } from './sqlite-lock.ts'
import { SCHEMA_VERSION } from './sqlite-schema.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-versions-'))
after(() => rmSync(root, { recursive: true, force: true }))

const version = (file: string) => {
  const db = new DatabaseSync(file)
  try {
    return Number(db.prepare('PRAGMA user_version').get()?.user_version)
  } finally {
    db.close()
  }
}
const RECORD = {
  key: 'Machine/a',
  uid: 'u',
  connection: 'c',
  type: 'vm',
  generation: 'g',
  policy: DEFAULT_POLICY,
  conditions: [],
  createdMs: 1,
  status: 'Running',
} as const
const AUDIT = { atMs: 1, actor: 'cli:root', from: 'cli', what: 'approve', outcome: 'done', message: 'm' } as const

test('[F-26] the schema goes down by one version and up again; what both versions know stays, intentions in flight too', async () => {
  const file = join(root, 'a.db')
  const store = await openSqliteStore(file)
  const epoch = await store.beginEpoch()
  await store.putRecords(epoch, [RECORD])
  const step = {
    verb: 'create',
    summary: 's',
    lane: 'rest',
    host: 'h',
    queues: [],
    call: { method: 'POST', path: '/x', params: {} },
    disruption: 'none',
  } as const
  await store.intend(epoch, {
    id: '1-1',
    epoch,
    key: 'Machine/a',
    uid: 'u',
    connection: 'c',
    externalId: '100',
    host: 'h',
    step,
    generation: 'g',
    atMs: 1,
    state: 'intended',
  })
  await store.appendEvents(epoch, [{ atMs: 1, type: 'Normal', reason: 'r', message: 'm' }])
  await store.appendAudit(AUDIT)
  await store.close()
  assert.equal(version(file), SCHEMA_VERSION)
  assert.equal(takeSchemaBack(file), SCHEMA_VERSION - 1)
  assert.equal(version(file), SCHEMA_VERSION - 1)
  const again = await openSqliteStore(file)
  assert.equal(version(file), SCHEMA_VERSION)
  assert.deepEqual(await again.record('Machine/a'), RECORD)
  assert.equal((await again.intentions()).length, 1)
  assert.equal((await again.events({})).length, 1)
  assert.equal((await again.audit({}))?.length, 1)
  await again.close()
})

test('[F-26] an older croft refuses a newer schema and leaves the file as it is; there is no way below the first', async () => {
  const file = join(root, 'b.db')
  await (await openSqliteStore(file)).close()
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
  db.close()
  await assert.rejects(openSqliteStore(file), /written by a newer croft \(schema \d+, this one knows \d+\)/)
  assert.equal(version(file), SCHEMA_VERSION + 1)
  const first = join(root, 'c.db')
  await (await openSqliteStore(first)).close()
  for (let at = SCHEMA_VERSION; at > 1; at--) takeSchemaBack(first)
  assert.throws(() => takeSchemaBack(first), /there is no way back from schema 1/)
})

test('the audit log only grows, is numbered, and keeps who asked for what', async () => {
  const file = join(root, 'd.db')
  const store = await openSqliteStore(file)
  for (const actor of ['a', 'b', 'c']) await store.appendAudit({ ...AUDIT, actor })
  assert.deepEqual(
    (await store.audit({ limit: 2 }))?.map(({ seq, actor }) => `${seq}${actor}`),
    ['2b', '3c'],
  )
  assert.deepEqual(
    (await store.audit({ afterSeq: 1, limit: 1 }))?.map(({ actor }) => actor),
    ['b'],
  )
  await store.close()
  const db = new DatabaseSync(file)
  assert.throws(() => db.exec(`UPDATE audit SET body = '{}' WHERE seq = 2`), /the audit log is never changed/)
  assert.throws(() => db.exec('DELETE FROM audit WHERE seq = 2'), /the audit log only grows/)
  assert.equal(db.prepare('SELECT count(*) AS rows FROM audit').get()?.rows, 3)
  db.close()
})

test('only one controller works on a database; the lock ends with its process, however that ends', async (t) => {
  const file = join(root, 'e.db')
  const owner = { pid: 1, host: 'here', sinceMs: 0 }
  const first = lockDatabase(file, owner)
  assert.equal(first.got, true)
  const second = lockDatabase(file, { ...owner, pid: 2 })
  assert.deepEqual(second, { got: false, owner })
  if (first.got) first.release()
  const third = lockDatabase(file, owner)
  assert.equal(third.got, true)
  if (third.got) third.release()

  const script = `import { lockDatabase } from ${JSON.stringify(new URL('./sqlite-lock.ts', import.meta.url).href)}
    const got = lockDatabase(${JSON.stringify(file)}, { pid: process.pid, host: 'there', sinceMs: 0 }).got
    setInterval(() => {}, 1000)
    // Unreferenced objects are collected; the lock has to outlive that.
    setImmediate(() => { gc(); setImmediate(() => { gc(); process.send(got) }) })`
  const child = fork('--input-type=module', [], {
    execArgv: ['--expose-gc', '--input-type=module', '--eval', script],
    stdio: 'ignore',
  })
  t.after(() => child.kill('SIGKILL'))
  const got = await new Promise((resolve) => child.once('message', resolve))
  assert.equal(got, true)
  const held = lockDatabase(file, owner)
  assert.equal(held.got, false)
  assert.equal(held.got ? 0 : held.owner?.pid, child.pid)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
  const last = lockDatabase(file, owner)
  assert.equal(last.got, true, 'nothing was left behind')
  if (last.got) last.release()
})
