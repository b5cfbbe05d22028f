import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import { magicPacket } from '../../lib/wake.ts'
import type { BmcTarget, PowerHost } from '../../model/power.ts'
import type { SshTarget } from '../../model/secret.ts'
import type { Outcome, Step } from '../../model/step.ts'
import type { PowerDeps, PowerDriver, PowerReach } from '../power-port.ts'
import { goDownAlone, lastWords } from './last-word.ts'
import { questions, readUps, upsAddress } from './nut.ts'
import { drainNode, markNode, pause, restore, unmarkNode } from './objects.ts'
import { peopleOn } from './people.ts'
import { readCluster } from './read-cluster.ts'
import { openRedfish, type Redfish } from './redfish.ts'

/** Creates the driver that observes and switches power. */
export function createPowerDriver(deps: PowerDeps): PowerDriver {
  const controllers = new Map<string, Redfish>()
  const shells = new Map<string, Shell>()
  const blocked = new Map<string, string>()

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

  async function hook(step: Step<'power'>, { spec }: PowerReach, signal: AbortSignal): Promise<Outcome> {
    const known = spec.hooks.find(({ name }) => name === step.hook)
    const shell = known?.target === undefined ? undefined : shellTo(known.target)
    if (known === undefined || shell === undefined) return stalled(`there is no way to run the hook ${step.hook ?? ''}`)
    return run(shell, known.run, signal)
  }

  async function perform(step: Step<'power'>, reach: PowerReach, signal: AbortSignal): Promise<Outcome> {
    const host = reach.spec.hosts.find(({ name }) => name === step.host)
    const { client } = reach
    switch (step.verb) {
      case 'wake-host':
        return host === undefined ? stalled(`${step.host ?? '?'} is not declared`) : wake(host, signal)
      case 'stop-host':
        return host === undefined
          ? stalled(`${step.host ?? '?'} is not declared`)
          : stop(host, step.force === true, signal)
      case 'run-hook':
        return hook(step, reach, signal)
      default:
        break
    }
    if (client === undefined) return { result: 'not-sent', message: 'there is no way to the API of the cluster' }
    switch (step.verb) {
      case 'pause':
        return pause(client, step, signal)
      case 'restore':
        return restore(client, step, signal)
      case 'mark-node':
        return markNode(client, step, deps.clock.now(), signal)
      case 'unmark-node':
        return unmarkNode(client, step, signal)
      case 'drain-node': {
        const drained = await drainNode(client, step, reach.spec, signal)
        if (drained.blocked === undefined) blocked.delete(step.node ?? '')
        else blocked.set(step.node ?? '', drained.blocked)
        return drained.outcome
      }
      default:
        return stalled(`${step.verb} is done elsewhere`)
    }
  }

  return {
    async observeCluster(client, cluster, spec, signal) {
      try {
        return await readCluster(client, cluster, spec, signal)
      } catch {
        return undefined
      }
    },
    people: peopleOn,
    async readUps(name, signal) {
      const { ups, host, port } = upsAddress(name)
      if (deps.exchangeLines === undefined) return undefined
      const late = AbortSignal.any([signal, AbortSignal.timeout(LIMITS.upsAnswerMs)])
      try {
        return readUps(await deps.exchangeLines(host, port, questions(ups), late))
      } catch {
        return undefined
      }
    },
    async hostPower({ bmc, ssh }, signal) {
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
    async perform(step, reach, signal) {
      try {
        return await perform(step, reach, signal)
      } catch (error) {
        return { result: 'unclear', message: `${step.summary}: ${wordsOf(error)}` }
      }
    },
    drainBlockedBy: (node) => blocked.get(node),
    async ownJournal({ ssh }, signal) {
      const shell = ssh === undefined ? undefined : shellTo(ssh)
      return shell === undefined ? [] : (await lastWords(shell, signal)).map((line) => cleanText(line))
    },
    async close() {
      await Promise.all([...controllers.values(), ...shells.values()].map((one) => one.close()))
    },
  }
}

export const powerDriver = { name: 'power', connect: createPowerDriver } as const

async function run(shell: Shell, argv: readonly string[], signal: AbortSignal): Promise<Outcome> {
  try {
    const { code, stderr } = await shell.run(argv, { signal })
    if (code === 0) return { result: 'done' }
    const message = cleanText(`${argv[0] ?? ''} ended with ${code}: ${stderr.slice(0, 500)}`)
    return { result: 'refused', refusal: { reason: 'CommandFailed', meaning: 'backoff', message } }
  } catch (error) {
    if (error instanceof ShellFailure && error.ran === 'no') return { result: 'not-sent', message: error.message }
    return { result: 'unclear', message: wordsOf(error) }
  }
}

function stalled(message: string): Outcome {
  return { result: 'refused', refusal: { reason: 'CannotSwitch', meaning: 'stalled', message } }
}

function wordsOf(error: unknown): string {
  return cleanText(error instanceof Error ? error.message : String(error))
}
