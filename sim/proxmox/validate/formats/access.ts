import { inlineKeys } from '../shape.ts'
import { type Formats, matching } from './format.ts'

const REALM = '[A-Za-z][A-Za-z0-9.\\-_]+'
const USER = '[^\\s:/]+'

const USER_ID = new RegExp(`^${USER}@${REALM}$`)
const TOKEN_ID = new RegExp(`^${USER}@${REALM}!${REALM}$`)

/** Every privilege that a role can hold. */
export const PRIVILEGES: readonly string[] = [
  'Datastore.Allocate',
  'Datastore.AllocateSpace',
  'Datastore.AllocateTemplate',
  'Datastore.Audit',
  'Group.Allocate',
  'Mapping.Audit',
  'Mapping.Modify',
  'Mapping.Use',
  'Permissions.Modify',
  'Pool.Allocate',
  'Pool.Audit',
  'Realm.Allocate',
  'Realm.AllocateUser',
  'SDN.Allocate',
  'SDN.Audit',
  'SDN.Use',
  'Sys.AccessNetwork',
  'Sys.Audit',
  'Sys.Console',
  'Sys.Incoming',
  'Sys.Modify',
  'Sys.PowerMgmt',
  'Sys.Syslog',
  'User.Modify',
  'VM.Allocate',
  'VM.Audit',
  'VM.Backup',
  'VM.Clone',
  'VM.Config.CDROM',
  'VM.Config.CPU',
  'VM.Config.Cloudinit',
  'VM.Config.Disk',
  'VM.Config.HWType',
  'VM.Config.Memory',
  'VM.Config.Network',
  'VM.Config.Options',
  'VM.Console',
  'VM.GuestAgent.Audit',
  'VM.GuestAgent.FileRead',
  'VM.GuestAgent.FileSystemMgmt',
  'VM.GuestAgent.FileWrite',
  'VM.GuestAgent.Unrestricted',
  'VM.Migrate',
  'VM.PowerMgmt',
  'VM.Replicate',
  'VM.Snapshot',
  'VM.Snapshot.Rollback',
]

/** Users, groups, roles, realms and what they may do. */
export const ACCESS_FORMATS: Formats = {
  'pve-userid': { judge: userNameError },
  'pve-tokenid': matching(TOKEN_ID, (text) => `value '${text}' does not look like a valid token ID`),
  'pve-groupid': matching(/^[A-Za-z0-9.\-_]+$/, (text) => `group name '${text}' contains invalid characters`),
  'pve-roleid': matching(/^[A-Za-z0-9.\-_]+$/, (text) => `role name '${text}' contains invalid characters`),
  'pve-priv': {
    judge: (text) => (PRIVILEGES.includes(text) ? undefined : `invalid privilege '${text}'`),
  },
  'pve-realm': matching(new RegExp(`^${REALM}$`), () => 'value does not look like a valid realm'),
  'pve-tfa-config': {
    keys: inlineKeys({
      type: { in: ['yubico', 'oath'] },
      'id?': {},
      'key?': {},
      'url?': {},
      'digits?': { is: 'integer', from: 6, to: 8 },
      'step?': { is: 'integer', from: 10 },
    }),
  },
  'realm-sync-options': {
    keys: inlineKeys({
      'enable-new?': { is: 'boolean' },
      'full?': { is: 'boolean' },
      'purge?': { is: 'boolean' },
      'remove-vanished?': { like: '(?:(?:(?:acl|properties|entry);)*(?:acl|properties|entry))|none' },
      'scope?': { in: ['users', 'groups', 'both'] },
    }),
  },
}

/** "0" is false to the daemon and so no name at all; hence the empty quotes. */
export function userNameError(text: string): string | undefined {
  const given = text === '0' ? '' : text
  if ([...given].length < 3) return `user name '${given}' is too short`
  if ([...given].length > 64) return `user name '${given}' is too long (${[...given].length} > 64)`
  return USER_ID.test(given) ? undefined : `value '${given}' does not look like a valid user name`
}
