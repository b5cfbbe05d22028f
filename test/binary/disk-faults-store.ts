import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Intention } from '../../src/model/record.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { type DiskFault, faultSettings } from './disk-faults.ts'

// Run with the library of disk-faults.c loaded: a store whose disk fails at every place, one after the other. What it
// has acknowledged must be there afterwards, whichever call failed. Prints how many places there were.

const root = process.argv[2] ?? ''
const counter = path.join(root, 'count')
process.env.CROFT_FAULT_COUNT = counter
let runs = 0

/** What was acknowledged in one life of the store. */
interface Promised {
  opened: boolean
  intended: string[]
  settled: string[]
  events: number
  audit: number
  value?: string
}

function fault(directory: string, how: DiskFault): void {
  Object.assign(process.env, faultSettings(directory, how), { CROFT_FAULT_RUN: String(++runs) })
}

const CALM: DiskFault = { call: 'write', n: 0, error: 'EIO' }

async function live(file: string): Promise<Promised> {
  const promised: Promised = { opened: false, intended: [], settled: [], events: 0, audit: 0 }
  const store = await openSqliteStore(file, { warn: (message) => assert.fail(message) })
  try {
    const epoch = await store.beginEpoch()
    promised.opened = true
    for (let n = 0; n < 3; n++) {
      await store.intend(epoch, intention(`${n}`, epoch))
      promised.intended.push(`${n}`)
      await store.noteTask(epoch, `${n}`, `UPID:${n}`)
      await store.appendEvents(epoch, [{ atMs: n, type: 'Normal', reason: 'Tested', message: `event ${n}` }])
      promised.events++
      await store.putValue(epoch, 'counter', `${n}`)
      promised.value = `${n}`
      await store.appendAudit({ atMs: n, actor: 'cli:a', from: 'cli', what: 'approve', outcome: 'done', message: '' })
      promised.audit++
    }
    await store.settle(epoch, '0')
    promised.settled.push('0')
    return promised
  } catch (error) {
    assert.ok(error instanceof Error && error.message.includes(file), `the file is not named: ${String(error)}`)
    return promised
  } finally {
    await store.close().catch(() => {})
  }
}

function intention(id: string, epoch: number): Intention {
  const call = { method: 'POST', path: '/x', params: {} } as const
  const step = {
    verb: 'create',
    summary: 's',
    lane: 'rest',
    host: 'h',
    queues: [],
    call,
    disruption: 'none',
  } as const
  const named = { key: 'Machine/a', uid: 'u', connection: 'c', externalId: '100', host: 'h' } as const
  return { ...named, id, epoch, step, generation: 'g', atMs: 1, state: 'intended' }
}

async function check(file: string, promised: Promised, hint: string): Promise<void> {
  if (existsSync(file) && promised.opened) {
    const db = new DatabaseSync(file)
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok', hint)
    db.close()
  }
  const store = await openSqliteStore(file, { warn: (message) => assert.fail(`${message}; ${hint}`) })
  const kept = (await store.intentions()).map(({ id }) => id)
  for (const id of promised.intended)
    assert.ok(kept.includes(id) || promised.settled.includes(id) || id === '0', `intention ${id} is lost; ${hint}`)
  for (const id of promised.settled) assert.ok(!kept.includes(id), `${id} was settled and is there again; ${hint}`)
  assert.ok((await store.events({})).length >= promised.events, `an event is lost; ${hint}`)
  assert.ok(((await store.audit({})) ?? []).length >= promised.audit, `what was audited is lost; ${hint}`)
  const value = await store.getValue('counter')
  if (promised.value !== undefined) assert.ok(Number(value) >= Number(promised.value), `a value is lost; ${hint}`)
  const epoch = await store.beginEpoch()
  await store.putValue(epoch, 'works', 'yes')
  await store.close()
}

const places: Record<string, number> = {}
for (const call of ['write', 'fsync'] as const) {
  const counted = path.join(root, `${call}-counted`)
  mkdirSync(counted)
  rmSync(counter, { force: true })
  fault(counted, { ...CALM, call })
  await live(path.join(counted, 'croft.db'))
  const many = existsSync(counter) ? Number(readFileSync(counter, 'utf8')) : 0
  places[call] = many
  for (const [error, stays] of [
    ['EIO', false],
    ['ENOSPC', true],
  ] as const) {
    for (let n = 1; n <= many; n++) {
      const hint = `the ${n}-th ${call} of ${many} fails with ${error}${stays ? ', and all after it' : ''}`
      const directory = path.join(root, `${call}-${error}-${n}`)
      mkdirSync(directory)
      const file = path.join(directory, 'croft.db')
      fault(directory, { call, n, error, stays })
      const promised = await live(file).catch((failed: unknown): Promised => {
        assert.ok(failed instanceof Error && failed.message.includes(file), `${String(failed)}; ${hint}`)
        return { opened: false, intended: [], settled: [], events: 0, audit: 0 }
      })
      fault(directory, CALM)
      await check(file, promised, hint)
    }
  }
}
// Only a damaged database is renamed: moved aside, with its log.
places.rename = 2
for (const n of [1, 2]) {
  for (const error of ['EIO', 'ENOSPC'] as const) {
    const hint = `the ${n}-th rename fails with ${error}`
    const directory = path.join(root, `rename-${error}-${n}`)
    mkdirSync(directory)
    const file = path.join(directory, 'croft.db')
    for (const part of ['', '-wal']) writeFileSync(`${file}${part}`, 'no database at all')
    fault(directory, { call: 'rename', n, error })
    await assert.rejects(
      openSqliteStore(file, { warn: () => {} }),
      (failed: Error) => failed.message.includes(file),
      hint,
    )
    fault(directory, CALM)
    await (await openSqliteStore(file, { warn: () => {} })).close()
    await check(file, await live(file), hint)
  }
}
process.stdout.write(`${JSON.stringify(places)}\n`)
