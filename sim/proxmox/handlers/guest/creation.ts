import { touch } from '../../../world/guest-config.ts'
import { noteSeen } from '../../../world/guest-run.ts'
import { PowerLost } from '../../../world/locks.ts'
import { toldInTask } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { freeVolume } from '../../../world/volumes.ts'

/** Gives a new guest its configuration. What fails leaves nothing behind: neither volumes nor the guest. */
export async function configured(
  { world, host, made }: { readonly world: World; readonly host: Host; readonly made: readonly string[] },
  guest: Guest,
  make: () => Promise<Map<string, string>>,
  deed: 'create' | 'restore' = 'create',
): Promise<void> {
  try {
    guest.config = await make()
    touch(guest)
    noteSeen(world, guest)
  } catch (error) {
    // After a power loss no process cleans up: the lock and the volumes stay.
    if (error instanceof PowerLost) throw error
    for (const volid of made) freeVolume(host, volid)
    world.guests.delete(guest.vmid)
    const what = guest.type === 'lxc' ? 'CT' : 'VM'
    throw new Error(`unable to ${deed} ${what} ${guest.vmid} - ${toldInTask(error)}`)
  }
}
