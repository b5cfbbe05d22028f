import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CliError } from '../cli/verb.ts'
import { createMemoryStore } from '../store/memory.ts'
import { cacheDirectory, openExisting, openState, readOnce, stateFile } from './state-file.ts'

test('each directory has its own database, below the state directory of the user', () => {
  const env = { HOME: '/home/u' }
  const file = stateFile(env, '/srv/infra', undefined)
  assert.match(file, /^\/home\/u\/\.local\/state\/croft\/[0-9a-f]{16}\/croft\.db$/)
  assert.notEqual(file, stateFile(env, '/srv/other', undefined))
  assert.match(stateFile({ ...env, XDG_STATE_HOME: '/var/s' }, '/srv/infra', undefined), /^\/var\/s\/croft\//)
  assert.equal(stateFile({ ...env, CROFT_STATE: '/x/a.db' }, '/srv/infra', undefined), '/x/a.db')
  assert.equal(stateFile({ ...env, CROFT_STATE: '/x/a.db' }, '/srv/infra', '/x/b.db'), '/x/b.db')
  assert.match(
    stateFile({ ...env, XDG_STATE_HOME: 'relative' }, '/srv/infra', undefined),
    /^\/home\/u\/\.local\/state\//,
  )
  assert.equal(cacheDirectory({ ...env, XDG_CACHE_HOME: 'relative' }), '/home/u/.cache/croft')
  assert.equal(cacheDirectory({}), undefined)
})

test('a database that cannot be used is named, with the way round it', async () => {
  const opening = (error: Error) => openState({ openStore: () => Promise.reject(error) }, '/var/s/croft.db')
  const denied = Object.assign(new Error("EACCES: permission denied, mkdir '/var/s'"), {
    code: 'EACCES',
    syscall: 'mkdir',
  })
  await assert.rejects(opening(denied), (error) => {
    assert.ok(error instanceof CliError)
    assert.match(
      error.message,
      /^The database \/var\/s\/croft\.db cannot be used: you may not read or write it \(EACCES: .* --state or CROFT_STATE/,
    )
    return true
  })
  const known = new Error('the database /var/s/croft.db was written by a newer croft: run that croft')
  await assert.rejects(opening(known), (error) => error instanceof CliError && error.message === known.message)
})

test('a database that nobody can look at is not taken for a missing one', async () => {
  const forgetful = {
    openStore: () => Promise.reject(new Error('not opened')),
    openMemoryStore: async () => createMemoryStore(),
  }
  await assert.doesNotReject(openExisting(forgetful, '/nowhere/croft.db'))
  // Root may read every folder, so use a name that is too long to cause the error.
  await assert.rejects(
    openExisting(forgetful, `/tmp/${'a'.repeat(300)}`),
    /^CliError: The database \S+ cannot be used: /,
  )
})

test('a plan reads the records of its database once, however many ask for them', async () => {
  const store = createMemoryStore()
  let reads = 0
  const once = readOnce({
    ...store,
    records: () => {
      reads++
      return store.records()
    },
  })
  const [first, second] = [await once.records(), await once.records()]
  assert.equal(first, second)
  assert.equal(reads, 1)
  assert.equal(await once.isFresh(), await store.isFresh())
})
