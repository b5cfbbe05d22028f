import { defined } from '../../../lib/defined.ts'
import type { Change, ObservedResource } from '../../../model/resource.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { isUp, powerOf } from '../../guests.ts'
import type { ApiFields } from '../foreign.ts'
import type { Move } from '../guest-steps.ts'
import type { Moving } from '../move-guest.ts'

/** Reports in the plan a move that Proxmox would refuse. */
export function withoutMoving(change: Change, config: ApiFields, observed: ObservedResource): Change {
  if (!/^(?:disks\.[a-z0-9]+|efiDisk|tpm)\.(?:storage|format)$/.test(change.path)) return change
  if (config.parent !== undefined) {
    const message = `${change.path}: a disk that snapshots stand on cannot be moved`
    return { ...change, blocked: { message, allow: 'delete the snapshots first' } }
  }
  if (change.path.startsWith('tpm.') && isUp(powerOf(observed))) {
    const message = `${change.path}: the state of a TPM cannot be moved while the guest runs`
    return { ...change, blocked: { message, allow: 'stop it for the move (started: false, or power: off)' } }
  }
  return change
}

/** Returns every drive that the chosen changes move. Each needs a separate call. */
export function movedDrives(vm: VmSpec, chosen: ReadonlySet<string>): readonly Move[] {
  const drives = [
    ...vm.disks.map((disk) => ({ path: `disks.${disk.slot}`, ...disk })),
    ...(vm.efiDisk === undefined ? [] : [{ path: 'efiDisk', slot: 'efidisk0', ...vm.efiDisk }]),
    ...(vm.tpm === undefined ? [] : [{ path: 'tpm', slot: 'tpmstate0', storage: vm.tpm.storage, format: undefined }]),
  ]
  return drives.flatMap(({ path, slot, storage, format }) =>
    chosen.has(`${path}.storage`) || chosen.has(`${path}.format`) ? [{ slot, storage, ...defined({ format }) }] : [],
  )
}

/** Returns what moves with a VM to another host. */
export function movingVm(vm: VmSpec): Moving {
  const { host, moveHere, disks, efiDisk, tpm } = vm
  const volumes = [
    ...disks.map(({ slot, storage }) => ({ slot, storage })),
    ...(efiDisk === undefined ? [] : [{ slot: 'efidisk0', storage: efiDisk.storage }]),
    ...(tpm === undefined ? [] : [{ slot: 'tpmstate0', storage: tpm.storage }]),
  ]
  return moveHere === undefined ? { type: 'vm', host, volumes } : { type: 'vm', host, moveHere, volumes }
}
