import type { NodeVerb } from '../../../k3s/node-program.ts'
import type { Outcome } from '../../../model/verdict.ts'
import { type Actor, DONE, nodeName, withFacts, withShell } from '../actor.ts'
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
