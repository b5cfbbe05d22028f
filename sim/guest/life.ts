import { bootService, crashService } from '../k3s/service.ts'
import type { Computer, Guest, World } from '../world/types.ts'
import { guestAddresses } from './addresses.ts'
import { runCloudInit } from './cloud-init.ts'
import { isBare, machineOf } from './machine.ts'

/** The guest as others on its network see it. */
export function computerOf(world: World, guest: Guest): Computer {
  guest.computer ??= {
    id: `${guest.type}/${guest.vmid}`,
    world,
    get machine() {
      return machineOf(world, guest)
    },
    isUp: () =>
      guest.run.status === 'running' &&
      guest.run.bootedAtMs !== undefined &&
      !guest.run.paused &&
      guest.trouble.noNetwork !== true &&
      world.guests.get(guest.vmid) === guest,
    hostname: () => machineOf(world, guest).system.hostname,
    addresses: () => guestAddresses(guest),
  }
  return guest.computer
}

/** The system is up: cloud-init works if there is something new for it, and what is enabled starts. */
export function systemBoots(world: World, guest: Guest): void {
  // A guest without a seed whose files were never read costs nothing.
  if (isBare(guest) || (guest.inside === undefined && guest.machine === undefined)) return
  const computer = computerOf(world, guest)
  const life = guest.run.life
  const goesOn = () => guest.run.life === life && guest.run.status === 'running'
  const { inside } = guest
  if (inside !== undefined) {
    runCloudInit(computer, { instanceId: inside.instanceId, userData: inside.userData, goesOn }, (name) => {
      if (name === 'qemu-guest-agent') computer.machine.system.agentInstalled = true
    })
  }
  bootService(computer)
}

/** Everything that runs in it ends, with or without the time to say good-bye. */
export function systemStops(guest: Guest, graceful: boolean): void {
  if (guest.machine?.k3s !== undefined && guest.computer !== undefined)
    crashService(guest.machine, guest.computer.world, graceful)
}
