import type { Host, World } from '../../world/types.ts'
import { findVolume, parseVolumeId } from '../../world/volumes.ts'

export type VolumeFeature = 'snapshot' | 'clone' | 'template' | 'copy' | 'rename'

type State = 'base' | 'current' | 'snap'

const IMAGES = ['qcow2', 'raw', 'vmdk']

/** Files: what can be done depends on the format, too. */
const FILES: Readonly<Record<VolumeFeature, Partial<Record<State, readonly string[]>>>> = {
  snapshot: { current: ['qcow2'], snap: ['qcow2'] },
  clone: { base: IMAGES },
  template: { current: [...IMAGES, 'subvol'] },
  copy: { base: IMAGES, current: IMAGES, snap: ['qcow2'] },
  rename: { current: IMAGES },
}

const ZFS: Readonly<Record<VolumeFeature, readonly State[]>> = {
  snapshot: ['current', 'snap'],
  clone: ['base'],
  template: ['current'],
  copy: ['base', 'current'],
  rename: ['current'],
}

const THIN: Readonly<Record<VolumeFeature, readonly State[]>> = {
  snapshot: ['current'],
  clone: ['base', 'snap'],
  template: ['current'],
  copy: ['base', 'current', 'snap'],
  rename: ['current'],
}

/** Can this be done with a volume, or with a snapshot of it? Each type of storage answers for itself. */
export function volumeHasFeature(
  world: World,
  host: Host,
  feature: VolumeFeature,
  volid: string,
  ofSnapshot = false,
  forContainer = false,
): boolean {
  const id = parseVolumeId(volid)
  const volume = findVolume(host, volid)
  const entry = world.storages.get(id?.storage ?? '')
  if (volume === undefined || entry === undefined) return false
  // A linked clone of a file is a qcow2 image, which no container can mount.
  if (forContainer && feature === 'clone' && entry.files) return false
  const state: State = ofSnapshot ? 'snap' : /(^|\/)base(vol)?-/.test(volume.name) ? 'base' : 'current'
  if (entry.files) return FILES[feature][state]?.includes(volume.format) ?? false
  return (entry.type === 'zfspool' ? ZFS : THIN)[feature].includes(state)
}
