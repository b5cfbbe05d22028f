/** What a kind of storage is made of: what it must be given, what it may be given, and what it can hold. */
export interface StorageType {
  /** Given when it is made and never changed afterwards. */
  readonly fixed: readonly string[]
  readonly optional: readonly string[]
  /** The first of them is what it holds unless told otherwise. */
  readonly content: readonly string[]
  readonly defaultContent: string
  /** Reached by every node. */
  readonly shared?: boolean
  /** Mounted by Proxmox itself below /mnt/pve. */
  readonly mounted?: boolean
}

const ANY = ['nodes', 'disable', 'content', 'bwlimit']
const BACKUPS = ['prune-backups', 'max-protected-backups']
const FOLDERS = [
  ...BACKUPS,
  'content-dirs',
  'format',
  'mkdir',
  'create-base-path',
  'create-subdirs',
  'preallocation',
  'snapshot-as-volume-chain',
]
const FILES = ['images', 'rootdir', 'vztmpl', 'iso', 'backup', 'snippets', 'import', 'none']
const DISKS = ['images', 'rootdir']

export const STORAGE_TYPES: Readonly<Record<string, StorageType>> = {
  dir: {
    fixed: ['path'],
    optional: [...ANY, ...FOLDERS, 'shared', 'is_mountpoint'],
    content: FILES,
    defaultContent: 'images,rootdir',
  },
  btrfs: {
    fixed: ['path'],
    optional: [...ANY, ...FOLDERS, 'shared', 'is_mountpoint', 'nocow'],
    content: FILES,
    defaultContent: 'images,rootdir',
  },
  nfs: {
    fixed: ['server', 'export'],
    optional: [...ANY, ...FOLDERS, 'path', 'options'],
    content: FILES,
    defaultContent: 'images',
    shared: true,
    mounted: true,
  },
  cifs: {
    fixed: ['server', 'share'],
    optional: [...ANY, ...FOLDERS, 'path', 'options', 'subdir', 'username', 'password', 'domain', 'smbversion'],
    content: FILES,
    defaultContent: 'images',
    shared: true,
    mounted: true,
  },
  cephfs: {
    fixed: [],
    optional: [...ANY, ...FOLDERS, 'path', 'monhost', 'username', 'keyring', 'subdir', 'options', 'fuse', 'fs-name'],
    content: ['vztmpl', 'iso', 'backup', 'snippets', 'import', 'none'],
    defaultContent: 'backup',
    shared: true,
    mounted: true,
  },
  pbs: {
    fixed: ['server', 'datastore'],
    optional: [
      ...ANY,
      ...BACKUPS,
      'namespace',
      'port',
      'username',
      'password',
      'fingerprint',
      'encryption-key',
      'master-pubkey',
      'skip-cert-verification',
    ],
    content: ['backup', 'none'],
    defaultContent: 'backup',
    shared: true,
  },
  zfspool: {
    fixed: ['pool'],
    optional: [...ANY, 'blocksize', 'sparse', 'mountpoint'],
    content: DISKS,
    defaultContent: 'images,rootdir',
  },
  lvm: {
    fixed: ['vgname'],
    optional: [
      ...ANY,
      'base',
      'shared',
      'saferemove',
      'saferemove_throughput',
      'saferemove-stepsize',
      'tagged_only',
      'snapshot-as-volume-chain',
    ],
    content: DISKS,
    defaultContent: 'images,rootdir',
  },
  lvmthin: { fixed: ['vgname', 'thinpool'], optional: ANY, content: DISKS, defaultContent: 'images,rootdir' },
  iscsi: {
    fixed: ['portal', 'target'],
    optional: ANY,
    content: ['images', 'none'],
    defaultContent: 'images',
    shared: true,
  },
  iscsidirect: {
    fixed: ['portal', 'target'],
    optional: ANY,
    content: ['images', 'none'],
    defaultContent: 'images',
    shared: true,
  },
  zfs: {
    fixed: ['portal', 'target', 'pool', 'blocksize', 'iscsiprovider'],
    optional: [...ANY, 'sparse', 'nowritecache', 'comstar_hg', 'comstar_tg', 'lio_tpg', 'zfs-base-path'],
    content: ['images'],
    defaultContent: 'images',
    shared: true,
  },
  rbd: {
    fixed: [],
    optional: [...ANY, 'monhost', 'pool', 'data-pool', 'namespace', 'username', 'keyring', 'krbd'],
    content: DISKS,
    defaultContent: 'images',
    shared: true,
  },
  esxi: {
    fixed: ['server'],
    optional: [...ANY, 'username', 'password', 'port', 'skip-cert-verification'],
    content: ['import'],
    defaultContent: 'import',
  },
}
