import { defined } from '../../../lib/defined.ts'
import type { Change } from '../../../model/change.ts'
import type { Sighting } from '../../../model/sighting.ts'
import type { Step } from '../../../model/step.ts'
import type { Survey } from '../../../model/survey.ts'
import type { VmSpec } from '../../../model/vm.ts'
import type { Foreign } from '../foreign.ts'
import { guestPath, hostQueue, makeStep, storageQueues } from '../steps.ts'
import { isUp, powerOf } from './power.ts'
import { withDigest } from './single-steps.ts'

/** A drive that is to lie on another storage, or in another format. */
interface Move {
  readonly slot: string
  readonly storage: string
  readonly format?: string
}

/** Every drive that the chosen changes move. Copying it over is a call of its own. */
export function moveSteps(
  vm: VmSpec,
  sighting: Sighting,
  chosen: ReadonlySet<string>,
  digest: () => string | undefined,
  survey?: Survey,
): readonly Step[] {
  return moves(vm, chosen).map((move, at) => moveStep(move, sighting, at === 0 ? digest() : undefined, survey))
}

/** A move that Proxmox would not make says so in the plan. */
export function withoutMoving(change: Change, config: Foreign, sighting: Sighting): Change {
  if (!/^(?:disks\.[a-z0-9]+|efiDisk|tpm)\.(?:storage|format)$/.test(change.path)) return change
  if (config.parent !== undefined) {
    const message = `${change.path}: a disk that snapshots stand on cannot be moved`
    return { ...change, blocked: { message, allow: 'delete the snapshots first' } }
  }
  if (change.path.startsWith('tpm.') && isUp(powerOf(sighting))) {
    const message = `${change.path}: the state of a TPM cannot be moved while the guest runs`
    return { ...change, blocked: { message, allow: 'stop it for the move (started: false, or power: off)' } }
  }
  return change
}

function moves(vm: VmSpec, chosen: ReadonlySet<string>): readonly Move[] {
  const drives = [
    ...vm.disks.map((disk) => ({ path: `disks.${disk.slot}`, ...disk })),
    ...(vm.efiDisk === undefined ? [] : [{ path: 'efiDisk', slot: 'efidisk0', ...vm.efiDisk }]),
    ...(vm.tpm === undefined ? [] : [{ path: 'tpm', slot: 'tpmstate0', storage: vm.tpm.storage, format: undefined }]),
  ]
  return drives.flatMap(({ path, slot, storage, format }) =>
    chosen.has(`${path}.storage`) || chosen.has(`${path}.format`) ? [{ slot, storage, ...defined({ format }) }] : [],
  )
}

function moveStep(move: Move, sighting: Sighting, digest: string | undefined, survey?: Survey): Step {
  const { host, externalId } = sighting
  const { slot, storage, format } = move
  return makeStep({
    verb: 'move',
    summary: `move ${slot} of VM ${externalId} to ${storage}${format === undefined ? '' : ` as ${format}`}`,
    host,
    method: 'POST',
    path: `${guestPath(host, 'vm', externalId)}/move_disk`,
    // The source goes when the copy is complete: what was on it is on the copy.
    params: withDigest({ disk: slot, storage, ...defined({ format }), delete: '1' }, digest),
    queues: [hostQueue(host), ...storageQueues(host, [storage], survey)],
  })
}
