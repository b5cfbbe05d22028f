import type { Descriptions } from './describe.ts'

export const libvirtPool: Descriptions = {
  description: 'One line for people.',
  host: 'Name of the Host that has the pool.',
  type: 'dir for a directory, netfs for an NFS share, logical for an existing LVM volume group.',
  path: 'Directory on the host; croft creates it if it does not exist. It cannot change later.',
  source: 'NFS share of a pool of type netfs.',
  'source.host': 'DNS name or IP address of the NFS server.',
  'source.path': 'Exported path on the NFS server.',
  volumeGroup: 'LVM volume group of a pool of type logical.',
  autostart: 'Whether the pool starts with its host.',
  deletionPolicy:
    'What happens when you remove the declaration: Orphan leaves the pool, Delete removes the definition of an empty one.',
}
