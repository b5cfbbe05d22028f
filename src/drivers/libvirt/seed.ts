import { seedImage } from '../../cloudinit/image.ts'
import { secretsIn } from '../../cloudinit/secrets.ts'
import type { Change } from '../../model/change.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { VmSpec } from '../../model/vm.ts'
import { configOf } from './close-look.ts'
import { seedInConfig, seedToWrite } from './declared.ts'
import { seedHashIn } from './names.ts'
import { isUp, powerOf } from './power.ts'

/*
 * A machine is defined with its seed already in a drive. While the drive has it, the machine has not been seen to have
 * read it; once it has, the disc is taken out of the definition and its volume deleted, because there may be secrets on
 * it. So three looks tell everything: is it in the definition, is it in what runs, is its volume there and whole.
 */

/** What is to be done next about the seed. Undefined: nothing, or nothing but to wait. */
export type SeedMove = 'insert' | 'upload' | 'restart' | 'eject' | 'discard'

export function seedMove(vm: VmSpec, sighting: Sighting): SeedMove | undefined {
  const config = configOf(sighting)
  const uid = sighting.mark?.uid
  if (config === undefined || uid === undefined) return undefined
  const { wanted, inserted, live } = seedInConfig(vm, sighting)
  const up = isUp(powerOf(sighting))
  if (inserted === undefined) {
    const left = config.ours.some((volume) => seedHashIn(uid, volume.slice(volume.indexOf(':') + 1)) !== undefined)
    // A guest may hold on to its disc until it restarts; nothing is deleted under it.
    if (live === undefined && left) return 'discard'
    const read = sighting.mark?.seed
    if (wanted === undefined || read === undefined || read === wanted || vm.power !== 'running') return undefined
    return vm.seed?.onChange === 'rerun' ? 'insert' : undefined
  }
  if (live !== undefined && up) return hasRead(vm, sighting) ? 'eject' : undefined
  if (wanted === undefined) return 'eject'
  if (inserted.hash !== wanted) return 'insert'
  if (!isWhole(vm, sighting)) return 'upload'
  return up ? 'restart' : undefined
}

/** An upload that broke off leaves a volume that is too short. With secrets in it nobody knows its size beforehand. */
function isWhole(vm: VmSpec, sighting: Sighting): boolean {
  const disk = seedToWrite(vm, sighting.mark?.uid ?? '')
  if (disk === undefined || vm.seed === undefined) return false
  const bytes = configOf(sighting)?.volumes[`${disk.pool}:${disk.volume}`] ?? 0
  return secretsIn(vm.seed.document).length > 0 ? bytes > MINIMAL : bytes >= seedImage(vm.seed.document).length
}

/** No ISO image is smaller than its own volume descriptors. */
const MINIMAL = 16 * 2048

/**
 * cloud-init reads its source before it lets the network come up: a guest whose agent tells of an address has read it,
 * and one that has been up for long has too, or never will.
 */
function hasRead(vm: VmSpec, sighting: Sighting): boolean {
  if (vm.seed === undefined) return true
  if ((sighting.uptimeSeconds ?? 0) >= vm.seed.removeAfterSeconds) return true
  if (vm.agent?.enabled !== true || sighting.close?.agent !== 'up') return false
  return vm.nics.length === 0 || (sighting.close.addresses ?? []).length > 0
}

export function compareSeed(vm: VmSpec, sighting: Sighting, changes: Change[]): void {
  const { wanted, inserted } = seedInConfig(vm, sighting)
  const read = sighting.mark?.seed
  if (inserted === undefined && wanted !== undefined && read !== undefined && read !== wanted) {
    if (vm.seed?.onChange === 'replace') {
      changes.push({ path: 'seed', from: read, to: wanted, effect: 'replace' })
      return
    }
  }
  const up = isUp(powerOf(sighting))
  switch (seedMove(vm, sighting)) {
    case 'insert':
      changes.push({ path: 'seed', from: read, to: wanted, effect: up ? 'restart' : 'live' })
      break
    case 'upload':
      changes.push({ path: 'seed.image', from: 'missing', to: wanted, effect: 'live' })
      break
    case 'restart':
      changes.push({ path: 'restart', from: 'seed not read yet', to: 'in force', effect: 'restart' })
      break
    case 'eject':
    case 'discard':
      changes.push({ path: 'seed.image', from: 'there', to: 'removed', effect: 'live' })
      break
    case undefined:
      break
  }
}

/** A document that changed although nothing is done about it. */
export function seedNotes(vm: VmSpec, sighting: Sighting): readonly string[] {
  const { wanted, inserted, live } = seedInConfig(vm, sighting)
  const read = sighting.mark?.seed
  const notes: string[] = []
  if (inserted === undefined && live !== undefined)
    notes.push('the guest holds on to the disc that it was seeded from; its volume is deleted when it lets go')
  if (inserted !== undefined || wanted === undefined || read === undefined || read === wanted) return notes
  const what = `what it reads at first boot has changed (${read} to ${wanted})`
  if (vm.seed?.onChange === 'ignore') notes.push(`${what}: ignored by policy (onChange: ignore)`)
  if (vm.seed?.onChange === 'rerun' && vm.power !== 'running') notes.push(`${what}: read when it is switched on next`)
  return notes
}
