import type { Outcome } from '../../../model/verdict.ts'
import { type Actor, DONE, nodeName, refused } from '../actor.ts'
import { recoverSecrets } from '../recover.ts'

/**
 * CA and token of a running cluster, from the disk of one of its servers into the vault. Only where nothing is written
 * down at this moment, and only of the cluster that the plan named.
 */
export async function readBackSecrets(actor: Actor): Promise<Outcome> {
  const { declaration, deps, step, surroundings, signal } = actor
  if (actor.secrets !== undefined) return DONE
  const name = nodeName(actor)
  const shell = surroundings.nodes.get(name)?.shell
  if (shell === undefined) return { result: 'not-sent', message: `there is no way into ${name} at the moment` }
  const found = await recoverSecrets(shell, declaration.name, name, deps.clock.now(), signal)
  if ('problem' in found) return refused('NotReadBack', 'backoff', found.problem)
  if (step.target !== undefined && found.caHash !== step.target) {
    const message = `${name} is of another cluster than the plan named (${found.caHash.slice(0, 12)})`
    return refused('OtherCluster', 'backoff', message)
  }
  await deps.vault.write(found)
  return DONE
}
