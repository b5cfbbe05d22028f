import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SettingSpec } from '../../model/rest.ts'
import { definitionNamed } from '../../proxmox/registry.ts'
import { checkInterface } from './check-interface.ts'

function fieldsOf(kind: string, id: string, fields: SettingSpec['fields']): readonly string[] {
  return checkInterface(definitionNamed(kind), { id, fields }, (field) => [field]).map(({ path }) => path.join('.'))
}

test('a tag that contradicts the name of a VLAN interface is refused: Proxmox would keep the one of the name', () => {
  for (const [id, tag] of [
    ['vlan40', 40],
    ['vlan40', undefined],
    ['eno1.40', 40],
    ['cameras', 41],
  ] as const)
    assert.deepEqual(fieldsOf('vlan', id, tag === undefined ? {} : { tag }), [], id)
  const [problem] = checkInterface(definitionNamed('vlan'), { id: 'vlan40', fields: { tag: 41 } }, () => [
    'spec',
    'tag',
  ])
  assert.match(problem?.message ?? '', /takes the VLAN of vlan40 from its name, 40, and not 41/)
  assert.deepEqual(fieldsOf('vlan', 'eno1.40', { tag: 41 }), ['tag'])
  assert.deepEqual(fieldsOf('bridge', 'vlan40', { tag: 41 }), [])
})

test('what the file of Proxmox cannot say of a bond or a bridge is refused: it would be set for ever', () => {
  const bond = (id: string, fields: SettingSpec['fields']) => fieldsOf('bond', id, { interfaces: ['eno1'], ...fields })
  assert.deepEqual(bond('bond0', { mode: '802.3ad', hashPolicy: 'layer2' }), [])
  assert.deepEqual(bond('bond0', { mode: 'balance-xor', hashPolicy: 'layer2' }), [])
  assert.deepEqual(bond('bond0', { mode: 'balance-rr', hashPolicy: 'layer2' }), ['hashPolicy'])
  assert.deepEqual(bond('bond0', { mode: 'active-backup', primary: 'eno1' }), [])
  assert.deepEqual(bond('bond0', { mode: 'balance-rr', primary: 'eno1' }), ['primary'])
  assert.deepEqual(bond('uplink', { mode: 'balance-rr' }), ['id'])
  const bridge = (fields: SettingSpec['fields']) => fieldsOf('bridge', 'vmbr1', fields)
  assert.deepEqual(bridge({ vids: ['2-4094'], vlanAware: true }), [])
  assert.deepEqual(bridge({ vids: ['2-4094'] }), ['vids'])
  assert.deepEqual(bridge({ vids: [] }), [])
})
