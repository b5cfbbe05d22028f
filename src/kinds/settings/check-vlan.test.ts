import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionNamed } from '../../proxmox/registry.ts'
import { checkVlan } from './check-vlan.ts'

test('a tag that contradicts the name of a VLAN interface is refused: Proxmox would keep the one of the name', () => {
  const problems = (id: string, tag?: number) =>
    checkVlan(definitionNamed('vlan'), { id, fields: tag === undefined ? {} : { tag } }, ['spec', 'tag'])
  for (const [id, tag] of [
    ['vlan40', 40],
    ['vlan40', undefined],
    ['eno1.40', 40],
    ['cameras', 41],
  ] as const)
    assert.deepEqual(problems(id, tag), [], id)
  assert.match(problems('vlan40', 41)[0]?.message ?? '', /takes the VLAN of vlan40 from its name, 40, and not 41/)
  assert.equal(problems('eno1.40', 41).length, 1)
  assert.deepEqual(checkVlan(definitionNamed('bridge'), { id: 'vlan40', fields: { tag: 41 } }, []), [])
})
