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

/** Those that are still closed. Each has a name of its own, so that a person can see which one it is. */
export function openGates(computer: Computer, before: readonly Gate[]): readonly Gate[] {
  const { world, machine } = computer
  const closed: [string, string][] = []
  const { trouble, system } = machine
  if (system.hostname !== system.wantedHostname)
    closed.push(['hostname', `the name is still ${system.hostname}, not ${system.wantedHostname}`])
  if (trouble.noNetwork === true || computer.addresses().length === 0)
    closed.push(['route', 'there is no default route'])
  if (trouble.noDns === true) closed.push(['dns', 'no name can be resolved'])
  if (trouble.wrongClock === true) closed.push(['clock', 'the clock is not synchronised'])
  const role = unitRole(machine.files) ?? 'server'
  const url = flagText(readConfig(machine.files, role).flags, 'server')
  // Who holds data finds the others by it; the address is only for those who come in.
  const comesIn = url !== '' && memberOnDisk(machine.files) === undefined
  if (comesIn && serverAt(world, hostOf(url)) === undefined) closed.push(['api', `${url} does not answer`])
  const nowMs = world.clock.now()
  return closed.map(([name, message]) => ({
    name,
    message,
    sinceMs: before.find((gate) => gate.name === name)?.sinceMs ?? nowMs,
  }))
}
