import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cacheDirectory, stateFile } from './state.ts'

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
