import { createHash } from 'node:crypto'
import { configHash, configYaml, nodeConfig } from '../../k3s/config.ts'
import type { KubernetesClient } from '../../kubernetes/client.ts'
import { segment } from '../../kubernetes/client.ts'
import type { NodeSpec } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/cluster-declaration.ts'
import type { ClusterSecrets } from '../../model/cluster-secrets.ts'
import type {
  Answer,
  EtcdMember,
  KubeNode,
  LocalK3s,
  ObservedCluster,
  ObservedMachine,
  ObservedNode,
} from '../../model/observed-cluster.ts'
import type { ClusterDeps, ClusterSurroundings } from '../cluster-port.ts'
import type { Access } from './access.ts'
import { isFresh, passwordsIn, podsToMove, snapshotsIn, tokenKept } from './look-at-api.ts'
import { type Answered, fingerprintOf, isSettled, lookAtNodes } from './look-at-nodes.ts'
import { judgeMembers, memberList, membersOfNodes, type Witness } from './members.ts'
import { type Memory, noteReadiness } from './memory.ts'
import { optional } from './optional.ts'
import { type NodeSeen, readNode } from './read-node.ts'

export interface Looker {
  readonly declaration: ClusterDeclaration
  readonly deps: ClusterDeps
  readonly access: Access
  readonly memory: Memory
}

const NOWHERE: ObservedMachine = { exists: 'unknown', power: 'unknown', ours: false }

/**
 * One look at a cluster. The API is asked a constant number of times, however many nodes there are; nodes are asked
 * over their shells only where something moves, is doubtful, or has not been asked for a long time.
 */
export async function observeCluster(
  looker: Looker,
  surroundings: ClusterSurroundings,
  signal: AbortSignal,
): Promise<ObservedCluster> {
  const { declaration, deps, memory } = looker
  const secrets = await deps.vault.read(declaration.name)
  const names = new Set([...specsOf(declaration).keys(), ...surroundings.nodes.keys()])
  const { api, seen, answered, asked } = await look(looker, surroundings, secrets, names, signal)
  const formed = await noteFormed(deps, secrets, api)
  for (const name of seen.keys()) names.add(name)
  const client = api === 'yes' && secrets !== undefined ? looker.access.client(secrets) : undefined
  const further = await askFurther(looker, client, secrets, names, seen, signal)
  const members = membersOf(looker, surroundings, names, api, seen, answered, asked)
  const voting = new Set(members === 'unknown' ? [] : members.map(({ node }) => node))
  const nodes = [...names].map((name) =>
    withVote(observedNode(looker, surroundings, name, api, seen.get(name), further.passwords, further.pods), voting),
  )
  if (client !== undefined) await dropUsedTokens(memory, client, nodes, signal)
  return {
    api,
    ...(secrets === undefined
      ? {}
      : {
          identity: {
            caHash: secrets.caHash,
            firstServer: secrets.firstServer,
            formed,
            recordedMs: secrets.recordedMs,
          },
        }),
    nodes,
    members,
    membershipChanged: members !== 'unknown' && members.length > 1 ? 'yes' : 'unknown',
    snapshots: further.snapshots,
    checks: [...memory.checks.values()],
    orders: surroundings.orders,
  }
}

interface Looked {
  readonly api: Answer
  readonly seen: ReadonlyMap<string, NodeSeen>
  readonly answered: Answered
  /** Everybody who was asked. */
  readonly asked: ReadonlySet<string>
}

async function look(
  { declaration, deps, access, memory }: Looker,
  surroundings: ClusterSurroundings,
  secrets: ClusterSecrets | undefined,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Looked> {
  const nowMs = deps.clock.now()
  const nobody: ReadonlyMap<string, NodeSeen> = new Map()
  const all = new Set<string>()
  const ask = (list: Iterable<string>, seen: ReadonlyMap<string, NodeSeen>) => {
    const wanted = [...list]
    for (const name of wanted) all.add(name)
    return lookAtNodes(wanted, surroundings, memory, seen, deps.clock, signal)
  }
  if (secrets === undefined || !secrets.formed) {
    // Nothing can answer as long as K3s runs nowhere: then no time is spent on waiting for it.
    const answered = await ask(names, nobody)
    const running = [...answered].some((name) => {
      const service = memory.facts.get(name)?.facts.service
      return service === 'running' || service === 'starting'
    })
    if (secrets === undefined || !running) return { api: 'unknown', seen: nobody, answered, asked: all }
    const asked = await access.nodes(secrets, signal)
    return { api: asked.api, seen: asked.api === 'yes' ? readNodes(asked.nodes) : nobody, answered, asked: all }
  }
  const moving = [...names].filter((name) => memory.facts.get(name) === undefined || memory.touched.has(name))
  const [asked, first] = await Promise.all([access.nodes(secrets, signal), ask(moving, nobody)])
  const seen = asked.api === 'yes' ? readNodes(asked.nodes) : nobody
  learnAddresses(access, declaration, seen)
  // What was asked side by side with the API belongs to the Nodes of this very moment.
  for (const name of first) refresh(memory, name, seen.get(name))
  const doubtful = [...names].filter((name) => !first.has(name) && !moving.includes(name))
  const servers = specsOf(declaration)
  // A Node says Ready for most of a minute after its machine is gone. Before a server is taken down, the others must
  // have answered now.
  const working =
    [...seen.values()].some(({ kube }) => kube.work !== undefined) ||
    [...surroundings.nodes.values()].some(({ machine }) => machine.wantsRestart !== undefined)
  const again = doubtful.filter(
    (name) =>
      asked.api !== 'yes' ||
      !isSettled(name, memory, seen.get(name), nowMs) ||
      (working && (servers.get(name)?.role ?? seen.get(name)?.role) === 'server'),
  )
  const second = await ask(again, seen)
  const answered = new Set([...first, ...second])
  if (tellsMembers(memory, answered, (name) => servers.has(name) || seen.has(name)) || asked.api !== 'yes')
    return { api: asked.api, seen, answered, asked: all }
  // A server on its way in or out changes the list, and cannot tell it itself: a learner does not answer.
  const roles = specsOf(declaration)
  const moves = [...names].some(
    (name) =>
      (roles.get(name)?.role ?? seen.get(name)?.role) === 'server' && !isSettled(name, memory, seen.get(name), nowMs),
  )
  const third = moves || listIsStale(memory, seen) ? await askOneServer(ask, names, seen, answered) : []
  return { api: asked.api, seen, answered: new Set([...answered, ...third]), asked: all }
}

function tellsMembers(memory: Memory, answered: Answered, own: (name: string) => boolean): boolean {
  return [...answered].some((name) => own(name) && memory.facts.get(name)?.facts.etcd !== undefined)
}

/** The list of members is kept while the Nodes show the same members; else a server is asked for it. */
function listIsStale(memory: Memory, seen: ReadonlyMap<string, NodeSeen>): boolean {
  const shown = [...seen.values()].flatMap(({ etcdName, voter }) =>
    etcdName === undefined || voter === 'not-a-member' ? [] : [etcdName],
  )
  const kept = memory.members?.list.members.map(({ name }) => name)
  return kept === undefined || [...kept].sort().join(' ') !== shown.sort().join(' ')
}

async function askOneServer(
  ask: (list: Iterable<string>, seen: ReadonlyMap<string, NodeSeen>) => Promise<Answered>,
  names: ReadonlySet<string>,
  seen: ReadonlyMap<string, NodeSeen>,
  answered: Answered,
): Promise<Answered> {
  const candidates = [...seen.values()].filter(
    ({ name, role, kube }) => role === 'server' && kube.ready === 'yes' && names.has(name) && !answered.has(name),
  )
  for (const { name } of candidates.slice(0, 3)) {
    const got = await ask([name], seen)
    if (got.size > 0) return got
  }
  return new Set()
}

function readNodes(objects: readonly Parameters<typeof readNode>[0][]): ReadonlyMap<string, NodeSeen> {
  return new Map(objects.flatMap((object) => readNode(object) ?? []).map((node) => [node.name, node]))
}

function learnAddresses(access: Access, { spec }: ClusterDeclaration, seen: ReadonlyMap<string, NodeSeen>): void {
  if (seen.size === 0) return
  const declared = new Set(spec.servers.flatMap(({ nodeIps }) => nodeIps))
  const servers = [...seen.values()].filter(({ role }) => role === 'server')
  access.learn(servers.flatMap(({ kube }) => kube.internalIps.slice(0, 1)).filter((ip) => !declared.has(ip)))
}

function refresh(memory: Memory, name: string, seen: NodeSeen | undefined): void {
  const known = memory.facts.get(name)
  if (known !== undefined) memory.facts.set(name, { ...known, fingerprint: fingerprintOf(seen) })
}

/** Written down the first time that the API answers: from then on nobody starts a new cluster. */
async function noteFormed(deps: ClusterDeps, secrets: ClusterSecrets | undefined, api: Answer): Promise<boolean> {
  if (secrets === undefined) return false
  if (secrets.formed || api !== 'yes') return secrets.formed
  await deps.vault.write({ ...secrets, formed: true })
  return true
}

interface Further {
  readonly passwords: ReadonlySet<string> | undefined
  readonly pods: ReadonlyMap<string, readonly unknown[]> | undefined
  readonly snapshots: ObservedCluster['snapshots']
}

async function askFurther(
  { deps, memory, declaration }: Looker,
  client: KubernetesClient | undefined,
  secrets: ClusterSecrets | undefined,
  names: ReadonlySet<string>,
  seen: ReadonlyMap<string, NodeSeen>,
  signal: AbortSignal,
): Promise<Further> {
  if (client === undefined || secrets === undefined)
    return { passwords: undefined, pods: undefined, snapshots: 'unknown' }
  const nowMs = deps.clock.now()
  const marked = [...seen.values()].filter(({ kube }) => kube.work !== undefined).map(({ name }) => name)
  const missing = [...names].some((name) => !seen.has(name))
  // While a rollout is due or under way, the newest snapshot decides whether it goes on.
  const versions = new Set([...seen.values()].map(({ kube }) => kube.version))
  const rolling = marked.length > 0 || versions.size > 1 || !versions.has(declaration.spec.version)
  const kept = memory.snapshots
  const [passwords, pods, snapshots] = await Promise.all([
    missing ? passwordsIn(client, signal) : undefined,
    podsToMove(client, marked, signal),
    kept !== undefined && !rolling && isFresh(kept.readMs, nowMs) ? kept.list : snapshotsIn(client, secrets, signal),
  ])
  if (snapshots !== 'unknown')
    memory.snapshots = { list: snapshots, readMs: kept?.list === snapshots ? kept.readMs : nowMs }
  return { passwords, pods, snapshots: withLocal(memory, secrets, snapshots) }
}

/** Snapshots that a node has on its disk and K3s has not noted yet. */
function withLocal(
  memory: Memory,
  secrets: ClusterSecrets,
  snapshots: ObservedCluster['snapshots'],
): ObservedCluster['snapshots'] {
  const local = [...memory.facts.values()].flatMap(({ facts }) => facts.snapshots)
  if (snapshots === 'unknown') return snapshots
  const known = new Set(snapshots.map(({ name }) => name))
  return [
    ...snapshots,
    ...local
      .filter(({ name }) => !known.has(name))
      .map(({ name, atMs, bytes, tokenHash }) => ({
        name,
        atMs,
        bytes,
        tokenKept: tokenKept(tokenHash, secrets),
        ...optional('tokenHash', tokenHash),
      })),
  ]
}

function membersOf(
  { memory, deps, declaration }: Looker,
  surroundings: ClusterSurroundings,
  names: ReadonlySet<string>,
  api: Answer,
  seen: ReadonlyMap<string, NodeSeen>,
  answered: Answered,
  asked: ReadonlySet<string>,
): readonly EtcdMember[] | 'unknown' {
  // A machine that is neither declared nor a Node speaks for another etcd: a copy that a backup was tried on, with the
  // same CA and the same names. Its list would make strangers of all servers.
  const own = specsOf(declaration)
  const fresh = [...answered].flatMap((name) =>
    own.has(name) || seen.has(name) ? (memory.facts.get(name)?.facts ?? []) : [],
  )
  const list = memberList(fresh)
  if (list !== undefined) memory.members = { list, readMs: deps.clock.now() }
  else if (answered.size > 0 || api !== 'yes') {
    // Somebody was asked and etcd did not answer there: what it said earlier is no evidence any more.
    if (api !== 'yes') return 'unknown'
    if (listIsStale(memory, seen)) memory.members = undefined
  }
  const known = memory.members?.list ?? (etcdIsMute(fresh) ? membersOfNodes([...seen.values()]) : undefined)
  if (known === undefined) return 'unknown'
  const witnesses = new Map<string, Witness>(
    [...names].map((name) => [
      name,
      {
        machine: surroundings.nodes.get(name)?.machine ?? NOWHERE,
        seen: api === 'yes' ? (seen.get(name) ?? 'absent') : 'unknown',
        ...optional('facts', answered.has(name) ? memory.facts.get(name)?.facts : undefined),
        ...optional('silent', asked.has(name) && !answered.has(name) ? (true as const) : undefined),
      },
    ]),
  )
  return judgeMembers(known, witnesses)
}

/** Servers run and none tells its members: a release that does not offer the list. K3s's own word is taken then. */
function etcdIsMute(
  facts: readonly { readonly role?: string; readonly service: string; readonly etcd?: unknown }[],
): boolean {
  const running = facts.filter(({ role, service }) => role === 'server' && service === 'running')
  return running.length > 0 && running.every(({ etcd }) => etcd === undefined)
}

function observedNode(
  { declaration, memory, deps }: Looker,
  surroundings: ClusterSurroundings,
  name: string,
  api: Answer,
  seen: NodeSeen | undefined,
  passwords: ReadonlySet<string> | undefined,
  pods: ReadonlyMap<string, readonly unknown[]> | undefined,
): ObservedNode {
  const spec = specsOf(declaration).get(name)
  const machine = surroundings.nodes.get(name)?.machine ?? NOWHERE
  const facts = memory.facts.get(name)?.facts
  const machineId = facts?.machineId || machine.machineId || seen?.machineId
  const kube = api !== 'yes' ? 'unknown' : seen === undefined ? 'absent' : kubeOf()
  const remediatedMs = surroundings.remediatedMs.get(name)

  function kubeOf(): KubeNode {
    const { kube: node } = seen as NodeSeen
    const list = pods?.get(name)
    const blocked = memory.drainBlockedBy.get(name)
    return {
      ...node,
      readyChanges: noteReadiness(memory, name, node.readySinceMs, deps.clock.now()),
      podsToMove: node.work === undefined || list === undefined ? 'unknown' : list.length,
      ...optional('drainBlockedBy', node.work === undefined ? undefined : blocked),
      ...optional('configHash', runningHash(declaration, spec, node, facts)),
    }
  }

  return {
    name,
    role: spec?.role ?? facts?.role ?? seen?.role ?? 'agent',
    machine: {
      ...machine,
      // No hypervisor tells of a box that was there before: that it answered says that it is on.
      power: machine.power === 'unknown' && facts !== undefined ? 'on' : machine.power,
      ...optional('machineId', machineId),
      ...optional('busy', machine.busy ?? bootingOf(facts, kube)),
    },
    kube,
    k3s: facts === undefined ? 'unknown' : localOf(facts, typeof kube === 'object' ? kube : undefined),
    passwordSecret: passwords === undefined ? 'unknown' : passwords.has(name) ? 'yes' : 'no',
    ...optional('remediatedMs', remediatedMs),
  }
}

/**
 * Who holds a vote is a server, whatever its Node says: K3s labels a Node some seconds after it is Ready, and until then
 * one that Git no longer names would be taken for an agent and put out without any regard for the quorum.
 */
function withVote(node: ObservedNode, voting: ReadonlySet<string>): ObservedNode {
  return voting.has(node.name) && node.role !== 'server' ? { ...node, role: 'server' } : node
}

/** Nothing is begun on a machine that is still setting itself up: both would write the same places. */
function bootingOf(facts: Facts | undefined, kube: ObservedNode['kube']): string | undefined {
  return facts?.cloudInit === 'running' && typeof kube !== 'object' ? 'cloud-init to end' : undefined
}

type Facts = NonNullable<ReturnType<Memory['facts']['get']>>['facts']

/**
 * Which declared configuration a node runs with. The file on its disk is the proof, where it was there before K3s was
 * last started; the annotation stands in where the node was not asked.
 */
function runningHash(
  { spec }: ClusterDeclaration,
  node: NodeSpec | undefined,
  kube: KubeNode,
  facts: Facts | undefined,
): string | undefined {
  if (node === undefined || facts?.configHash === undefined) return kube.configHash
  const begun = kube.work?.changedMs
  const startedSince = begun === undefined || facts.serviceSinceMs >= begun - 1000
  const asDeclared = (['first', 'member'] as const).some((place) => {
    const text = configYaml(nodeConfig(spec, node, place))
    return createHash('sha256').update(text).digest('hex') === facts.configHash
  })
  return asDeclared && startedSince && facts.service === 'running' ? configHash(spec, node) : kube.configHash
}

function localOf(facts: Facts, kube: KubeNode | undefined): LocalK3s {
  const changedMs = kube?.work?.changedMs
  // systemd tells whole seconds on some machines: what began in the same second began after our call.
  const sinceMs =
    changedMs !== undefined && facts.serviceSinceMs < changedMs && changedMs - facts.serviceSinceMs < 1000
      ? changedMs
      : facts.serviceSinceMs
  // The file has been exchanged, and the old program still runs: its version is the Node's.
  const old = facts.service === 'running' && changedMs !== undefined && sinceMs < changedMs
  const version = old ? kube?.version : facts.version
  return {
    service: facts.service,
    sinceMs,
    data: facts.data,
    mixedCa: facts.mixedCa,
    ...optional('version', version),
    ...optional('failure', facts.failure ?? gateFailure(facts)),
  }
}

function gateFailure({ gates, job }: Facts): string | undefined {
  if (job?.state === 'failed') return `${job.name}: ${job.message ?? 'failed'}`
  const [gate] = gates
  return gate === undefined ? undefined : `waits at the gate ${gate.name}: ${gate.message}`
}

/** A bootstrap token is for one node: when that is in, the token goes. Should we not come to it, it expires. */
async function dropUsedTokens(
  memory: Memory,
  client: KubernetesClient,
  nodes: readonly ObservedNode[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name, kube } of nodes) {
    const id = memory.tokens.get(name)
    if (id === undefined || typeof kube !== 'object' || kube.ready !== 'yes') continue
    const path = `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${segment(id)}`
    const asked = await client.delete(path, `delete the used token of ${name}`, {}, signal)
    if (asked.is === 'answer' || (asked.is === 'error' && asked.status === 404)) memory.tokens.delete(name)
  }
}

function specsOf({ spec }: ClusterDeclaration): ReadonlyMap<string, NodeSpec> {
  return new Map([...spec.servers, ...spec.agents].map((node) => [node.name, node]))
}
