import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Outcome, Step } from '../../model/step.ts'
import type { PowerDeps, PowerDriver, PowerReach } from '../power-port.ts'
import { createHostPower } from './host-power.ts'
import { lastWords } from './last-word.ts'
import { questions, readUps, upsAddress } from './nut.ts'
import { drainNode, markNode, pause, restore, unmarkNode } from './objects.ts'
import { run, stalled, wordsOf } from './outcomes.ts'
import { peopleOn } from './people.ts'
import { readCluster } from './read-cluster.ts'

/** Creates the driver that observes and switches power. */
export function createPowerDriver(deps: PowerDeps): PowerDriver {
  const hosts = createHostPower(deps)
  const blocked = new Map<string, string>()

  async function hook(step: Step<'power'>, { spec }: PowerReach, signal: AbortSignal): Promise<Outcome> {
    const known = spec.hooks.find(({ name }) => name === step.hook)
    const shell = known?.target === undefined ? undefined : hosts.shellTo(known.target)
    if (known === undefined || shell === undefined) return stalled(`there is no way to run the hook ${step.hook ?? ''}`)
    return run(shell, known.run, signal)
  }

  async function perform(step: Step<'power'>, reach: PowerReach, signal: AbortSignal): Promise<Outcome> {
    const host = reach.spec.hosts.find(({ name }) => name === step.host)
    const { client } = reach
    switch (step.verb) {
      case 'wake-host':
        return host === undefined ? stalled(`${step.host ?? '?'} is not declared`) : hosts.wake(host, signal)
      case 'stop-host':
        return host === undefined
          ? stalled(`${step.host ?? '?'} is not declared`)
          : hosts.stop(host, step.force === true, signal)
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
    hostPower: (host, signal) => hosts.power(host, signal),
    async perform(step, reach, signal) {
      try {
        return await perform(step, reach, signal)
      } catch (error) {
        return { result: 'unclear', message: `${step.summary}: ${wordsOf(error)}` }
      }
    },
    drainBlockedBy: (node) => blocked.get(node),
    async ownJournal({ ssh }, signal) {
      const shell = ssh === undefined ? undefined : hosts.shellTo(ssh)
      return shell === undefined ? [] : (await lastWords(shell, signal)).map((line) => cleanText(line))
    },
    close: () => hosts.close(),
  }
}

export const powerDriver = { name: 'power', connect: createPowerDriver } as const
