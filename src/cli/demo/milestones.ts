import type { Clock } from '../../lib/clock.ts'
import type { SimulatedGuest } from '../runtime.ts'

const GIB = 1024 ** 3
const WATCH_MS = 250

/** The stages of a new machine, observed in the datacentre itself rather than reported by croft. */
const MILESTONES: readonly {
  readonly says: (guest: SimulatedGuest) => string
  readonly reached: (guest: SimulatedGuest) => boolean
}[] = [
  { says: (guest) => `VM ${guest.vmid} is there on ${guest.host}`, reached: () => true },
  {
    says: () => 'the image is imported into scsi0',
    reached: (guest) => guest.config.scsi0 !== undefined && guest.disks.length > 0,
  },
  {
    says: () => 'cloud-init is attached',
    reached: (guest) => Object.values(guest.config).some((value) => value.includes('cloudinit')),
  },
  {
    says: (guest) => `the disk is grown to ${Math.round(largestDisk(guest) / GIB)} GiB`,
    reached: (guest) => largestDisk(guest) >= 50 * GIB,
  },
  { says: () => 'it is started', reached: (guest) => guest.running },
  { says: () => 'it has booted', reached: (guest) => guest.booted },
  { says: () => 'its agent is up', reached: (guest) => guest.agent },
]

/** Returns the milestones after the first `known` ones, in order. */
export function milestonesAfter(known: number, guest: SimulatedGuest): readonly string[] {
  const says: string[] = []
  for (const { says: words, reached } of MILESTONES.slice(known)) {
    if (!reached(guest)) break
    says.push(words(guest))
  }
  return says
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
  // Look once more: a milestone may have been reached since the last look.
  look()
}

function largestDisk(guest: SimulatedGuest): number {
  return Math.max(0, ...guest.disks.map((disk) => disk.bytes))
}
