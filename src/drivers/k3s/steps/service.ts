import type { NodeVerb } from '../../../k3s/node-program.ts'
import type { Outcome } from '../../../model/verdict.ts'
import { type Actor, DONE, nodeName, refused, withFacts, withShell } from '../actor.ts'
import { command, outcomeOf } from '../node-lane.ts'

export async function stopK3s(actor: Actor): Promise<Outcome> {
  return simple(actor, 'stop', 'stop K3s')
}

export async function restartK3s(actor: Actor): Promise<Outcome> {
  return simple(actor, 'restart', 'start K3s')
}

/** K3s, its data and its password gone. Takes a while, and is seen in the facts. */
export async function wipeK3s(actor: Actor): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const name = nodeName(actor)
    if (facts.job?.name === 'wipe' && facts.job.state === 'running')
      return { result: 'started', taskId: `wipe@${name}` }
    if (facts.data === 'none' && facts.service === 'absent') return DONE
    const told = await command(shell, 'wipe', actor.signal)
    return told.is === 'answer' ? { result: 'started', taskId: `wipe@${name}` } : outcomeOf(told, `wipe K3s on ${name}`)
  })
}

/**
 * The same as a step of a plan: only where K3s stands still at this very moment. One that runs may hold a vote in a
 * cluster that lives; whoever means it to go has it stopped first.
 */
export async function wipeStanding(actor: Actor): Promise<Outcome> {
  return withFacts(actor, async (_shell, facts) => {
    const wiping = facts.job?.name === 'wipe' && facts.job.state === 'running'
    if (!wiping && (facts.service === 'running' || facts.service === 'starting') && facts.data !== 'none') {
      const message = `K3s runs on ${nodeName(actor)}: croft wipes no node that may be a member of a living cluster`
      return refused('Running', 'stalled', message)
    }
    return wipeK3s(actor)
  })
}

/** A snapshot of etcd, taken by one server and kept where its configuration says. */
export async function snapshot(actor: Actor): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const name = nodeName(actor)
    actor.memory.snapshots = undefined
    if (facts.job?.name === 'snapshot' && facts.job.state === 'running') {
      return { result: 'started', taskId: `snapshot@${name}` }
    }
    const argument = `croft-${Math.floor(actor.deps.clock.now() / 1000)}`
    const told = await command(shell, 'snapshot', actor.signal, { argument })
    return told.is === 'answer'
      ? { result: 'started', taskId: `snapshot@${name}` }
      : outcomeOf(told, `take a snapshot on ${name}`)
  })
}

async function simple(actor: Actor, verb: Extract<NodeVerb, 'stop' | 'restart'>, doing: string): Promise<Outcome> {
  return withShell(actor, async (shell) => {
    const told = await command(shell, verb, actor.signal)
    return told.is === 'answer' ? DONE : outcomeOf(told, `${doing} on ${nodeName(actor)}`)
  })
}
