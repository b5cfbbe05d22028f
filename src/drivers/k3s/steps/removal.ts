import { segment } from '../../../kubernetes/client.ts'
import type { Outcome } from '../../../model/verdict.ts'
import { K3S_MARKS } from '../marks.ts'
import { command, DONE, nodeName, outcomeOf, outcomeOfAsked, refused, type StepContext, withApi } from '../node-lane.ts'
import { onNode } from './node-marks.ts'

/** Over the Node, which K3s itself acts on; where there is none, etcd is asked on a server that is up. */
export async function removeMember(actor: StepContext): Promise<Outcome> {
  if (actor.step.lane === 'object') {
    return onNode(actor, (seen, patch) =>
      // K3s finds the member by the name that it noted on the Node. One that stopped before that is never found.
      seen.etcdName === undefined
        ? removeThroughEtcd(actor)
        : patch(
            { metadata: { annotations: { [K3S_MARKS.remove]: 'true' } } },
            `remove the etcd member of ${seen.name}`,
          ),
    )
  }
  return removeThroughEtcd(actor)
}

/** Asks etcd itself, on a server that is up. */
async function removeThroughEtcd(actor: StepContext): Promise<Outcome> {
  const { step, surroundings, memory, signal } = actor
  const id = step.member
  if (id === undefined) return refused('Invalid', 'stalled', 'no member is named')
  // The leader first: it needs nobody to pass the question on.
  const servers = [...memory.facts.entries()]
    .filter(
      ([name, { facts }]) => facts.etcd !== undefined && name !== step.node && surroundings.nodes.get(name)?.shell,
    )
    .sort(([, a], [, b]) => Number(leads(b.facts.etcd)) - Number(leads(a.facts.etcd)))
  for (const [name, { facts }] of servers) {
    if (facts.etcd?.self === id) continue
    if (facts.etcd?.members.every((member) => member.id !== id)) return DONE
    const shell = surroundings.nodes.get(name)?.shell
    if (shell === undefined) continue
    memory.touched.add(name)
    const told = await command(shell, 'remove-member', signal, { argument: id })
    return told.is === 'answer' ? DONE : outcomeOf(told, `remove the etcd member ${id}`)
  }
  return { result: 'not-sent', message: 'no server that is up can be reached to remove the member' }
}

export async function deleteNode(actor: StepContext): Promise<Outcome> {
  const name = nodeName(actor)
  return withApi(actor, async (client) =>
    outcomeOfAsked(
      await client.delete(`/api/v1/nodes/${segment(name)}`, `delete the Node ${name}`, {}, actor.signal),
      'is-success',
    ),
  )
}

export async function deleteNodePassword(actor: StepContext): Promise<Outcome> {
  const name = nodeName(actor)
  const path = `/api/v1/namespaces/kube-system/secrets/${segment(`${name}.node-password.k3s`)}`
  return withApi(actor, async (client) =>
    outcomeOfAsked(await client.delete(path, `delete the node password of ${name}`, {}, actor.signal), 'is-success'),
  )
}

function leads(etcd: { readonly self?: string; readonly leader?: string } | undefined): boolean {
  return etcd?.self !== undefined && etcd.self === etcd.leader
}
