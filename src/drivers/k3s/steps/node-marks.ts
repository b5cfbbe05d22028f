import { type KubernetesClient, segment } from '../../../kubernetes/client.ts'
import { at, type Foreign, isRecord } from '../../../kubernetes/objects.ts'
import type { NodeWork } from '../../../model/observed-cluster.ts'
import type { Outcome } from '../../../model/verdict.ts'
import { type Actor, DONE, nodeName, outcomeOfAsked, refused, withApi } from '../actor.ts'
import { formatGivenUp, formatWork, isoTime, K3S_MARKS, MARKS } from '../marks.ts'
import { type NodeSeen, readNode } from '../read-node.ts'

/** Puts our mark on a Node and makes it unschedulable, in one write that fails when somebody was there in between. */
export async function cordon(actor: Actor): Promise<Outcome> {
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
      // A cordon that was there before us is a person's, and stays. One of our own stays ours.
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

/** Takes our mark off and, where the cordon was ours, that as well. */
export async function uncordon(actor: Actor): Promise<Outcome> {
  return onNode(actor, async (seen, patch) => {
    const { step, deps } = actor
    const { work, changedMs } = seen.kube
    if (work === undefined && step.givenUp === undefined) return DONE
    const outcome = await patch(
      {
        metadata: {
          annotations: {
            [MARKS.work]: null,
            // The soak counts from it.
            ...(changedMs === undefined ? {} : { [MARKS.changed]: isoTime(changedMs) }),
            ...(step.givenUp === undefined ? {} : { [MARKS.givenUp]: formatGivenUp(step.givenUp, deps.clock.now()) }),
          },
        },
        ...(work?.cordoned === true ? { spec: { unschedulable: null } } : {}),
      },
      `give ${seen.name} back`,
    )
    if (outcome.result === 'done') actor.memory.drainBlockedBy.delete(seen.name)
    return outcome
  })
}

/** Notes in our mark that the node is about to be taken down. Written before it is. */
export async function noteChange(actor: Actor): Promise<Outcome> {
  return onNode(actor, async (seen, patch) => {
    const { work } = seen.kube
    if (work === undefined) {
      return refused('NotMarked', 'waiting', `${seen.name} does not carry our mark; it will be looked at again`)
    }
    const mark = formatWork({ ...work, changedMs: actor.deps.clock.now() })
    return patch(
      // Which configuration it runs with is not known from here until it has come back.
      { metadata: { annotations: { [MARKS.work]: mark, [MARKS.configHash]: null } } },
      `note that ${seen.name} is changed`,
    )
  })
}

export async function noteConfig(actor: Actor, hash: string): Promise<Outcome> {
  return onNode(actor, (seen, patch) =>
    patch({ metadata: { annotations: { [MARKS.configHash]: hash } } }, `note the configuration of ${seen.name}`),
  )
}

/** The Node loses the trace of an earlier removal, with which K3s would leave its member behind. */
export async function clearRemovedMark(actor: Actor): Promise<Outcome> {
  return onNode(actor, (seen, patch) =>
    patch(
      { metadata: { annotations: { [K3S_MARKS.removedName]: null, [K3S_MARKS.remove]: null } } },
      `take the mark of an earlier removal off ${seen.name}`,
    ),
  )
}

type Patch = (patch: Foreign, doing: string) => Promise<Outcome>

/** Reads the Node, and sends what was decided with the version that was read: never over somebody else's change. */
export async function onNode(
  actor: Actor,
  work: (seen: NodeSeen, patch: Patch, client: KubernetesClient) => Promise<Outcome>,
): Promise<Outcome> {
  const { signal } = actor
  const path = `/api/v1/nodes/${segment(nodeName(actor))}`
  return withApi(actor, async (client) => {
    const asked = await client.get(path, signal)
    if (asked.is !== 'answer') return outcomeOfAsked(asked)
    const seen = readNode(asked.value)
    if (seen === undefined) return { result: 'unclear', message: `the Node ${nodeName(actor)} could not be read` }
    const resourceVersion = at(asked.value, 'metadata', 'resourceVersion')
    const patch: Patch = async (body, doing) => {
      const metadata = isRecord(body.metadata) ? body.metadata : {}
      const outcome = outcomeOfAsked(
        await client.merge(path, { ...body, metadata: { ...metadata, resourceVersion } }, doing, signal),
      )
      actor.memory.touched.add(seen.name)
      return outcome
    }
    return work(seen, patch, client)
  })
}
