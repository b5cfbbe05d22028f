import { GATES, GATES_SETTINGS, GATES_UNIT, type GateName } from '../../src/k3s/gates.ts'
import { flagText, readConfig } from '../k3s/config-file.ts'
import { memberOnDisk, unitRole } from '../k3s/disk.ts'
import { hostOf, serverAt } from '../k3s/network.ts'
import type { Gate } from '../k3s/types.ts'
import type { Computer } from '../world/types.ts'

/** Do gates stand before K3s on this computer? One that was set up by hand has none. */
export function hasGates(computer: Computer): boolean {
  return computer.machine.files.read(`/etc/systemd/system/${GATES_UNIT}`) !== undefined
}

const RESTART_MS = 15_000

/** Reports whether a gate stayed closed until its deadline: K3s stays stopped until the next start. */
export function isGivenUp({ message }: Gate): boolean {
  return / given up after \d+ s$/.test(message)
}

/** The first gate that is still closed, in the order in which they are passed; none when K3s may start. */
export function closedGates(computer: Computer, before: readonly Gate[]): readonly Gate[] {
  const settings = new Map(
    (computer.machine.files.text(GATES_SETTINGS) ?? '').split('\n').map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)] as const
    }),
  )
  for (const name of GATES) {
    if (settings.get(name) === 'off') continue
    const why = CHECKS[name](computer, settings)
    if (why === undefined) continue
    const nowMs = Math.floor(computer.world.clock.now())
    const deadline = Number(settings.get(name) ?? Number.POSITIVE_INFINITY)
    const known = before.find((gate) => gate.name === name)
    // The unit fails, and systemd restarts it later.
    const failed = known !== undefined && isGivenUp(known)
    if (failed && nowMs - known.sinceMs < deadline * 1000 + RESTART_MS) return [known]
    const sinceMs = known === undefined || failed ? nowMs : known.sinceMs
    const end = nowMs - sinceMs >= deadline * 1000 ? 'given up after' : 'at most'
    return [{ name, message: Number.isFinite(deadline) ? `${why}; ${end} ${deadline} s` : why, sinceMs }]
  }
  return []
}

/** What each gate waits for; undefined when it stands open. */
const CHECKS: Readonly<
  Record<GateName, (computer: Computer, settings: ReadonlyMap<string, string>) => string | undefined>
> = {
  route: (computer) =>
    computer.machine.trouble.noNetwork === true || computer.addresses().length === 0
      ? 'there is no default route'
      : undefined,
  dns: (computer, settings) =>
    computer.machine.trouble.noDns === true
      ? `no answer for ${settings.get('dns_name') ?? 'any name'} from 127.0.0.53`
      : undefined,
  clock: (computer) => (computer.machine.trouble.wrongClock === true ? 'the clock is not synchronised' : undefined),
  hostname: (computer, settings) => {
    const wanted = settings.get('hostname_wanted') ?? ''
    if (wanted === '' || computer.hostname() === wanted) return undefined
    return `the host calls itself ${computer.hostname()} and not ${wanted}`
  },
  api: (computer) => {
    const { machine, world } = computer
    const url = flagText(readConfig(machine.files, unitRole(machine.files) ?? 'server').flags, 'server')
    // Who holds data finds the others by it; the address is only for those who come in.
    if (url === '' || memberOnDisk(machine.files) !== undefined) return undefined
    return serverAt(world, hostOf(url)) === undefined ? `${url} does not answer` : undefined
  },
}
