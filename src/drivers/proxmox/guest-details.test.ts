import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource } from '../../model/resource.ts'
import { readConfig, withConfig } from './guest-details.ts'

const PLAIN: ObservedResource = {
  connection: 'home',
  type: 'vm',
  externalId: '100',
  host: 'a',
  name: 'old',
  power: 'stopped',
}
const MORE = { mark: { uid: '0123456789abcdef' }, lock: 'backup', template: true } as const

test('what the survey showed and the configuration does not is gone', () => {
  for (const field of ['mark', 'lock', 'template'] as const) {
    const seen = withConfig({ ...PLAIN, [field]: MORE[field] }, readConfig({ memory: '512' }) ?? assert.fail(), 1)
    assert.ok(!Object.hasOwn(seen, field), field)
    assert.equal(seen.name, 'old', 'a configuration without a name says nothing about it')
  }
})

test('what the configuration shows counts, and the rest stays', () => {
  const config = { name: 'new', lock: 'clone', template: 1 }
  const { close, ...seen } = withConfig({ ...PLAIN, ...MORE }, readConfig(config) ?? assert.fail(), 1)
  assert.deepEqual(seen, { ...PLAIN, name: 'new', lock: 'clone', template: true })
  assert.deepEqual(close, { config, atMs: 1 })
})
