import type { NodeFacts } from '../../k3s/node-program.ts'
import type { Asked, KubernetesClient } from '../../kubernetes/client.ts'
import type { Shell } from '../../lib/shell.ts'
import type { NodeSpec } from '../../model/cluster.ts'
import type { ClusterSecrets } from '../../model/cluster-secrets.ts'
import type { Step } from '../../model/step.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import type { Looker } from './looker.ts'
import { askFacts, outcomeOf, placeProgram } from './node-lane.ts'

/** Everything that a step needs. */
export interface Actor extends Looker {
  readonly step: Step<'cluster'>
  readonly surroundings: ClusterSurroundings
  readonly signal: AbortSignal
  readonly secrets: ClusterSecrets | undefined
}

export const DONE: Outcome = { result: 'done' }

export function refused(reason: string, meaning: Refusal['meaning'], message: string): Outcome {
  return { result: 'refused', refusal: { reason, meaning, message } }
}

export function nodeName({ step }: Actor): string {
  return step.node ?? ''
}

export function specOf({ declaration, step }: Actor): NodeSpec | undefined {
  return [...declaration.spec.servers, ...declaration.spec.agents].find(({ name }) => name === step.node)
}

/** Goes on with the API, or says why that is not possible. */
export async function withApi(
  actor: Actor,
  work: (client: KubernetesClient, secrets: ClusterSecrets) => Promise<Outcome>,
): Promise<Outcome> {
  const { secrets, access } = actor
  const client = secrets === undefined ? undefined : access.client(secrets)
  if (client === undefined || secrets === undefined) {
    return { result: 'not-sent', message: `there is no way to the API of ${actor.declaration.name}` }
  }
  return work(client, secrets)
}

/** What an answer of the API means for the step. `gone`: that there is no such thing is success. */
export function outcomeOfAsked(asked: Asked<unknown>, gone: 'is-success' | 'is-refusal' = 'is-refusal'): Outcome {
  if (asked.is === 'answer') return DONE
  if (asked.is === 'error') {
    if (gone === 'is-success' && asked.status === 404) return DONE
    return { result: 'refused', refusal: asked.refusal }
  }
  return asked.sent === 'no'
    ? { result: 'not-sent', message: asked.message }
    : { result: 'unclear', message: asked.message }
}

/** Goes on with the shell of the step's node. */
export async function withShell(actor: Actor, work: (shell: Shell) => Promise<Outcome>): Promise<Outcome> {
  const name = nodeName(actor)
  const shell = actor.surroundings.nodes.get(name)?.shell
  if (shell === undefined) return { result: 'not-sent', message: `there is no way into ${name} at the moment` }
  if (!actor.memory.programs.has(name)) {
    const problem = await placeProgram(shell, actor.signal)
    if (problem !== undefined)
      return { result: 'not-sent', message: `could not copy croft's program to ${name}: ${problem}` }
    actor.memory.programs.add(name)
  }
  actor.memory.touched.add(name)
  return work(shell)
}

/** Goes on with what the node says at this very moment: a look that is seconds old is no ground for an effect. */
export async function withFacts(
  actor: Actor,
  work: (shell: Shell, facts: NodeFacts) => Promise<Outcome>,
): Promise<Outcome> {
  return withShell(actor, async (shell) => {
    const told = await askFacts(shell, actor.signal)
    return told.is === 'answer' ? work(shell, told.value) : outcomeOf(told, `look at ${nodeName(actor)}`)
  })
}
