import { guestName } from '../world/guest-config.ts'
import type { Guest, World } from '../world/types.ts'
import { computerOf } from './life.ts'
import { machineOf } from './machine.ts'
import { runProgram } from './run-program.ts'
import { type SerialLine, serialLine } from './serial-line.ts'
import { commandsOf } from './system-commands.ts'

/** Returns the serial line of a running guest, for every hypervisor. */
export function guestLine(world: World, guest: Guest): SerialLine {
  const { hostname } = machineOf(world, guest).system
  return serialLine({
    hostname: hostname === '' ? guestName(guest) : hostname,
    title: guest.type === 'lxc' ? 'Debian GNU/Linux 12' : 'Ubuntu 24.04.3 LTS',
    run(text) {
      const ran = runProgram(computerOf(world, guest), ['sh', '-c', text], '', 0, commandsOf(guest))
      return ran === undefined ? '' : `${ran.out}${ran.err}`
    },
  })
}
