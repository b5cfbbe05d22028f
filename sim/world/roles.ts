/** The roles that every Proxmox VE 9 knows, with their privileges. */
const VM_CONFIG = ['CDROM', 'CPU', 'Cloudinit', 'Disk', 'HWType', 'Memory', 'Network', 'Options'].map(
  (name) => `VM.Config.${name}`,
)
const VM_AGENT = ['Audit', 'FileRead', 'FileSystemMgmt', 'FileWrite', 'Unrestricted'].map(
  (name) => `VM.GuestAgent.${name}`,
)
const VM_ADMIN = [
  'VM.Allocate',
  'VM.Audit',
  'VM.Backup',
  'VM.Clone',
  'VM.Console',
  'VM.Migrate',
  'VM.PowerMgmt',
  'VM.Replicate',
  'VM.Snapshot',
  'VM.Snapshot.Rollback',
  ...VM_CONFIG,
  ...VM_AGENT,
]
const STORAGE_ADMIN = ['Datastore.Allocate', 'Datastore.AllocateSpace', 'Datastore.AllocateTemplate', 'Datastore.Audit']
const MAPPING_USER = ['Mapping.Audit', 'Mapping.Use']
const SDN_ADMIN = ['SDN.Allocate', 'SDN.Audit', 'SDN.Use']
const SYS_ADMIN = ['Sys.Audit', 'Sys.Console', 'Sys.Syslog']
const USER_ADMIN = ['Group.Allocate', 'Realm.AllocateUser', 'User.Modify']
const POOL_ADMIN = ['Pool.Allocate', 'Pool.Audit']
const PVE_ADMIN = [
  ...VM_ADMIN,
  ...STORAGE_ADMIN,
  ...MAPPING_USER,
  ...SDN_ADMIN,
  ...SYS_ADMIN,
  ...USER_ADMIN,
  ...POOL_ADMIN,
]

export const ROLES: Readonly<Record<string, readonly string[]>> = {
  Administrator: [
    ...PVE_ADMIN,
    'Mapping.Modify',
    'Permissions.Modify',
    'Realm.Allocate',
    'Sys.AccessNetwork',
    'Sys.Incoming',
    'Sys.Modify',
    'Sys.PowerMgmt',
  ],
  NoAccess: [],
  PVEAdmin: PVE_ADMIN,
  PVEAuditor: [
    'Datastore.Audit',
    'Mapping.Audit',
    'Pool.Audit',
    'SDN.Audit',
    'Sys.Audit',
    'VM.Audit',
    'VM.GuestAgent.Audit',
  ],
  PVEDatastoreAdmin: STORAGE_ADMIN,
  PVEDatastoreUser: ['Datastore.AllocateSpace', 'Datastore.Audit'],
  PVEMappingAdmin: ['Mapping.Audit', 'Mapping.Modify', 'Mapping.Use'],
  PVEMappingUser: MAPPING_USER,
  PVEPoolAdmin: POOL_ADMIN,
  PVEPoolUser: ['Pool.Audit'],
  PVESDNAdmin: SDN_ADMIN,
  PVESDNUser: ['SDN.Audit', 'SDN.Use'],
  PVESysAdmin: SYS_ADMIN,
  PVETemplateUser: ['VM.Audit', 'VM.Clone'],
  PVEUserAdmin: USER_ADMIN,
  PVEVMAdmin: VM_ADMIN,
  PVEVMUser: [
    'VM.Audit',
    'VM.Backup',
    'VM.Config.CDROM',
    'VM.Config.Cloudinit',
    'VM.Console',
    'VM.PowerMgmt',
    'VM.GuestAgent.Audit',
    'VM.GuestAgent.FileRead',
    'VM.GuestAgent.FileSystemMgmt',
    'VM.GuestAgent.FileWrite',
  ],
}
