import { GATES, GATES_SETTINGS, GATES_UNIT, type GateName } from '../../k3s/gates.ts'
import { flagText, readConfig } from '../k3s/config-file.ts'
import { memberOnDisk, unitRole } from '../k3s/disk.ts'
import { hostOf, serverAt } from '../k3s/network.ts'
import type { Computer } from './computer.ts'

/** Something that must hold before K3s may start, and does not yet. */
export interface Gate {
  readonly name: string
  readonly message: string
  readonly sinceMs: number
}

/** Do gates stand before K3s on this computer? One that was set up by hand has none. */
export function hasGates(computer: Computer): boolean {
  return computer.machine.files.read(`/etc/systemd/system/${GATES_UNIT}`) !== undefined
}

/** The first gate that is still closed, in the order in which they are passed; none when K3s may start. */
export function closedGates(computer: Computer, before: readonly Gate[]): readonly Gate[] {
  const settings = new Map(
    (computer.machine.files.text(GATES_SETTINGS) ?? '').split('\n').map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)]
    }),
  )
  for (const name of GATES) {
    if (settings.get(name) === 'off') continue
    const message = CHECKS[name](computer, settings.get('hostname_wanted') ?? '')
    if (message === undefined) continue
    const sinceMs = before.find((gate) => gate.name === name)?.sinceMs ?? Math.floor(computer.world.clock.now())
    return [{ name, message, sinceMs }]
  }
  return []
}

/** What each gate waits for; undefined when it stands open. */
const CHECKS: Readonly<Record<GateName, (computer: Computer, wanted: string) => string | undefined>> = {
  route: (computer) =>
    computer.machine.trouble.noNetwork === true || computer.addresses().length === 0
      ? 'there is no default route'
      : undefined,
  dns: (computer) => (computer.machine.trouble.noDns === true ? 'no name can be resolved' : undefined),
  clock: (computer) => (computer.machine.trouble.wrongClock === true ? 'the clock is not synchronised' : undefined),
  hostname: (computer, wanted) =>
    wanted === '' || computer.hostname() === wanted
      ? undefined
      : `the host name is ${computer.hostname()} and not ${wanted}`,
  api: (computer) => {
    const { machine, world } = computer
    const url = flagText(readConfig(machine.files, unitRole(machine.files) ?? 'server').flags, 'server')
    // Who holds data finds the others by it; the address is only for those who come in.
    if (url === '' || memberOnDisk(machine.files) !== undefined) return undefined
    return serverAt(world, hostOf(url)) === undefined ? `${url} does not answer` : undefined
  },
}
