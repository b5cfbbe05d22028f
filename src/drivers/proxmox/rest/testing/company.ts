import type { SettingSpec } from '../../../../model/rest.ts'
import { DEFINITIONS } from '../../../../proxmox/registry.ts'
import { exampleOf } from './samples.ts'

/** Fields that exclude others of the example. */
export const APART = new Set([
  'ha-rule.hosts',
  'ha-rule.strict',
  'acme-plugin.secretData',
  'backup-job.host',
  'acl.user',
  'acl.token',
])

/** Combinations that only the simulator refuses: it knows which fields belong to which type. */
export const APART_SIMULATED = new Set([
  ...APART,
  'storage.content',
  'backup-job.all',
  // Only active-backup has one.
  'bond.primary',
  'backup-job.guests',
  'backup-job.pool',
  'realm.baseDn',
  'realm.userAttr',
  'realm.server1',
  'storage.shared',
  // For services that the simulator lacks.
  'sdn-zone.dns',
  'sdn-zone.reverseDns',
  'sdn-zone.dnsZone',
  // HA has rules instead of groups.
  'ha-resource.group',
  // The real API accepts an unchanged name as the new one, to change the comment.
  'firewall-group.comment',
])

/** Prerequisites that the simulator checks. */
export function neededBy(name: string): readonly SettingSpec[] {
  const exampleNamed = (other: string) => DEFINITIONS.filter((one) => one.name === other).map(exampleOf)
  switch (name) {
    case 'acl':
      return [...exampleNamed('group'), { definition: 'pool', id: 'web', fields: {} }]
    case 'token':
    case 'user':
      return [
        ...exampleNamed('group'),
        ...['one', 'two'].map((id) => ({ definition: 'group', id, fields: {} })),
        ...(name === 'token' ? exampleNamed('user') : []),
      ]
    case 'firewall-rules':
      return [...exampleNamed('firewall-ipset'), ...exampleNamed('firewall-group')]
    case 'ha-rule':
      return ['vm:108', 'vm:109', 'vm:114'].map((id) => ({ definition: 'ha-resource', id, fields: {} }))
    case 'node-options':
      return exampleNamed('acme-plugin').map((plugin) => ({ ...plugin, id: 'cloudflare' }))
    case 'sdn-vnet':
      return exampleNamed('sdn-zone').flatMap((zone) => [zone, { ...zone, id: 'other' }])
    case 'sdn-subnet':
      return [...exampleNamed('sdn-zone'), ...exampleNamed('sdn-vnet')]
    default:
      return []
  }
}
