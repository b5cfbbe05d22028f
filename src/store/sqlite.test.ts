import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Intention } from '../model/record.ts'
import { StaleEpoch } from './port.ts'
import { createSqliteStore, openSqliteStore } from './sqlite.ts'
import { connect, prepareFile } from './sqlite-file.ts'
import { storeConformance } from './testing/conformance.ts'

storeConformance('sqlite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'croft-store-'))
  return {
    open: () => openSqliteStore(join(folder, 'croft.db')),
    remove: async () => rmSync(folder, { recursive: true }),
  }
})

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'croft-store-'))
  path = join(folder, 'croft.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('durability', () => {
  test('[F-01] what must stand before an effect commits on the connection that waits for the disk', async () => {
    prepareFile(path, noWarning)
    const commits: string[] = []
    const store = createSqliteStore(
      path,
      watched(connect(path, 'FULL'), 'journal', commits),
      watched(connect(path, 'NORMAL'), 'cache', commits),
    )
    const epoch = await store.beginEpoch()
    await store.intend(epoch, intention('a'))
    await store.noteTask(epoch, 'a', 'UPID:x')
    await store.keepValue(epoch, 'a', 'a')
    assert.deepEqual(commits, ['journal', 'journal', 'journal', 'journal'])
    commits.length = 0
    await store.settle(epoch, 'a')
    await store.putValue(epoch, 'a', 'b')
    await store.appendEvents(epoch, [])
    assert.deepEqual(commits, ['cache', 'cache', 'cache'])
    await store.close()
  })

  test('the two connections have the durability that their names promise, in WAL mode', () => {
    for (const [durability, synchronous] of [
      ['FULL', 2],
      ['NORMAL', 1],
    ] as const) {
      const db = connect(path, durability)
      assert.equal(db.prepare('PRAGMA synchronous').get()?.synchronous, synchronous)
      assert.equal(db.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal')
      db.close()
    }
  })

  test('[F-23] an intention outlives SIGKILL right after intend resolved', async () => {
    const program = `
      const { openSqliteStore } = await import(${JSON.stringify(join(import.meta.dirname, 'sqlite.ts'))})
      const store = await openSqliteStore(${JSON.stringify(path)})
      const epoch = await store.beginEpoch()
      await store.intend(epoch, ${JSON.stringify(intention('a'))})
      process.kill(process.pid, 'SIGKILL')`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const signal = await new Promise((resolve) => child.on('exit', (_, killedBy) => resolve(killedBy)))
    assert.equal(signal, 'SIGKILL')
    const store = await openSqliteStore(path, { warn: noWarning })
    assert.deepEqual(await store.intentions(), [intention('a')])
    await store.close()
  })
})

describe('privacy', () => {
  test('the files are for their owner alone, also when they were made otherwise', async () => {
    const nested = join(folder, 'state', 'croft', 'croft.db')
    const store = await openSqliteStore(nested)
    await store.beginEpoch()
    assert.equal(statSync(join(folder, 'state', 'croft')).mode & 0o777, 0o700)
    for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(nested + suffix).mode & 0o777, 0o600, suffix)
    await store.close()
    chmodSync(nested, 0o644)
    await (await openSqliteStore(nested)).close()
    assert.equal(statSync(nested).mode & 0o777, 0o600)
  })
})

describe('what croft must not touch', () => {
  test('a newer schema is refused with both versions, and the file stays as it is', async () => {
    await (await openSqliteStore(path)).close()
    const db = new DatabaseSync(path)
    db.exec('PRAGMA user_version = 99')
    db.close()
    await assert.rejects(openSqliteStore(path), /newer croft \(schema 99, this one knows \d+\).*rebuilt from Git/)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('damaged')),
      [],
    )
    const after = new DatabaseSync(path)
    assert.equal(after.prepare('PRAGMA user_version').get()?.user_version, 99)
    after.close()
  })

  test("another program's database is refused and stays as it is", async () => {
    const db = new DatabaseSync(path)
    db.exec('CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)')
    db.close()
    await assert.rejects(openSqliteStore(path), /database of another program/)
    const after = new DatabaseSync(path)
    assert.deepEqual(
      after
        .prepare('SELECT name FROM sqlite_schema')
        .all()
        .map(({ name }) => name),
      ['theirs'],
    )
    assert.equal(after.prepare('PRAGMA journal_mode').get()?.journal_mode, 'delete')
    after.close()
  })

  test('a file that cannot be opened is an error, not damage', async () => {
    await assert.rejects(openSqliteStore(folder))
    assert.ok(existsSync(folder))
  })
})

describe('two processes on one file', () => {
  test('[F-25] a controller whose database was deleted under it is stopped before its next effect', async () => {
    const store = await openSqliteStore(path)
    const epoch = await store.beginEpoch()
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    await assert.rejects(store.intend(epoch, intention('a')), (error: Error) => {
      assert.ok(error instanceof StaleEpoch)
      assert.match(error.message, /deleted or replaced/)
      return true
    })
    const other = await openSqliteStore(path)
    assert.equal(await other.isFresh(), true)
    await assert.rejects(store.intend(epoch, intention('a')), /deleted or replaced/)
    await other.close()
    await store.close()
  })

  test('a writer that never lets go is named as the reason', async () => {
    const store = await openSqliteStore(path)
    const epoch = await store.beginEpoch()
    const rival = new DatabaseSync(path)
    rival.exec('BEGIN IMMEDIATE')
    const impatient = connect(path, 'NORMAL')
    impatient.exec('PRAGMA busy_timeout = 1')
    const blocked = createSqliteStore(path, impatient, impatient)
    await assert.rejects(blocked.putValue(epoch, 'a', 'b'), /locked by another program/)
    rival.exec('ROLLBACK')
    rival.close()
    await blocked.putValue(epoch, 'a', 'b')
    await blocked.close()
    await store.close()
  })

  test('several processes may open a new file at the same moment', async () => {
    const program = `
      const { openSqliteStore } = await import(${JSON.stringify(join(import.meta.dirname, 'sqlite.ts'))})
      const store = await openSqliteStore(${JSON.stringify(path)}, { warn: (message) => { throw new Error(message) } })
      process.stdout.write(String(await store.beginEpoch()))
      await store.close()`
    const epochs = await Promise.all(
      [1, 2, 3, 4].map(
        () =>
          new Promise<number>((resolve, reject) => {
            const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
              stdio: ['ignore', 'pipe', 'inherit'],
            })
            let text = ''
            child.stdout.on('data', (chunk) => {
              text += String(chunk)
            })
            child.on('close', (code) => (code === 0 ? resolve(Number(text)) : reject(new Error(`exit ${code}`))))
          }),
      ),
    )
    assert.deepEqual(new Set(epochs), new Set([1, 2, 3, 4]))
  })
})

test('a full copy of a closed store opens as it was: an older backup restored', async () => {
  const store = await openSqliteStore(path)
  await store.intend(await store.beginEpoch(), intention('a'))
  await store.close()
  copyFileSync(path, `${path}.backup`)
  writeFileSync(path, '')
  copyFileSync(`${path}.backup`, path)
  const restored = await openSqliteStore(path, { warn: noWarning })
  assert.deepEqual(await restored.intentions(), [intention('a')])
  await restored.close()
})

function noWarning(message: string): void {
  assert.fail(message)
}

/** Returns the connection, recording each commit under a name. */
function watched(db: DatabaseSync, name: string, commits: string[]): DatabaseSync {
  return new Proxy(db, {
    get(target, property) {
      if (property === 'exec') {
        return (sql: string) => {
          target.exec(sql)
          if (sql === 'COMMIT') commits.push(name)
        }
      }
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function intention(id: string): Intention {
  return {
    id,
    epoch: 1,
    key: 'EnvironmentVM/a',
    uid: '0123456789abcdef',
    connection: 'default',
    externalId: '114',
    host: 'fun-bedbug',
    step: {
      verb: 'start',
      summary: 'start 114',
      lane: 'rest',
      host: 'fun-bedbug',
      queues: [],
      call: { method: 'POST', path: '/nodes/fun-bedbug/qemu/114/status/start', params: {} },
      disruption: 'none',
    },
    generation: 'g1',
    atMs: 1,
    state: 'intended',
  }
}
