import { configHash } from '../../../k3s/config.ts'
import type { NodeFacts } from '../../../k3s/node-program.ts'
import { segment } from '../../../kubernetes/client.ts'
import { at, textOf } from '../../../kubernetes/objects.ts'
import { defined } from '../../../lib/defined.ts'
import type { NodeSpec } from '../../../model/cluster.ts'
import { Secret } from '../../../model/secret.ts'
import type { Outcome } from '../../../model/step.ts'
import { K3S_MARKS } from '../marks.ts'
import {
  askProgram,
  command,
  DONE,
  nodeName,
  outcomeOf,
  outcomeOfAsked,
  refused,
  type StepContext,
  specOf,
  withApi,
  withFacts,
  withShell,
} from '../node-lane.ts'
import { readNode } from '../read-node.ts'
import { bootstrapToken } from './bootstrap.ts'
import { agentFiles, configFiles, type FileToPut, placeOf, serverFiles, wholeSet } from './node-files.ts'
import { noteChange, noteConfig, onNode } from './node-marks.ts'
import { presentSecrets, readyToken } from './present-token.ts'
import { removeObjects } from './put-files.ts'
import { installed, installInput } from './service.ts'

/** Removes a member over its Node, on which K3s acts itself; without a Node, through etcd on a server that is up. */
export async function removeMember(actor: StepContext): Promise<Outcome> {
  if (actor.step.lane === 'object') {
    return onNode(actor, (seen, patch) =>
      // K3s finds the member by its name on the Node. One that stopped before writing it is never found.
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

/** Asks etcd itself, on a running server. */
async function removeThroughEtcd(actor: StepContext): Promise<Outcome> {
  const { step, surroundings, memory, signal } = actor
  const id = step.member
  if (id === undefined) return refused('Invalid', 'stalled', 'no member is named')
  // The leader first: it can answer without forwarding the request.
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
    const reply = await command(shell, 'remove-member', signal, { argument: id })
    return reply.is === 'answer' ? DONE : outcomeOf(reply, `remove the etcd member ${id}`)
  }
  return { result: 'not-sent', message: 'no server that is up can be reached to remove the member' }
}

/**
 * K3s takes member and password of a server with its Node. One that was registered anew since the look, or is Ready without
 * croft's mark, stays.
 */
export async function deleteNode(actor: StepContext): Promise<Outcome> {
  const name = nodeName(actor)
  const path = `/api/v1/nodes/${segment(name)}`
  return withApi(actor, async (client) => {
    const asked = await client.get(path, actor.signal)
    if (asked.is !== 'answer') return asked.is === 'error' && asked.status === 404 ? DONE : outcomeOfAsked(asked)
    const kube = readNode(asked.value)?.kube
    if (kube?.ready === 'yes' && kube.work === undefined)
      return refused(
        'Changed',
        'waiting',
        `the Node ${name} is Ready and carries no mark of croft: it came back since the look`,
      )
    const preconditions = defined({ uid: textOf(at(asked.value, 'metadata', 'uid')) })
    const deleted = await client.delete(path, `delete the Node ${name}`, { preconditions }, actor.signal)
    return outcomeOfAsked(deleted, 'is-success')
  })
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

/**
 * Downloads and verifies the new program beside the old one, which still runs. Then notes the change, and the restart
 * replaces the program: until the note, a power cut or a revert starts the old release again.
 */
export async function upgradeK3s(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const { step, declaration } = actor
    const version = step.version ?? declaration.spec.version
    const missing = await installed(actor, shell, facts, version, 'beside')
    if (missing !== undefined) return missing
    const token = await readyToken(actor, shell, facts)
    if (token !== undefined) return token
    const sum = await sumOf(actor, facts, version)
    const noted = await noteChange(actor)
    if (noted.result !== 'done') return noted
    const reply = await askProgram(shell, ['restart', version, ...sum], actor.signal)
    return reply.is === 'answer' ? DONE : outcomeOf(reply, `restart K3s on ${nodeName(actor)}`)
  })
}

/** Returns the program's expected checksum. If none can be read now, the node has that of its download. */
async function sumOf(actor: StepContext, facts: NodeFacts, version: string): Promise<readonly string[]> {
  const input = await installInput(actor, facts, version)
  return 'result' in input ? [] : [input.sha256]
}

/** Writes config.yaml and restarts K3s with it. */
export async function configureK3s(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const name = nodeName(actor)
    const node = specOf(actor)
    if (node === undefined) return refused('NotDeclared', 'waiting', `${name} is no longer declared`)
    const files =
      facts.configHash === undefined
        ? await firstFiles(actor, node)
        : await configFiles(actor, node, placeOf(actor, node))
    if ('result' in files) return files
    const token = await readyToken(actor, shell, facts)
    if (token !== undefined) return token
    const noted = await noteChange(actor)
    if (noted.result !== 'done') return noted
    const cleared = await removeObjects(actor, node, facts)
    if (cleared.result !== 'done') return cleared
    const put = await command(shell, 'put', actor.signal, { input: wholeSet(actor, node, files) })
    if (put.is !== 'answer') return outcomeOf(put, `write the configuration of ${name}`)
    const reply = await command(shell, 'restart', actor.signal)
    if (reply.is !== 'answer') return outcomeOf(reply, `restart K3s on ${name}`)
    // If this note is lost, comparing the file on the node restores it.
    await noteConfig(actor, configHash(actor.declaration.spec, node))
    return DONE
  })
}

/**
 * Rewrites a node without its Node, which is missing, or whose API is what this step repairs. An agent gets a separate
 * token if the API can create one.
 */
export async function rewriteK3s(actor: StepContext): Promise<Outcome> {
  return withShell(actor, async (shell) => {
    const name = nodeName(actor)
    const node = specOf(actor)
    if (node === undefined) return refused('NotDeclared', 'waiting', `${name} is no longer declared`)
    const secrets = actor.secrets === undefined ? undefined : await presentSecrets(actor, actor.secrets)
    const first = await firstFiles({ ...actor, secrets }, node)
    const files = 'result' in first ? await configFiles(actor, node, placeOf(actor, node)) : first
    const put = await command(shell, 'put', actor.signal, { input: wholeSet(actor, node, files) })
    if (put.is !== 'answer') return outcomeOf(put, `write the configuration of ${name}`)
    const reply = await command(shell, 'restart', actor.signal)
    return reply.is === 'answer' ? DONE : outcomeOf(reply, `start K3s on ${name}`)
  })
}

/**
 * Returns every file that config.yaml names, for a node that another tool set up: K3s waits forever for a missing token
 * file.
 */
async function firstFiles(actor: StepContext, node: NodeSpec): Promise<readonly FileToPut[] | Outcome> {
  const { secrets } = actor
  if (secrets === undefined) return refused('NotRecorded', 'waiting', `CA and token of the cluster are not known yet`)
  if (node.role === 'server') return serverFiles(actor, node, placeOf(actor, node), secrets)
  const token = await bootstrapToken(actor, node.name, secrets)
  return token instanceof Secret ? agentFiles(actor, node, token) : token
}
