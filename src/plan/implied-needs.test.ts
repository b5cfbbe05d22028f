import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../model/resource.ts'
import { withImpliedNeeds } from './implied-needs.ts'

const bridge = {
  key: 'ProxmoxBridge/vmbr1',
  connection: 'default',
  needs: [],
  desired: { type: 'setting', setting: { definition: 'bridge', id: 'vmbr1', scope: { host: 'pve1' } } },
} as unknown as Resource

const needsOf = (host: string, connection = 'default') => {
  const vm = {
    key: 'EnvironmentVM/web',
    connection,
    needs: [],
    desired: { type: 'vm', vm: { host, nics: [{ bridge: 'vmbr1' }, { bridge: 'vmbr1' }, { bridge: 'vmbr0' }] } },
  } as unknown as Resource
  return withImpliedNeeds([vm, bridge])[0]?.needs
}

test('a declared bridge comes before the guest that is plugged into it', () =>
  assert.deepEqual(needsOf('pve1'), ['ProxmoxBridge/vmbr1']))
test('not the bridge of the same name on another host', () => assert.deepEqual(needsOf('pve2'), []))
test('nor on another connection', () => assert.deepEqual(needsOf('pve1', 'office'), []))
