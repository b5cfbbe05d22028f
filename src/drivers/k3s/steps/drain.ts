import { blockedBy } from '../../../kubernetes/api-errors.ts'
import { segment } from '../../../kubernetes/client.ts'
import { at, nameOf } from '../../../kubernetes/objects.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { inParallel } from '../../../lib/parallel.ts'
import type { Outcome } from '../../../model/verdict.ts'
import { type Actor, DONE, nodeName, outcomeOfAsked, withApi } from '../actor.ts'
import { podsToMove } from '../look-at-api.ts'

/**
 * Asks every pod of a node to go, once. What a disruption budget keeps is left and named; the next pass asks again.
 * Forced: what refused is deleted, which no budget can prevent.
 */
export async function drain(actor: Actor): Promise<Outcome> {
  const { step, memory, signal } = actor
  const node = nodeName(actor)
  return withApi(actor, async (client) => {
    const pods = (await podsToMove(client, [node], signal))?.get(node)
    if (pods === undefined) return { result: 'not-sent', message: `the pods of ${node} cannot be seen` }
    // Those that are on their way out already are only waited for.
    const staying = pods.filter((pod) => at(pod, 'metadata', 'deletionTimestamp') === undefined)
    let blocked: string | undefined
    let trouble: Outcome | undefined
    await inParallel(staying, LIMITS.evictionsAtOnce, async (pod) => {
      const [namespace, name] = [nameOf(at(pod, 'metadata', 'namespace')), nameOf(at(pod, 'metadata', 'name'))]
      if (namespace === undefined || name === undefined) return
      const asked =
        step.force === true
          ? await client.delete(
              `/api/v1/namespaces/${segment(namespace)}/pods/${segment(name)}`,
              `delete ${namespace}/${name}`,
              {},
              signal,
            )
          : await client.evict(namespace, name, signal)
      if (asked.is === 'error') {
        const budget = blockedBy(asked.body)
        if (budget !== undefined) blocked ??= `${namespace}/${name}: ${budget}`
        else if (asked.status !== 404) trouble ??= outcomeOfAsked(asked)
      } else if (asked.is === 'silence') trouble ??= outcomeOfAsked(asked)
    })
    if (blocked === undefined) memory.drainBlockedBy.delete(node)
    else memory.drainBlockedBy.set(node, blocked)
    return trouble ?? DONE
  })
}
