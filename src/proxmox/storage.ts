import type { Definition } from '../model/rest.ts'
import {
  choice,
  comment,
  flag,
  list,
  named,
  number,
  ofType,
  properties,
  prose,
  repeated,
  secret,
  text,
  usual,
} from './fields.ts'

const keep = (what: string) => number(`How many ${what} are kept.`, { min: 0, max: 10_000 })

/** The backups to keep. */
export const retention = properties('Which backups are kept.', {
  api: 'prune-backups',
  parts: named('-', {
    keepAll: flag('Keep all of them; nothing else may be said then.'),
    keepLast: keep('last ones'),
    keepHourly: keep('hours'),
    keepDaily: keep('days'),
    keepWeekly: keep('weeks'),
    keepMonthly: keep('months'),
    keepYearly: keep('years'),
  }),
})

export const bandwidth = properties('Limits in KiB per second.', {
  api: 'bwlimit',
  parts: {
    default: number('For everything else.', { min: 0 }),
    clone: number('For clones.', { min: 0 }),
    migration: number('For migrations.', { min: 0 }),
    move: number('For moving disks.', { min: 0 }),
    restore: number('For restoring.', { min: 0 }),
  },
})

/** Types that keep files in a folder. */
const FOLDERS = ['dir', 'btrfs', 'nfs', 'cifs', 'cephfs']

/** Data and backups: storage entries, backup jobs, replication, ZFS pools. */
export const STORAGE: readonly Definition[] = [
  {
    name: 'storage',
    kind: 'ProxmoxStorage',
    noun: 'storage entry',
    about:
      'A storage entry of any type, a Proxmox Backup Server among them. Deleting it takes away the entry; what lies on the disks stays.',
    list: { path: '/storage' },
    key: ['storage'],
    ...usual('/storage', 'storage', { digest: true }),
    unset: 'delete',
    fields: {
      type: choice(
        'What it is.',
        'btrfs cephfs cifs dir esxi iscsi iscsidirect lvm lvmthin nfs pbs rbd zfs zfspool'.split(' '),
        { required: true, fixed: true },
      ),
      content: list('What it may hold: images, rootdir, iso, vztmpl, backup, snippets, import.'),
      hosts: list('Hosts that have it. Default: all.', { api: 'nodes' }),
      disabled: flag('Is it switched off?', { api: 'disable', absent: false }),
      ...ofType(['dir', 'btrfs', 'lvm', 'esxi'], {
        shared: flag('Is it the same storage on all hosts?', { absent: false }),
      }),
      ...ofType(FOLDERS, {
        path: text('dir, btrfs: the folder.', { fixed: true }),
        mkdir: flag('Make the folder and what belongs in it? (older word)', { absent: true }),
        ...named('-', {
          createBasePath: flag('Make the folder?', { absent: true }),
          createSubdirs: flag('Make what belongs in it?', { absent: true }),
        }),
        format: choice('Usual form of images.', ['raw', 'qcow2', 'subvol', 'vmdk']),
      }),
      ...ofType(['dir', 'nfs', 'cifs', 'cephfs'], {
        contentDirs: properties('Other folders for kinds of content, like iso: my-isos.', {
          api: 'content-dirs',
          parts: Object.fromEntries(
            ['images', 'rootdir', 'iso', 'vztmpl', 'backup', 'snippets', 'import'].map((name) => [
              name,
              text(`For ${name}.`),
            ]),
          ),
        }),
      }),
      ...ofType(['dir', 'btrfs', 'nfs', 'cifs'], {
        preallocation: choice('How images are set aside.', ['off', 'metadata', 'falloc', 'full'], {
          absent: 'metadata',
        }),
      }),
      ...ofType(['dir', 'nfs', 'cifs', 'lvm'], {
        snapshotAsVolumeChain: flag('Snapshots as a chain of volumes?', {
          api: 'snapshot-as-volume-chain',
          absent: false,
        }),
      }),
      ...ofType(['dir', 'btrfs'], {
        mountPoint: text('dir, btrfs: yes, or the path that must be mounted.', { api: 'is_mountpoint' }),
      }),
      ...ofType(['btrfs'], { noCow: flag('btrfs: no copy on write?', { api: 'nocow', absent: false }) }),
      ...ofType(['nfs', 'cifs', 'pbs', 'esxi'], {
        server: text('nfs, cifs, pbs, esxi: address.', { fixed: true }),
      }),
      ...ofType(['nfs'], { export: text('nfs: what the server exports.', { fixed: true }) }),
      ...ofType(['cifs'], {
        share: text('cifs: name of the share.', { fixed: true }),
        domain: text('cifs: domain.'),
        smbVersion: choice('cifs: version.', ['default', '2.0', '2.1', '3', '3.0', '3.11'], {
          api: 'smbversion',
          absent: 'default',
        }),
      }),
      ...ofType(['cifs', 'cephfs'], { subdir: text('cifs, cephfs: folder in it.') }),
      ...ofType(['nfs', 'cifs', 'cephfs'], {
        options: prose('nfs, cifs, cephfs: options of the mount, like vers=4.2.'),
      }),
      ...ofType(['cifs', 'pbs', 'rbd', 'cephfs', 'esxi'], { username: text('cifs, pbs, rbd, cephfs, esxi: who.') }),
      ...ofType(['cifs', 'pbs', 'esxi'], { password: secret('cifs, pbs, esxi: password or secret of the token.') }),
      ...ofType(['pbs'], {
        datastore: text('pbs: name of the datastore.', { fixed: true }),
        fingerprint: text('pbs: fingerprint of its certificate.'),
        ...named('-', {
          encryptionKey: secret('pbs: key that encrypts backups.'),
          masterPubkey: secret('pbs: key with which the other one can be recovered.'),
        }),
      }),
      ...ofType(['pbs', 'rbd'], { namespace: text('pbs, rbd: namespace in it.') }),
      ...ofType(['pbs', 'esxi'], { port: number('pbs, esxi: port.', { min: 1, max: 65_535 }) }),
      ...ofType(['esxi'], {
        skipCertVerification: flag('esxi: accept any certificate?', { api: 'skip-cert-verification', absent: false }),
      }),
      ...ofType(['iscsi', 'iscsidirect', 'zfs'], {
        portal: text('iscsi: address of the portal.', { fixed: true }),
        target: text('iscsi: name of the target.', { fixed: true }),
      }),
      ...ofType(['lvm', 'lvmthin'], { vgName: text('lvm, lvmthin: volume group.', { api: 'vgname', fixed: true }) }),
      ...ofType(['lvmthin'], { thinPool: text('lvmthin: thin pool.', { api: 'thinpool', fixed: true }) }),
      ...ofType(['lvm'], {
        base: text('lvm: volume that it begins with.', { fixed: true }),
        saferemove: flag('lvm: overwrite what is removed?', { absent: false }),
        saferemoveThroughput: text('lvm: how fast.', { api: 'saferemove_throughput' }),
        saferemoveStepsize: number('lvm: MiB that are overwritten at once.', {
          api: 'saferemove-stepsize',
          min: 1,
          max: 32,
        }),
        taggedOnly: flag('lvm: only volumes with its tag?', { api: 'tagged_only', absent: false }),
      }),
      ...ofType(['zfspool', 'zfs', 'rbd'], { pool: text('zfspool, zfs, rbd: the pool.', { fixed: true }) }),
      ...ofType(['zfspool', 'zfs'], {
        blocksize: text('zfspool, zfs: size of a block.'),
        sparse: flag('zfspool, zfs: no space set aside?', { absent: false }),
      }),
      ...ofType(['zfspool'], { mountpoint: text('zfspool: where it is mounted.') }),
      ...ofType(['rbd', 'cephfs'], {
        monHost: list('rbd, cephfs: addresses of monitors.', { api: 'monhost' }),
        keyring: secret('rbd, cephfs: keyring.'),
      }),
      ...ofType(['rbd'], {
        dataPool: text('rbd: pool for data.', { api: 'data-pool' }),
        krbd: flag('rbd: by the kernel?', { absent: false }),
      }),
      ...ofType(['cephfs'], {
        fsName: text('cephfs: name of the file system.', { api: 'fs-name' }),
        fuse: flag('cephfs: by FUSE?', { absent: false }),
      }),
      ...ofType(['zfs'], {
        iscsiProvider: text('zfs over iscsi: what serves it.', { api: 'iscsiprovider', fixed: true }),
        comstarHostGroup: text('zfs over iscsi: host group.', { api: 'comstar_hg' }),
        comstarTargetGroup: text('zfs over iscsi: target group.', { api: 'comstar_tg' }),
        lioTpg: text('zfs over iscsi: target portal group.', { api: 'lio_tpg' }),
        noWriteCache: flag('zfs over iscsi: no write cache?', { api: 'nowritecache', absent: false }),
        zfsBasePath: text('zfs over iscsi: where devices are.', { api: 'zfs-base-path' }),
      }),
      ...ofType([...FOLDERS, 'pbs'], {
        maxProtectedBackups: number('How many protected backups a guest may have; -1 for any.', {
          api: 'max-protected-backups',
          min: -1,
        }),
        retention,
      }),
      ...ofType('cephfs cifs dir iscsi iscsidirect lvm lvmthin nfs rbd zfs zfspool'.split(' '), { bandwidth }),
    },
    privileges: ['Datastore.Allocate on /storage'],
    exampleName: 'vault',
    example: {
      type: 'pbs',
      server: '192.168.4.50',
      datastore: 'homelab',
      namespace: 'k3s',
      username: 'croft@pbs!backup',
      password: { env: 'PBS_TOKEN' },
      fingerprint: Array.from({ length: 32 }, (_, at) => (at + 16).toString(16)).join(':'),
      content: ['backup'],
      retention: { keepDaily: 7, keepWeekly: 4 },
    },
  },
  {
    name: 'backup-job',
    kind: 'ProxmoxBackupJob',
    noun: 'backup job',
    about: 'A job that saves guests: all but some, some, or those of a pool.',
    list: { path: '/cluster/backup' },
    key: ['id'],
    ...usual('/cluster/backup', 'id'),
    // Some of the fields are taken only together with it.
    update: { method: 'PUT', path: '/cluster/backup/{id}', carry: ['storage'] },
    unset: 'delete',
    fields: {
      schedule: prose('When, like mon..fri 02:30.', { required: true }),
      storage: text('Where to.', { required: true }),
      enabled: flag('Does it run?', { absent: true }),
      all: flag('All guests?', { absent: false }),
      exclude: list('With all: the ids of guests that are left out.'),
      guests: list('Ids of guests.', { api: 'vmid' }),
      pool: text('Guests of this pool.'),
      host: text('Only what is on this host.', { api: 'node' }),
      mode: choice('How.', ['snapshot', 'suspend', 'stop'], { absent: 'snapshot' }),
      compress: choice('Compression.', ['0', '1', 'gzip', 'lzo', 'zstd'], { absent: '0' }),
      comment: comment(),
      ...named('-', {
        notesTemplate: prose('Note on each backup, with {{guestname}} and the like.'),
        notificationMode: choice('How notifications are sent.', ['auto', 'legacy-sendmail', 'notification-system'], {
          absent: 'auto',
        }),
        repeatMissed: flag('Make up for a missed run?', { absent: false }),
        excludePath: repeated('Containers: paths that are left out.'),
        pbsChangeDetectionMode: choice('pbs: how changed files are found.', ['legacy', 'data', 'metadata']),
        fleecing: properties('Keep data that is overwritten during the backup on another storage.', {
          parts: { enabled: flag('Do so?'), storage: text('Where.') },
        }),
        performance: properties('How hard it works.', {
          parts: {
            maxWorkers: number('Reads at once.', { min: 1, max: 256 }),
            pbsEntriesMax: number('Entries in memory.', { min: 1 }),
          },
        }),
      }),
      mailTo: list('Who gets the mail.', { api: 'mailto' }),
      mailNotification: choice('When mail is sent.', ['always', 'failure'], {
        api: 'mailnotification',
        absent: 'always',
      }),
      bandwidthKiB: number('Limit in KiB per second.', { api: 'bwlimit', min: 0, absent: 0 }),
      ionice: number('Priority of input and output.', { min: 0, max: 8, absent: 7 }),
      lockWait: number('Minutes to wait for the lock.', { api: 'lockwait', min: 0, absent: 180 }),
      stopWait: number('Minutes to wait for a guest to stop.', { api: 'stopwait', min: 0, absent: 10 }),
      protected: flag('Protect the backups?', { absent: false }),
      zstd: number('Threads of zstd.', { min: 0, absent: 1 }),
      pigz: number('Threads of pigz.', { min: 0, absent: 0 }),
      retention,
    },
    privileges: ['Sys.Audit on /', 'Sys.Modify on /', 'Datastore.Allocate on /storage/STORAGE'],
    exampleName: 'nightly',
    example: {
      schedule: 'mon..fri 02:30',
      storage: 'vault',
      all: true,
      exclude: ['108'],
      mode: 'snapshot',
      compress: 'zstd',
      retention: { keepLast: 3, keepWeekly: 2 },
      notesTemplate: '{{guestname}} on {{node}}',
      comment: 'Everything but the scratch machine',
    },
  },
  {
    name: 'replication',
    kind: 'ProxmoxReplication',
    noun: 'replication job',
    about: 'Copies the disks of a guest to another host again and again. Its id is GUEST-NUMBER, like 100-0.',
    // A job that is deleted stays in the list, marked, until its host has taken its copies away.
    list: { path: '/cluster/replication', leavingBy: 'remove_job' },
    key: ['id'],
    create: { method: 'POST', path: '/cluster/replication', id: 'id', with: { type: 'local' } },
    update: { method: 'PUT', path: '/cluster/replication/{id}' },
    remove: { method: 'DELETE', path: '/cluster/replication/{id}' },
    unset: 'delete',
    fields: {
      target: text('Host that gets the copy.', { required: true, fixed: true }),
      schedule: prose('When, like */15.', { absent: '*/15' }),
      rate: number('Limit in MB per second.', { min: 1 }),
      disabled: flag('Does it rest?', { api: 'disable', absent: false }),
      comment: comment(),
    },
    privileges: ['VM.Replicate on /vms/GUEST'],
    exampleName: 'web-to-still-fawn',
    example: { id: '108-0', target: 'fun-bedbug', schedule: '*/30', rate: 50, comment: 'To the small box' },
  },
  {
    name: 'zfs-pool',
    kind: 'ProxmoxZfsPool',
    noun: 'ZFS pool',
    about: 'A ZFS pool on disks of a host. A pool of that name that is there is taken as it is, and never changed.',
    list: { path: '/nodes/{host}/disks/zfs' },
    key: ['name'],
    scope: ['host'],
    create: { method: 'POST', path: '/nodes/{host}/disks/zfs', id: 'name', disruption: 'data-loss' },
    unset: 'empty',
    deletion: 'Orphan',
    fields: {
      raid: choice(
        'How disks are put together.',
        'single mirror raid10 raidz raidz2 raidz3 draid draid2 draid3'.split(' '),
        { api: 'raidlevel', required: true, unread: true },
      ),
      devices: list('Disks, like /dev/sdb. What is on them is lost.', { required: true, unread: true }),
      ashift: number('Exponent of the sector size.', { min: 9, max: 16, unread: true }),
      compression: choice('Compression.', ['on', 'off', 'gzip', 'lz4', 'lzjb', 'zle', 'zstd'], { unread: true }),
      addStorage: flag('Make a storage entry of the same name too?', { api: 'add_storage', unread: true }),
    },
    privileges: ['Sys.Audit on /', 'Sys.Modify on /'],
    exampleName: 'tank',
    example: { host: 'still-fawn', raid: 'mirror', devices: ['/dev/sdb', '/dev/sdc'], ashift: 12, compression: 'lz4' },
  },
]
