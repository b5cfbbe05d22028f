import { blockedBy } from '../../../kubernetes/api-errors.ts'
import { segment } from '../../../kubernetes/client.ts'
import { at, type Foreign, isRecord, nameOf, textsOf } from '../../../kubernetes/objects.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { inParallel } from '../../../lib/parallel.ts'
import type { NodeWork } from '../../../model/observed-cluster.ts'
import type { Outcome } from '../../../model/step.ts'
import { formatGivenUp, formatWork, isoTime, K3S_MARKS, MARKS } from '../marks.ts'
import { DONE, nodeName, outcomeOfAsked, refused, type StepContext, withApi } from '../node-lane.ts'
import { podsToMove } from '../observe-api.ts'
import { type ObservedKubeNode, readNode } from '../read-node.ts'

/** Puts our mark on a Node and cordons it, in one write that fails if the Node changed in between. */
export async function cordon(actor: StepContext): Promise<Outcome> {
  return onNode(actor, async (seen, patch) => {
    const { step, deps } = actor
    const { work, unschedulable } = seen.kube
    const [purpose, target] = [step.purpose ?? 'configure', step.target ?? step.purpose ?? '']
    const same = work?.purpose === purpose && work.target === target
    if (same && unschedulable) return DONE
    const mark: NodeWork = {
      purpose,
      target,
      sinceMs: same ? work.sinceMs : deps.clock.now(),
      // A cordon from before croft is a person's, and stays. croft's own stays croft's.
      cordoned: work === undefined ? !unschedulable : work.cordoned || !unschedulable,
      ...(same && work.changedMs !== undefined ? { changedMs: work.changedMs } : {}),
    }
    return patch(
      {
        metadata: { annotations: { [MARKS.work]: formatWork(mark), [MARKS.givenUp]: null } },
        spec: { unschedulable: true },
      },
      `mark and cordon ${seen.name}`,
    )
  })
}

/** Removes our mark, and our cordon. */
export async function uncordon(actor: StepContext): Promise<Outcome> {
  return onNode(actor, async (seen, patch) => {
    const { step, deps } = actor
    const { work, changedMs } = seen.kube
    if (work === undefined && step.givenUp === undefined) return DONE
    const outcome = await patch(
      {
        metadata: {
          annotations: {
            [MARKS.work]: null,
            // The soak starts then.
            ...(changedMs === undefined ? {} : { [MARKS.changed]: isoTime(changedMs) }),
            ...(step.givenUp === undefined ? {} : { [MARKS.givenUp]: formatGivenUp(step.givenUp, deps.clock.now()) }),
          },
        },
        ...(work?.cordoned === true ? { spec: { unschedulable: null } } : {}),
      },
      `write the Node ${seen.name}`,
    )
    if (outcome.result === 'done') actor.memory.drainBlockedBy.delete(seen.name)
    return outcome
  })
}

/** Notes in our mark that the node is about to go down, before it does. */
export async function noteChange(actor: StepContext): Promise<Outcome> {
  return onNode(actor, async (seen, patch) => {
    const { work } = seen.kube
    if (work === undefined) {
      return refused('NotMarked', 'waiting', `${seen.name} does not carry our mark; it will be looked at again`)
    }
    const mark = formatWork({ ...work, changedMs: actor.deps.clock.now() })
    return patch(
      // Its running configuration is unknown until it has returned.
      { metadata: { annotations: { [MARKS.work]: mark, [MARKS.configHash]: null } } },
      `note that ${seen.name} is changed`,
    )
  })
}

export async function noteConfig(actor: StepContext, hash: string): Promise<Outcome> {
  return onNode(actor, (seen, patch) =>
    patch({ metadata: { annotations: { [MARKS.configHash]: hash } } }, `note the configuration of ${seen.name}`),
  )
}

/** Removes a Node's mark of an earlier removal, with which K3s would keep its member. */
export async function clearRemovedMark(actor: StepContext): Promise<Outcome> {
  return onNode(actor, (seen, patch) =>
    patch(
      { metadata: { annotations: { [K3S_MARKS.removedName]: null, [K3S_MARKS.remove]: null } } },
      `take the mark of an earlier removal off ${seen.name}`,
    ),
  )
}

type PatchNode = (patch: Foreign, doing: string) => Promise<Outcome>

/** Reads the Node and sends the change with its version, so that it never overwrites another change. */
export async function onNode(
  actor: StepContext,
  work: (seen: ObservedKubeNode, patch: PatchNode, object: Foreign) => Promise<Outcome>,
): Promise<Outcome> {
  const { signal } = actor
  const path = `/api/v1/nodes/${segment(nodeName(actor))}`
  return withApi(actor, async (client) => {
    const asked = await client.get(path, signal)
    if (asked.is !== 'answer') return outcomeOfAsked(asked)
    const seen = readNode(asked.value)
    if (seen === undefined) return { result: 'unclear', message: `the Node ${nodeName(actor)} could not be read` }
    const resourceVersion = at(asked.value, 'metadata', 'resourceVersion')
    const patch: PatchNode = async (body, doing) => {
      const metadata = isRecord(body.metadata) ? body.metadata : {}
      const outcome = outcomeOfAsked(
        await client.merge(path, { ...body, metadata: { ...metadata, resourceVersion } }, doing, signal),
      )
      actor.memory.touched.add(seen.name)
      return outcome
    }
    return work(seen, patch, asked.value)
  })
}

/** Records that the cluster is formed, so that croft never forms a new one. Keeps the rest of the record. */
export async function noteFormed({ deps, declaration }: StepContext): Promise<Outcome> {
  const secrets = await deps.vault.read(declaration.name)
  if (secrets !== undefined && !secrets.formed) await deps.vault.write({ ...secrets, formed: true })
  return DONE
}

/** A bootstrap token is for one node: croft deletes it after the join. If croft cannot, it expires. */
export async function deleteJoinToken(actor: StepContext): Promise<Outcome> {
  const { memory, signal } = actor
  const name = nodeName(actor)
  const id = memory.tokens.get(name)
  if (id === undefined) return DONE
  return withApi(actor, async (client) => {
    const path = `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${segment(id)}`
    const outcome = outcomeOfAsked(
      await client.delete(path, `delete the used token of ${name}`, {}, signal),
      'is-success',
    )
    if (outcome.result === 'done') memory.tokens.delete(name)
    return outcome
  })
}

/** Returns the first pod that is being deleted, with the finalizers that it waits for. */
function hanging(pods: readonly unknown[]): string | undefined {
  const pod = pods.find((one) => at(one, 'metadata', 'deletionTimestamp') !== undefined)
  if (pod === undefined) return undefined
  const name = `${nameOf(at(pod, 'metadata', 'namespace')) ?? ''}/${nameOf(at(pod, 'metadata', 'name')) ?? ''}`
  const finalizers = textsOf(at(pod, 'metadata', 'finalizers'))
  return `${name} hangs in Terminating${finalizers.length === 0 ? '' : `, with the finalizers ${finalizers.join(', ')}`}`
}

/**
 * Evicts every pod of a node, once. A pod that a disruption budget protects stays and is named; the next pass retries.
 * If forced, it is deleted, which no budget prevents.
 */
export async function drain(actor: StepContext): Promise<Outcome> {
  const { step, memory, signal } = actor
  const node = nodeName(actor)
  return withApi(actor, async (client) => {
    const pods = (await podsToMove(client, [node], signal))?.get(node)
    if (pods === undefined) return { result: 'not-sent', message: `the pods of ${node} cannot be seen` }
    // Pods under deletion are only awaited.
    const staying = pods.filter((pod) => at(pod, 'metadata', 'deletionTimestamp') === undefined)
    let blocked: string | undefined = step.force === true ? hanging(pods) : undefined
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
