import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { asKnown } from '../cli/estate-files.ts'
import { EMPTY_ESTATE, fakeRuntime } from '../cli/testing/fake-runtime.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Resource } from '../model/resource.ts'
import { openSqliteStore } from '../store/sqlite.ts'
import { stateFromBefore } from './state-before.ts'

/** Written by a croft that knew no uids of estates. */
const OLD = JSON.parse(
  readFileSync(new URL('../../test/simulation/fixtures/estate-before-uids.json', import.meta.url), 'utf8'),
) as { readonly records: readonly ResourceRecord[] }

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-before-test-'))
after(() => rmSync(scratch, { recursive: true }))

const declaring = (records: readonly Pick<ResourceRecord, 'key' | 'uid'>[]) => ({
  ...EMPTY_ESTATE.estate,
  resources: records.map(({ key, uid }) => ({ key, uid }) as Resource),
})

/** Returns the messages of a plan with an empty history, in a home with one state folder of the old form. */
async function said(name: string, estate: typeof EMPTY_ESTATE.estate, options: { noted?: true; used?: true } = {}) {
  const home = path.join(scratch, name, 'croft')
  const [before, own] = [path.join(home, 'aaaa'), path.join(home, 'bbbb', 'croft.db')]
  mkdirSync(before, { recursive: true })
  const store = await openSqliteStore(path.join(before, 'croft.db'))
  const epoch = await store.beginEpoch()
  await store.putRecords(epoch, OLD.records)
  await store.close()
  if (options.noted) writeFileSync(path.join(before, 'estate.json'), '{"uid":"abcdef0123456789","directory":"/gone"}')
  if (options.used) mkdirSync(path.dirname(own))
  if (options.used) writeFileSync(own, '')
  const bytes = readFileSync(path.join(before, 'croft.db'))
  const runtime = fakeRuntime({ openStore: openSqliteStore })
  const lines = await stateFromBefore(runtime, own, estate)
  assert.deepEqual(readFileSync(path.join(before, 'croft.db')), bytes, 'a look writes nothing')
  assert.equal(existsSync(path.dirname(own)), options.used === true, 'a look makes no folder')
  return { text: lines.map((line) => `${line}\n`).join(''), before, own: path.dirname(own) }
}

describe('[D-02] a state folder from before uids, whose directory was moved', () => {
  test('is recognised by a plan, which says the one command that brings it here', async () => {
    const { text, before, own } = await said('moved', declaring(OLD.records))
    assert.match(text, /from before estates had a uid/)
    assert.match(text, new RegExp(`knows ${OLD.records.length} of the ${OLD.records.length} things`))
    assert.ok(text.includes(`mv ${before} ${own}\n`), text)
  })
  test('is not spoken of where nothing of it is declared, it says whose it is, or this directory has a history', async () => {
    assert.equal((await said('other', declaring([{ key: 'Machine/else', uid: '0123456789abcdef' }]))).text, '')
    assert.equal((await said('noted', declaring(OLD.records), { noted: true })).text, '')
    assert.equal((await said('used', declaring(OLD.records), { used: true })).text, '')
  })
})

test('[D-02] a plan says when a database is from before the uid of its Estate', () => {
  const declarations = [{ kind: 'Estate' }] as never
  const told = (records: readonly ResourceRecord[]) => {
    const all: string[] = []
    asKnown({ declarations, estate: declaring(OLD.records) }, records, (text) => all.push(text))
    return all.join()
  }
  assert.match(told(OLD.records), /from before its Estate had a uid/)
  assert.equal(told([]), '')
  assert.equal(told(OLD.records.map((record) => ({ ...record, declaredBy: 'abcdef0123456789' }))), '')
})
