import { LIMITS } from '../../lib/limits.ts'
import type { Shell } from '../../lib/shell.ts'
import { magicPacket } from '../../lib/wake.ts'
import type { BmcTarget, PowerHost } from '../../model/power.ts'
import type { SshTarget } from '../../model/secret.ts'
import type { Outcome } from '../../model/step.ts'
import type { PowerDeps, PowerDriver } from '../power-port.ts'
import { goDownAlone } from './last-word.ts'
import { run, stalled, wordsOf } from './outcomes.ts'
import { openRedfish, type Redfish } from './redfish.ts'

/** Switches hosts, by management controller, SSH or a magic packet. Connections stay open until `close`. */
interface HostPower {
  readonly power: PowerDriver['hostPower']
  shellTo(target: SshTarget): Shell | undefined
  wake(host: PowerHost, signal: AbortSignal): Promise<Outcome>
  stop(host: PowerHost, force: boolean, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

export function createHostPower(deps: PowerDeps): HostPower {
  const controllers = new Map<string, Redfish>()
  const shells = new Map<string, Shell>()

  const controller = (bmc: BmcTarget): Redfish | undefined => {
    const name = JSON.stringify(bmc)
    const there = controllers.get(name)
    if (there !== undefined || deps.openBmc === undefined) return there
    const made = openRedfish(deps.openBmc(bmc), bmc, () => deps.resolveSecret(bmc.password))
    controllers.set(name, made)
    return made
  }

  const shellTo = (target: SshTarget): Shell | undefined => {
    const there = shells.get(target.name)
    if (there !== undefined || deps.openShell === undefined) return there
    const made = deps.openShell(target)
    shells.set(target.name, made)
    return made
  }

  async function wake({ name, wake: magic, bmc }: PowerHost, signal: AbortSignal): Promise<Outcome> {
    const own = bmc === undefined ? undefined : controller(bmc)
    if (own !== undefined) return own.reset('On', signal)
    if (magic === undefined) return stalled(`croft does not know how to wake ${name}: its Host has no wake and no bmc`)
    try {
      await deps.sendDatagram(magic.broadcast, magic.port, magicPacket(magic.mac))
      return { result: 'done' }
    } catch (error) {
      return { result: 'not-sent', message: `no packet for ${name} could be sent: ${wordsOf(error)}` }
    }
  }

  async function stop(host: PowerHost, force: boolean, signal: AbortSignal): Promise<Outcome> {
    const shell = host.ssh === undefined ? undefined : shellTo(host.ssh)
    if (host.own) {
      return shell === undefined
        ? stalled(`croft cannot run programs on ${host.name}: its Host has no ssh`)
        : goDownAlone(shell, signal)
    }
    const own = host.bmc === undefined ? undefined : controller(host.bmc)
    if (force && own !== undefined) return own.reset('ForceOff', signal)
    if (shell !== undefined) return run(shell, ['systemctl', 'poweroff', '--no-block'], signal)
    if (own !== undefined) return own.reset('GracefulShutdown', signal)
    return stalled(`croft cannot shut ${host.name} down: it has neither a hypervisor, SSH nor a management controller`)
  }

  return {
    shellTo,
    wake,
    stop,
    async power({ bmc, ssh }, signal) {
      const own = bmc === undefined ? undefined : controller(bmc)
      if (own !== undefined) return own.power(signal)
      const shell = ssh === undefined ? undefined : shellTo(ssh)
      if (shell === undefined) return { power: 'unknown' }
      try {
        await shell.run(['true'], { timeoutMs: LIMITS.hostAnswerMs, signal })
        return { power: 'on' }
      } catch {
        return { power: 'unknown' }
      }
    },
    async close() {
      await Promise.all([...controllers.values(), ...shells.values()].map((one) => one.close()))
    },
  }
}
