import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Survey } from '../../../model/resource.ts'
import { settingLists } from './setting.ts'

const survey: Survey = {
  connection: 'default',
  atMs: 0,
  hosts: [{ name: 'pve1', online: true }],
  storages: [],
  resources: [{ connection: 'default', type: 'vm', externalId: '100', host: 'pve1' }],
  tasks: [],
}

test('[T-10] aliases and IP sets are looked for where Proxmox has them: of the cluster and of guests, not of hosts', () => {
  const lists = settingLists(survey, ['ProxmoxFirewallAlias', 'ProxmoxFirewallIpSet'], [])
  assert.equal(lists.length, 4, lists.join(', '))
  assert.deepEqual(
    lists.filter((list) => /nodes\/pve1\/firewall/.test(list)),
    [],
  )
  // A host has its own rules and options.
  assert.ok(settingLists(survey, ['ProxmoxFirewallRules'], []).some((list) => /pve1/.test(list)))
})
