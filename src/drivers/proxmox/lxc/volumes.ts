import { defined } from '../../../lib/defined.ts'
import type { ContainerMount, ContainerRootDisk, ContainerSpec, ContainerVolume } from '../../../model/container.ts'
import type { Moving } from '../move-guest.ts'
import { device, devices, type PropertyPart } from '../parts.ts'
import { compareVolume } from '../vm/disks.ts'

const ROOT_GB = 4
const MOUNT_GB = 8

export const VOLUME_PARTS: readonly PropertyPart<ContainerVolume>[] = [
  { field: 'acl', key: 'acl', fallback: false },
  { field: 'quota', key: 'quota', fallback: false },
  { field: 'replicate', key: 'replicate', fallback: true },
  { field: 'mountOptions', key: 'mountoptions', type: 'list' },
]

const VOLUME = { bare: 'volume', effect: 'restart', newEffect: () => 'live' as const, compare: compareVolume } as const

/** The system's root volume. */
export const rootDisk = device<ContainerSpec, ContainerRootDisk>({
  ...VOLUME,
  path: 'rootDisk',
  key: 'rootfs',
  declared: (container) => container.rootDisk,
  start: ({ storage, sizeGb = ROOT_GB }) => [['volume', `${storage}:${sizeGb}`]],
  parts: VOLUME_PARTS,
})

/** Further volumes, and paths of the host. Undeclared ones are left alone. */
export const mounts = devices<ContainerSpec, ContainerMount>({
  ...VOLUME,
  path: 'mounts',
  items: (container) => container.mounts,
  start: ({ storage, sizeGb = MOUNT_GB }) => [['volume', `${storage}:${sizeGb}`]],
  parts: [
    // The former volume stays with the container, as an unused volume.
    { field: 'source', key: 'volume', replaces: 'size' },
    { field: 'path', key: 'mp' },
    { field: 'backup', key: 'backup', fallback: false },
    { field: 'readOnly', key: 'ro', fallback: false },
    { field: 'shared', key: 'shared', fallback: false },
    ...VOLUME_PARTS,
  ],
})

/** Returns every declared volume, for growth and moves. */
export function declaredVolumes({
  rootDisk: root,
  mounts: mounted,
}: ContainerSpec): readonly { path: string; key: string; storage?: string; sizeGb?: number }[] {
  return [
    ...(root === undefined ? [] : [{ path: 'rootDisk', slot: 'rootfs', ...root }]),
    ...mounted.map((mount) => ({ ...mount, path: `mounts.${mount.slot}` })),
  ].map(({ path, slot, storage, sizeGb }) => ({ path, key: slot, ...defined({ storage, sizeGb }) }))
}

/** Returns what moves with a container to another host. */
export function movingContainer(container: ContainerSpec): Moving {
  const { host, moveHere } = container
  return {
    type: 'container',
    host,
    ...(moveHere === undefined ? {} : { moveHere }),
    volumes: declaredVolumes(container).flatMap(({ key, storage }) =>
      storage === undefined ? [] : [{ slot: key, storage }],
    ),
  }
}
