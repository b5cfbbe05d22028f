import type { KubernetesClient } from '../../kubernetes/client.ts'
import { segment } from '../../kubernetes/client.ts'
import { annotationsOf, type Foreign, labelsOf, objectName } from '../../kubernetes/objects.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import type { ClusterDeps, ClusterSurroundings } from '../cluster-port.ts'
import { createAccess, type NodesAnswer } from './access.ts'
import { MARKS, readWork } from './marks.ts'
import { askFactsOnly, askProgram, placeProgram } from './node-lane.ts'

/** The prefix of croft's keys on a Node. */
const OURS = 'croft.dev/'
/** A Power's mark holds what the Power changed on the Node, and only the Power restores it. */
const POWER = 'croft.dev/power'

/**
 * Removes croft from the nodes of a cluster: its keys and cordons from their Nodes, its gates and programs from their
 * disks. K3s is not restarted. Returns what is left, by node.
 */
export async function leaveNodes(
  declaration: Parameters<typeof createAccess>[0],
  deps: ClusterDeps,
  { nodes: reached }: ClusterSurroundings,
  disks: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { spec, name } = declaration
  const problems = new Map<string, string>()
  const nodes = [...spec.servers, ...spec.agents].map((one) => one.name)
  const secrets = await deps.vault.read(name)
  if (secrets === undefined) {
    // Without its CA its API cannot be asked, and a missing record does not prove that no cluster exists.
    const server = spec.servers[0]?.name ?? 'SERVER'
    const why = `CA and tokens of ${name} are not kept here: run croft cluster recover ${name} --from ${server} first`
    return new Map(nodes.map((node) => [node, why]))
  }
  const access = createAccess(declaration, deps)
  try {
    const asked = await access.nodes(secrets, signal)
    const listed = asked.api === 'yes' || secrets.formed ? asked : await doubted(asked, nodes, reached, secrets, signal)
    const client = access.client(secrets)
    for (const node of nodes) {
      const problem =
        (await leaveNode(client, listed, node, signal)) ??
        (disks.has(node) ? await leaveDisk(reached.get(node)?.shell, node, signal) : undefined)
      if (problem !== undefined) problems.set(node, problem)
    }
  } finally {
    await access.close()
  }
  return problems
}

/** Interprets an API's silence without a record of a formed cluster. Undefined: there are no Nodes. */
async function doubted(
  silence: Exclude<NodesAnswer, { readonly api: 'yes' }>,
  nodes: readonly string[],
  reached: ClusterSurroundings['nodes'],
  { caHash, firstServer }: ClusterSecrets,
  signal: AbortSignal,
): Promise<NodesAnswer | undefined> {
  const because = (why: string) => ({ ...silence, message: `${silence.message}; ${why}` })
  for (const node of nodes) {
    const { machine, shell } = reached.get(node) ?? {}
    if (machine?.exists === 'no') continue
    if (shell === undefined) return because(`there is no way into ${node} to see whether it holds data`)
    const facts = await askFactsOnly(shell, signal)
    if (facts.is !== 'answer') return because(`${node} does not say whether it holds data`)
    const { data, datastore, etcd } = facts.value
    // CA files that croft itself put on the first server are no data of K3s.
    const filesAlone = node === firstServer && data === caHash && datastore === undefined && etcd === undefined
    if (data !== 'none' && !filesAlone) return because(`${node} holds data of a cluster`)
  }
  return undefined
}

async function leaveNode(
  client: KubernetesClient | undefined,
  /** Undefined: the cluster has no Nodes. */
  listed: NodesAnswer | undefined,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (listed === undefined) return undefined
  if (listed.api !== 'yes') return `the API does not answer, so croft's marks stay on its Node: ${listed.message}`
  if (client === undefined) return `no way to the API is known, so croft's marks stay on its Node`
  const node = listed.nodes.find((one) => objectName(one) === name)
  const patch = node === undefined ? undefined : leavePatch(node)
  if (patch === undefined) return undefined
  if (typeof patch === 'string') return patch
  const asked = await client.merge(`/api/v1/nodes/${segment(name)}`, patch, `take croft's marks off ${name}`, signal)
  if (asked.is === 'answer') return undefined
  return asked.is === 'error' ? asked.refusal.message : asked.message
}

/** Returns the patch that removes croft's keys and cordon from a Node, or why it cannot. Undefined without any. */
export function leavePatch(node: Foreign): Foreign | string | undefined {
  const ours = (names: Iterable<string>) => [...names].filter((name) => name.startsWith(OURS))
  const annotations = ours(annotationsOf(node).keys())
  const labels = ours(labelsOf(node).keys())
  if (annotations.some((name) => name.startsWith(POWER))) return 'a Power has put it to rest; run croft power on first'
  if (annotations.length + labels.length === 0) return undefined
  const none = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]))
  const cordoned = readWork(annotationsOf(node).get(MARKS.work))?.cordoned === true
  return {
    metadata: { annotations: none(annotations), labels: none(labels) },
    ...(cordoned ? { spec: { unschedulable: null } } : {}),
  }
}

async function leaveDisk(
  shell: Parameters<typeof placeProgram>[0] | undefined,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (shell === undefined) return `there is no way into ${name}: start it, or mend its SSH or guest agent`
  // The program is installed even where nothing is left, since only the program can tell.
  const problem = await placeProgram(shell, signal)
  if (problem !== undefined) return problem
  const answer = await askProgram(shell, ['leave'], signal)
  if (answer.is === 'answer') return undefined
  return answer.is === 'refused' ? answer.error : answer.message
}
