import { createHash } from 'node:crypto'
import { seedImage } from '../../../cloudinit/image.ts'
import { defined } from '../../../lib/defined.ts'
import { secretsIn } from '../../../model/desired-secrets.ts'
import { sweeping } from '../../../model/destruction.ts'
import type { Mark, ObservedResource, PowerState, Survey } from '../../../model/resource.ts'
import { Sealed } from '../../../model/secret.ts'
import type { Step } from '../../../model/step.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { powerOf } from '../../guests.ts'
import { guestStep, shutdownSteps, startStep, withDigest } from '../guest-steps.ts'
import { printDescription, splitDescription } from '../marks.ts'
import type { SeedMark } from '../option.ts'
import { makeStep, storagePath, storageQueues } from '../steps.ts'
import { imageName, imageVolume, insertedImage, type SeedMove, seedStorage, shortHash } from './seed.ts'

/** The guest of a seed's steps: an existing one, or one about to be created. */
export interface Seeding {
  readonly seed: VmSpec['seed']
  readonly host: string
  readonly externalId: string
  readonly power: PowerState
  readonly mark: Mark
  /** People's text in the description. */
  readonly human: string
  /** The seed in the mark, or the coming one. */
  readonly coming: { readonly hash: string; readonly storage: string }
  /** The drive for it. */
  readonly slot: string | undefined
  /** Images to delete; for a new guest the coming one. */
  readonly images: readonly string[]
  readonly survey: Survey | undefined
}

export function seedingOf(vm: VmSpec, observed: ObservedResource, survey: Survey | undefined): Seeding {
  const { host, externalId, close } = observed
  const mark = observed.mark ?? { uid: '' }
  const wanted = vm.seed === undefined ? undefined : shortHash(vm.seed)
  const inserted = insertedImage(close?.config ?? {}, mark.uid)
  const hash = inserted?.hash ?? wanted ?? mark.seeding?.hash ?? mark.seed ?? ''
  const storage = mark.seeding?.storage ?? mark.unseeding ?? seedStorage(vm, survey)
  const there = (close?.seedImages ?? []).map(({ id }) => id)
  return {
    seed: vm.seed,
    host,
    externalId,
    power: powerOf(observed),
    mark,
    human: splitDescription(close?.config.description).human,
    coming: { hash, storage },
    slot: inserted?.slot ?? (mark.unseeding === undefined ? vm.seed?.slot : undefined),
    images: there.length > 0 ? there : [imageVolume(storage, mark.uid, hash)],
    survey,
  }
}

/** The same for a guest that is about to be created with this mark. */
export function seedingOfNew(vm: VmSpec, externalId: string, mark: Mark, survey: Survey | undefined): Seeding {
  const coming = mark.seeding ?? { hash: '', storage: '' }
  return {
    seed: vm.seed,
    host: vm.host,
    externalId,
    power: 'stopped',
    mark,
    human: vm.description ?? '',
    coming,
    slot: vm.seed?.slot,
    images: [imageVolume(coming.storage, mark.uid, coming.hash)],
    survey,
  }
}

/** Returns the calls of these moves, in order. Each records the progress in the mark. */
export function seedSteps(moves: readonly SeedMove[], seeding: Seeding, digest: string | undefined): readonly Step[] {
  const steps: Step[] = []
  const images = [...seeding.images]
  let after: SeedMark = seeding.mark
  const first = () => (steps.length === 0 ? digest : undefined)
  for (const move of moves) {
    const read = after.seed === undefined ? {} : { seed: after.seed }
    switch (move) {
      case 'begin':
        after = { ...read, seeding: seeding.coming }
        break
      case 'withdraw':
        after = { ...read, unseeding: seeding.coming.storage }
        break
      case 'eject':
        after = { seed: seeding.coming.hash, unseeding: seeding.coming.storage }
        break
      case 'finish':
        after = read
        break
      case 'assume':
        after = { seed: seeding.coming.hash }
        break
      default:
        break
    }
    steps.push(...stepOf(move, seeding, after, first(), images))
  }
  return steps
}

function stepOf(
  move: SeedMove,
  seeding: Seeding,
  after: SeedMark,
  digest: string | undefined,
  images: string[],
): readonly Step[] {
  const { host, externalId, coming, slot } = seeding
  const guest = { type: 'vm', host, externalId } as const
  const emptied = slot === undefined ? {} : { [slot]: 'none,media=cdrom' }
  const called = `VM ${externalId}`
  switch (move) {
    case 'begin':
      return [writeMark(seeding, 'mark', `note on ${called} that seed ${coming.hash} is coming`, after, {}, digest)]
    case 'upload':
      return uploadStep(seeding)
    case 'shutdown':
      return shutdownSteps(guest, seeding.power)
    case 'insert': {
      const drive = slot ?? 'ide2'
      const volume = imageVolume(coming.storage, seeding.mark.uid, coming.hash)
      const params = withDigest({ [drive]: `${volume},media=cdrom` }, digest)
      return [configure(seeding, 'insert', `put seed ${coming.hash} into ${drive} of ${called}`, params)]
    }
    case 'start': {
      const step = startStep(guest)
      // The second half of a restart: no other machine restarts until this one is back.
      return [after.seed === undefined || after.seed === 'none' ? step : { ...step, verb: 'reboot' }]
    }
    case 'withdraw':
      return [writeMark(seeding, 'eject', `take seed ${coming.hash} out of ${called} unread`, after, emptied, digest)]
    case 'eject':
      return [writeMark(seeding, 'eject', `take seed ${coming.hash} out of ${called}`, after, emptied, digest)]
    case 'discard':
      return discardStep(host, images.shift())
    case 'finish':
      return [writeMark(seeding, 'mark', `note on ${called} that its seed image is gone`, after, {}, digest)]
    case 'assume':
      return [writeMark(seeding, 'mark', `note on ${called} that it was made by ${coming.hash}`, after, {}, digest)]
  }
}

function uploadStep({ seed, host, mark, coming, survey }: Seeding): readonly Step[] {
  if (seed === undefined) return []
  const fileName = imageName(mark.uid, coming.hash)
  const image = seedImage(seed.document)
  // Proxmox verifies it after the upload. With secrets inside, it is unknown beforehand.
  const checksum: Readonly<Record<string, string>> =
    secretsIn(seed.document).length > 0
      ? {}
      : { 'checksum-algorithm': 'sha256', checksum: createHash('sha256').update(image).digest('hex') }
  const step = makeStep({
    verb: 'upload',
    summary: `upload ${fileName} (${Math.ceil(image.length / 1024)} KiB) to ${coming.storage} on ${host}`,
    host,
    method: 'POST',
    path: `${storagePath(host, coming.storage)}/upload`,
    params: { content: 'iso', ...checksum, filename: fileName },
    queues: storageQueues(host, [coming.storage], survey),
  })
  return [{ ...step, upload: { fileName, bytes: image.length, hash: seed.hash, document: new Sealed(seed.document) } }]
}

function discardStep(host: string, volume: string | undefined): readonly Step[] {
  if (volume === undefined) return []
  return [
    makeStep({
      verb: 'discard',
      summary: `delete ${volume} on ${host}`,
      host,
      method: 'DELETE',
      path: `${storagePath(host, volume.split(':', 1)[0] ?? '')}/content/${encodeURIComponent(volume)}`,
      ...sweeping(volume),
    }),
  ]
}

/** Deletes a guest's image before the guest: afterwards nothing would refer to the image. */
export function unseedSteps(observed: ObservedResource, digest: string | undefined): readonly Step[] {
  const { mark, close } = observed
  if (mark === undefined || close === undefined) return []
  if (mark.seeding === undefined && mark.unseeding === undefined) return []
  const nothingDeclared: VmSpec = { host: observed.host, name: observed.name ?? '', disks: [], nics: [] }
  const discards = (close.seedImages ?? []).map((): SeedMove => 'discard')
  const inserted = insertedImage(close.config, mark.uid) !== undefined
  const moves: readonly SeedMove[] = inserted ? ['withdraw', ...discards] : discards
  return seedSteps(moves, seedingOf(nothingDeclared, observed, undefined), digest)
}

function writeMark(
  seeding: Seeding,
  verb: Exclude<Step['verb'], 'delete'>,
  summary: string,
  after: SeedMark,
  params: Readonly<Record<string, string>>,
  digest: string | undefined,
): Step {
  const { seed: _seed, seeding: _seeding, unseeding: _unseeding, ...rest } = seeding.mark
  const { seed, seeding: coming, unseeding } = after
  const mark: Mark = {
    ...rest,
    ...defined({ seed, seeding: coming, unseeding }),
  }
  const description = printDescription(seeding.human, mark, seeding.externalId)
  return configure(seeding, verb, summary, withDigest({ ...params, description }, digest))
}

function configure(
  { host, externalId }: Seeding,
  verb: Exclude<Step['verb'], 'delete'>,
  summary: string,
  params: Readonly<Record<string, string>>,
): Step {
  return guestStep({ type: 'vm', host, externalId }, 'PUT', '/config', { verb, summary, params })
}
