import type { HostItem, HostItemType } from '../../../model/host-item.ts'
import type { ItemRules } from '../item.ts'
import { aptRepository } from './apt-repository.ts'
import { block } from './block.ts'
import { btrfs } from './btrfs.ts'
import { cephDisk } from './ceph-disk.ts'
import { command } from './command.ts'
import { coral } from './coral.ts'
import { directory } from './directory.ts'
import { dns } from './dns.ts'
import { fetch } from './fetch.ts'
import { file } from './file.ts'
import { hostname } from './hostname.ts'
import { hosts } from './hosts.ts'
import { kernelArgs } from './kernel-args.ts'
import { line } from './line.ts'
import { module } from './module.ts'
import { mount } from './mount.ts'
import { networkAddress } from './network-address.ts'
import { nodeExporter } from './node-exporter.ts'
import { packageItem } from './package.ts'
import { sshd } from './sshd.ts'
import { sysctl } from './sysctl.ts'
import { time } from './time.ts'
import { udev } from './udev.ts'
import { unit } from './unit.ts'
import { user } from './user.ts'
import { vfio } from './vfio.ts'
import { zfsDataset } from './zfs-dataset.ts'
import { zpool } from './zpool.ts'

/** Every type of item by name. */
const ITEMS: { readonly [Type in HostItemType]: ItemRules<Type> } = {
  package: packageItem,
  'apt-repository': aptRepository,
  file,
  fetch,
  command,
  directory,
  line,
  block,
  user,
  sshd,
  sysctl,
  module,
  'kernel-args': kernelArgs,
  vfio,
  udev,
  coral,
  unit,
  mount,
  btrfs,
  zpool,
  'zfs-dataset': zfsDataset,
  'ceph-disk': cephDisk,
  'network-address': networkAddress,
  hosts,
  dns,
  time,
  hostname,
  'node-exporter': nodeExporter,
}

/** Returns the rules of an item's type. The table maps each type to its rules, so the cast is safe. */
export function rulesOf(item: HostItem): ItemRules {
  return ITEMS[item.type] as unknown as ItemRules
}

export const ITEM_TYPES = Object.keys(ITEMS) as readonly HostItemType[]
