import { seedImage } from '../../../cloudinit/image.ts'
import { secretsIn } from '../../../model/desired-secrets.ts'
import { listed } from '../../../model/grant.ts'
import type { Change, Mark, ObservedResource, Survey } from '../../../model/resource.ts'
import type { VmSeed, VmSpec } from '../../../model/vm.ts'
import { isUp, powerOf } from '../../guests.ts'
import type { ApiFields } from '../foreign.ts'
import { parseProperties } from '../property-string.ts'
import { textOf, type VmOption } from './option.ts'

/*
 * How a document reaches a guest without any way in but the API: an image is uploaded, put into a drive of the stopped
 * guest, and taken out and away once the guest has read it. Each move is one call, and the next one follows from what
 * is seen. Three words of the mark tell how far it has got, so that an image is never where no guest says so:
 *
 *   seeding    written before the image exists; the image comes, is inserted while the guest is stopped, is read
 *   unseeding  written with the call that ejects it; the image goes
 *   seed       what the guest has read
 *
 * Because it is inserted only while the guest is stopped, a running guest with its image in the drive has booted with
 * it.
 */

const SEED_DIGITS = 12
/** Nothing was read yet. */
const NO_SEED = 'none'

/** The next step for the seed, and the following ones as far as they are known. */
export type SeedMove =
  | 'begin'
  | 'upload'
  | 'shutdown'
  | 'insert'
  | 'start'
  | 'withdraw'
  | 'eject'
  | 'discard'
  | 'finish'
  | 'assume'

export function shortHash(seed: VmSeed): string {
  return seed.hash.slice(0, SEED_DIGITS)
}

export function imageName(uid: string, hash: string): string {
  return `croft-${uid}-${hash}.iso`
}

export function imageVolume(storage: string, uid: string, hash: string): string {
  return `${storage}:iso/${imageName(uid, hash)}`
}

/** Reports whether this volume is an image for this guest. */
export function isImageOf(uid: string, volume: string): boolean {
  return /^[^:]+:iso\/croft-([0-9a-f]{16})-[0-9a-f]{12}\.iso$/.exec(volume)?.[1] === uid
}

/** Returns the mark of a new machine. One that stays off gets its image when it is first switched on. */
export function bornWith(vm: VmSpec, survey: Survey | undefined): Pick<Mark, 'seed' | 'seeding'> {
  if (vm.seed === undefined) return {}
  if (vm.power !== 'running') return { seed: NO_SEED }
  return { seed: NO_SEED, seeding: { hash: shortHash(vm.seed), storage: seedStorage(vm, survey) } }
}

/** Returns the declared storage, or one of the host for ISO images: a local one before a shared one. */
export function seedStorage(vm: VmSpec, survey: Survey | undefined): string {
  if (vm.seed?.storage !== undefined) return vm.seed.storage
  const fit = (survey?.storages ?? []).filter((seen) => seen.host === vm.host && seen.available && holdsSeed(vm, seen))
  const [first] = fit.sort((a, b) => Number(a.shared) - Number(b.shared) || (a.name < b.name ? -1 : 1))
  // The plan reports that none fits; a step that is tried anyway uses a granted storage.
  return (
    first?.name ?? vm.seed?.storages?.find((one) => !one.endsWith('*')) ?? (vm.seed?.storages ? 'not-granted' : 'local')
  )
}

/** Reports whether the image may be on this storage. */
export function holdsSeed(
  { seed }: Pick<VmSpec, 'seed'>,
  { name, content }: { readonly name: string; readonly content: readonly string[] },
): boolean {
  return content.includes('iso') && (seed?.storages === undefined || listed(name, seed.storages))
}

/** The drive exists from the start: a disc can be inserted at any time, a drive cannot. */
export const seedDrive: VmOption = {
  create({ spec: vm }, params) {
    if (vm.seed !== undefined) params[vm.seed.slot] = 'none,media=cdrom'
  },
  compare() {},
  update() {},
}

const DRIVE_SLOT = /^(?:ide[0-3]|sata[0-5]|scsi(?:[12]?\d|30))$/

/** Returns the drive with an image of ours, and the image. */
export function insertedImage(
  config: ApiFields,
  uid: string,
): { readonly slot: string; readonly volume: string; readonly hash: string } | undefined {
  for (const [slot, value] of Object.entries(config)) {
    const text = textOf(value)
    if (text === undefined || !DRIVE_SLOT.test(slot) || !text.includes('iso/croft-')) continue
    const properties = parseProperties(text, 'file')
    const volume = properties.get('file') ?? properties.get('volume') ?? ''
    if (isImageOf(uid, volume)) return { slot, volume, hash: volume.slice(-SEED_DIGITS - 4, -4) }
  }
  return undefined
}

/** Returns all remaining moves; the first is possible now. Empty: none, or only a wait. */
export function seedMoves(vm: VmSpec, observed: ObservedResource): readonly SeedMove[] {
  const { mark, close } = observed
  if (mark === undefined || close === undefined || observed.template === true) return []
  if (mark.unseeding !== undefined) return [...discards(observed), 'finish']
  if (mark.seeding !== undefined) return whileSeeding(vm, observed, mark.seeding.hash)
  const { seed } = vm
  if (seed === undefined || mark.seed === shortHash(seed)) return []
  // Its document is unknown: the guest is older than seeds, or its description was edited. Leave it as it is, and
  // compare from now on.
  if (mark.seed === undefined) return ['assume']
  if (vm.power !== 'running') return []
  if (mark.seed !== NO_SEED && seed.onChange !== 'rerun') return []
  return ['begin', 'upload', ...restarted(observed), 'eject', 'discard', 'finish']
}

function whileSeeding(vm: VmSpec, observed: ObservedResource, coming: string): readonly SeedMove[] {
  const up = isUp(powerOf(observed))
  const uid = observed.mark?.uid ?? ''
  const inserted = insertedImage(observed.close?.config ?? {}, uid)
  if (inserted !== undefined && up) return hasRead(vm, observed) ? ['eject', 'discard', 'finish'] : []
  const wanted = vm.seed !== undefined && vm.power === 'running' ? shortHash(vm.seed) : undefined
  if (inserted !== undefined && inserted.hash === wanted) return ['start', 'eject', 'discard', 'finish']
  if (inserted !== undefined || wanted === undefined) return ['withdraw', ...discards(observed), 'finish']
  if (coming !== wanted) return ['begin', 'upload', ...restarted(observed), 'eject', 'discard', 'finish']
  const there = vm.seed !== undefined && hasImage(vm.seed, observed, wanted)
  return [...(there ? [] : ['upload' as const]), ...restarted(observed), 'eject', 'discard', 'finish']
}

function restarted(observed: ObservedResource): readonly SeedMove[] {
  return isUp(powerOf(observed)) ? ['shutdown', 'insert', 'start'] : ['insert', 'start']
}

function discards(observed: ObservedResource): readonly SeedMove[] {
  return (observed.close?.seedImages ?? []).map(() => 'discard')
}

/** Reports whether the image exists and is whole. With secrets inside its size is unknown, but not 0. */
function hasImage({ document }: VmSeed, observed: ObservedResource, hash: string): boolean {
  const storage = observed.mark?.seeding?.storage ?? ''
  const volume = imageVolume(storage, observed.mark?.uid ?? '', hash)
  const there = (observed.close?.seedImages ?? []).find(({ id }) => id === volume)
  if (there === undefined || there.bytes === 0) return false
  return secretsIn(document).length > 0 || there.bytes === seedImage(document).length
}

/**
 * cloud-init reads its source before the network starts: a guest whose agent reports an address has read it, and one
 * with a long uptime has too, or never will.
 */
function hasRead(vm: VmSpec, observed: ObservedResource): boolean {
  const seconds = observed.uptimeSeconds ?? 0
  if (seconds >= (vm.seed?.removeAfterSeconds ?? 0)) return true
  if (vm.agent?.enabled !== true || observed.close?.agent !== 'up') return false
  return vm.nics.length === 0 || (observed.close.addresses ?? []).length > 0
}

/** Reports the moves as changes for a person. */
export function compareSeed(vm: VmSpec, observed: ObservedResource, changes: Change[]): void {
  const { mark } = observed
  const to = vm.seed === undefined ? undefined : shortHash(vm.seed)
  const settled = mark?.seeding === undefined && mark?.unseeding === undefined
  const other = settled && mark?.seed !== undefined && mark.seed !== NO_SEED && mark.seed !== to
  if (other && to !== undefined && vm.seed?.onChange === 'replace') {
    changes.push({ path: 'seed', from: mark.seed, to, effect: 'replace' })
    return
  }
  const moves = seedMoves(vm, observed)
  const [next] = moves
  if (next === undefined || next === 'start') return
  if (next === 'eject' || next === 'discard' || next === 'finish' || next === 'withdraw')
    changes.push({ path: 'seed.image', from: 'there', to: 'removed', effect: 'live' })
  else changes.push({ path: 'seed', from: mark?.seed, to, effect: moves.includes('shutdown') ? 'restart' : 'live' })
}

/** Notes a changed document that causes no action. */
export function seedNotes(vm: VmSpec, observed: ObservedResource): readonly string[] {
  const { seed } = vm
  const read = observed.mark?.seed
  if (seed === undefined || read === undefined || read === NO_SEED || read === shortHash(seed)) return []
  if (observed.mark?.seeding !== undefined || observed.mark?.unseeding !== undefined) return []
  const what = `its cloud-init data changed after its first boot (${read} to ${shortHash(seed)})`
  if (seed.onChange === 'ignore')
    return [`${what}: the machine keeps the old data (onChange: ignore); a new machine gets the new`]
  return seed.onChange === 'rerun' && vm.power !== 'running'
    ? [`${what}: it reads the new data when it is next switched on`]
    : []
}
