/** What a kind of storage is made of: what it must be given, what it may be given, and what it can hold. */
export interface StorageType {
  /** Must be given when it is made; never changed afterwards unless it is in `changeable`. */
  readonly required: readonly string[]
  readonly changeable?: readonly string[]
  readonly optional: readonly string[]
  /** Of the optional ones those that are never changed. */
  readonly fixed?: readonly string[]
  readonly content: readonly string[]
  /** Formats that `format` may name; another is left out without a word. */
  readonly formats?: readonly string[]
  readonly defaultContent: string
  /** Reached by every node. */
  readonly shared?: boolean
  /** Mounted by Proxmox itself below /mnt/pve. */
  readonly mounted?: boolean
}

const ANY = ['nodes', 'disable', 'content']
const SLOWED = [...ANY, 'bwlimit']
const BACKUPS = ['prune-backups', 'max-protected-backups']
const FOLDERS = [...BACKUPS, 'format', 'mkdir', 'create-base-path', 'create-subdirs']
const CHAIN = 'snapshot-as-volume-chain'
const MOUNTED = [...SLOWED, ...FOLDERS, 'content-dirs', 'options']
const FILES = ['images', 'rootdir', 'vztmpl', 'iso', 'backup', 'snippets', 'import']
const DISKS = ['images', 'rootdir']
const IMAGES = ['raw', 'qcow2', 'vmdk']

export const STORAGE_TYPES: Readonly<Record<string, StorageType>> = {
  dir: {
    required: ['path'],
    optional: [...SLOWED, ...FOLDERS, 'content-dirs', 'preallocation', CHAIN, 'shared', 'is_mountpoint'],
    fixed: [CHAIN],
    content: [...FILES, 'none'],
    formats: [...IMAGES, 'subvol'],
    defaultContent: 'images,rootdir',
  },
  btrfs: {
    required: ['path'],
    optional: [...ANY, ...FOLDERS, 'preallocation', 'shared', 'is_mountpoint', 'nocow'],
    content: [...FILES, 'none'],
    formats: ['raw', 'subvol'],
    defaultContent: 'images,rootdir',
  },
  nfs: {
    required: ['server', 'export', 'path'],
    optional: [...MOUNTED, 'preallocation', CHAIN],
    fixed: [CHAIN],
    content: FILES,
    formats: IMAGES,
    defaultContent: 'images',
    shared: true,
    mounted: true,
  },
  cifs: {
    required: ['server', 'share', 'path'],
    optional: [...MOUNTED, 'preallocation', CHAIN, 'subdir', 'username', 'password', 'domain', 'smbversion'],
    fixed: [CHAIN],
    content: FILES,
    formats: IMAGES,
    defaultContent: 'images',
    shared: true,
    mounted: true,
  },
  cephfs: {
    required: ['path'],
    optional: [...MOUNTED, 'monhost', 'username', 'keyring', 'subdir', 'fuse', 'fs-name'],
    content: ['vztmpl', 'iso', 'backup', 'snippets', 'import'],
    defaultContent: 'backup',
    shared: true,
    mounted: true,
  },
  pbs: {
    required: ['server', 'datastore'],
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
    ],
    content: ['backup', 'none'],
    defaultContent: 'backup',
    shared: true,
  },
  zfspool: {
    required: ['pool'],
    optional: [...SLOWED, 'blocksize', 'sparse', 'mountpoint'],
    content: DISKS,
    defaultContent: 'images,rootdir',
  },
  lvm: {
    required: ['vgname'],
    optional: [
      ...SLOWED,
      'base',
      'shared',
      'saferemove',
      'saferemove_throughput',
      'saferemove-stepsize',
      'tagged_only',
      CHAIN,
    ],
    fixed: ['base'],
    content: DISKS,
    defaultContent: 'images',
  },
  lvmthin: { required: ['vgname', 'thinpool'], optional: SLOWED, content: DISKS, defaultContent: 'images,rootdir' },
  iscsi: {
    required: ['portal', 'target'],
    optional: SLOWED,
    content: ['images', 'none'],
    defaultContent: 'images',
    shared: true,
  },
  iscsidirect: {
    required: ['portal', 'target'],
    optional: SLOWED,
    content: ['images', 'none'],
    defaultContent: 'images',
    shared: true,
  },
  zfs: {
    required: ['portal', 'target', 'pool', 'blocksize', 'iscsiprovider'],
    optional: [...SLOWED, 'sparse', 'nowritecache', 'comstar_hg', 'comstar_tg', 'lio_tpg', 'zfs-base-path'],
    content: ['images'],
    defaultContent: 'images',
    shared: true,
  },
  rbd: {
    required: [],
    optional: [...SLOWED, 'monhost', 'pool', 'data-pool', 'namespace', 'username', 'keyring', 'krbd'],
    content: DISKS,
    defaultContent: 'images',
    shared: true,
  },
  esxi: {
    required: ['server', 'username'],
    changeable: ['server', 'username'],
    optional: [...ANY, 'shared', 'password', 'port', 'skip-cert-verification'],
    content: ['import'],
    defaultContent: 'import',
  },
}
