import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource } from '../../../model/resource.ts'
import { importSetting } from './setting.ts'

test('what Proxmox shows of a storage although its type does not have it is not imported', () => {
  const entry = (config: Readonly<Record<string, string | number>>) => {
    const observed = { externalId: 'x', type: 'setting', list: 'settings/storage', close: { config } }
    return importSetting(observed as unknown as ObservedResource)?.spec
  }
  const nfs = entry({ type: 'nfs', server: '10.0.0.1', export: '/x', path: '/mnt/pve/x', shared: 1 })
  assert.deepEqual([nfs?.shared, nfs?.server], [undefined, '10.0.0.1'])
  assert.equal(entry({ type: 'dir', path: '/x', shared: 1 })?.shared, true)
})
