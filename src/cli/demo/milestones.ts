import type { Clock } from '../../lib/clock.ts'
import type { SimulatedGuest } from '../runtime.ts'

const GIB = 1024 ** 3
const WATCH_MS = 250

/** What a new machine goes through, seen in the datacentre itself rather than told by croft. */
const MILESTONES: readonly {
  readonly told: (guest: SimulatedGuest) => string
  readonly reached: (guest: SimulatedGuest) => boolean
}[] = [
  { told: (guest) => `VM ${guest.vmid} is there on ${guest.host}`, reached: () => true },
  {
    told: () => 'the image is imported into scsi0',
    reached: (guest) => guest.config.scsi0 !== undefined && guest.disks.length > 0,
  },
  {
    told: () => 'cloud-init is attached',
    reached: (guest) => Object.values(guest.config).some((value) => value.includes('cloudinit')),
  },
  {
    told: (guest) => `the disk is grown to ${Math.round(largestDisk(guest) / GIB)} GiB`,
    reached: (guest) => largestDisk(guest) >= 50 * GIB,
  },
  { told: () => 'it is started', reached: (guest) => guest.running },
  { told: () => 'it has booted', reached: (guest) => guest.booted },
  { told: () => 'its agent is up', reached: (guest) => guest.agent },
]

/** The milestones reached beyond the first `known` ones, in order: a later one is not told before an earlier one. */
export function milestonesAfter(known: number, guest: SimulatedGuest): readonly string[] {
  const told: string[] = []
  for (const { told: words, reached } of MILESTONES.slice(known)) {
    if (!reached(guest)) break
    told.push(words(guest))
  }
  return told
}

/** Tells each milestone when it is reached, until all are or the watch is ended. */
export async function watchMachine(
  find: () => SimulatedGuest | undefined,
  clock: Clock,
  signal: AbortSignal,
  on: { readonly milestone: (milestone: string) => void; readonly tick: () => void },
): Promise<void> {
  let known = 0
  const look = () => {
    const guest = find()
    for (const milestone of guest === undefined ? [] : milestonesAfter(known, guest)) {
      known++
      on.milestone(milestone)
    }
  }
  while (known < MILESTONES.length && !signal.aborted) {
    look()
    on.tick()
    await clock.sleep(WATCH_MS, signal)
  }
  // The watch may have been ended between two looks: what was reached meanwhile is still told.
  look()
}

function largestDisk(guest: SimulatedGuest): number {
  return Math.max(0, ...guest.disks.map((disk) => disk.bytes))
}
