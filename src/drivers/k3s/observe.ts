import { judgeMembership, nodeOfMember, type Stranger } from '../../k3s/membership.ts'
import type { KubernetesClient } from '../../kubernetes/client.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { EtcdMember, ObservedCluster, YesNoUnknown } from '../../model/observed-cluster.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import type { Access, NodesAnswer } from './access.ts'
import { judgeMembers, membersOfNodes, type Witness } from './members.ts'
import { NOWHERE, type ObserveContext, type SessionMemory, specsOf } from './memory.ts'
import { isFresh, passwordsIn, podsToMove, snapshotsIn } from './observe-api.ts'
import { type AnsweringNodes, fingerprintOf, isSettled, observeNodes } from './observe-nodes.ts'
import { observedNode, withVote } from './observed-node.ts'
import { type ObservedKubeNode, optional, readNode } from './read-node.ts'
import { openTries, tryNow } from './snapshot-tries.ts'

/**
 * Observes a cluster. The number of API calls is constant, regardless of the nodes; a node is asked over its shell only
 * if it changes, is in doubt, or was not asked for long.
 */
export async function observeCluster(
  looker: ObserveContext,
  surroundings: ClusterSurroundings,
  signal: AbortSignal,
): Promise<ObservedCluster> {
  const { declaration, deps, memory } = looker
  const secrets = await deps.vault.read(declaration.name)
  const names = new Set([...specsOf(declaration).keys(), ...surroundings.nodes.keys()])
  const { api, silentEndpoint, slowEndpoint, seen, answered, asked } = await lookAround(
    looker,
    surroundings,
    secrets,
    names,
    signal,
  )
  for (const name of seen.keys()) names.add(name)
  const client = api === 'yes' && secrets !== undefined ? looker.access.client(secrets) : undefined
  const further = await askFurther(looker, client, secrets, names, seen, signal)
  const { members, strangers } = membersOf(looker, surroundings, secrets, names, { api, seen, answered, asked })
  memory.voters = votersOf(declaration, members, seen)
  const voting = new Set(members === 'unknown' ? [] : members.map(({ node }) => node))
  const nodes = [...names].map((name) =>
    withVote(observedNode(looker, surroundings, name, api, seen.get(name), further.passwords, further.pods), voting),
  )
  return {
    api,
    ...optional('silentEndpoint', silentEndpoint),
    ...optional('slowEndpoint', slowEndpoint),
    ...(secrets === undefined
      ? {}
      : {
          identity: {
            caHash: secrets.caHash,
            firstServer: secrets.firstServer,
            formed: secrets.formed,
            ...optional('unsure', secrets.unsure),
            recordedMs: secrets.recordedMs,
          },
        }),
    nodes,
    members,
    ...(strangers.length === 0 ? {} : { strangers }),
    membershipChanged: members !== 'unknown' && members.length > 1 ? 'yes' : 'unknown',
    snapshots: further.snapshots,
    ...triesIn(looker, further.snapshots),
    checks: [...memory.checks.values()],
    requests: surroundings.requests,
  }
}

interface Further {
  readonly passwords: ReadonlySet<string> | undefined
  readonly pods: ReadonlyMap<string, readonly unknown[]> | undefined
  readonly snapshots: ObservedCluster['snapshots']
}

async function askFurther(
  { deps, memory, declaration }: ObserveContext,
  client: KubernetesClient | undefined,
  secrets: ClusterSecrets | undefined,
  names: ReadonlySet<string>,
  seen: ReadonlyMap<string, ObservedKubeNode>,
  signal: AbortSignal,
): Promise<Further> {
  if (client === undefined || secrets === undefined)
    return { passwords: undefined, pods: undefined, snapshots: 'unknown' }
  const nowMs = deps.clock.now()
  const marked = [...seen.values()].filter(({ kube }) => kube.work !== undefined).map(({ name }) => name)
  const missing = [...names].some((name) => !seen.has(name))
  // During a rollout the newest snapshot decides whether it continues.
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
  return { passwords, pods, snapshots: withLocal(memory, snapshots) }
}

/** Adds snapshots on a node's disk that K3s has not listed yet. */
function withLocal(memory: SessionMemory, snapshots: ObservedCluster['snapshots']): ObservedCluster['snapshots'] {
  const local = [...memory.facts].flatMap(([node, { facts }]) => facts.snapshots.map((one) => ({ ...one, node })))
  if (snapshots === 'unknown') return snapshots
  const known = new Set(snapshots.map(({ name }) => name))
  return [
    ...snapshots,
    ...local
      .filter(({ name }) => !known.has(name))
      .map(({ name, node, atMs, bytes }) => ({ name, node, atMs, bytes, tokenKept: 'unknown' as const })),
  ]
}

/** Returns requested snapshots that have not appeared yet. */
function triesIn(
  { memory, deps }: ObserveContext,
  snapshots: ObservedCluster['snapshots'],
): Pick<ObservedCluster, 'snapshotTries'> {
  const factsOf = (node: string) => memory.facts.get(node)?.facts
  memory.snapshotTries = openTries(memory.snapshotTries, snapshots === 'unknown' ? [] : snapshots, factsOf)
  const steadyMs = deps.clock.monotonicMs()
  const tries = memory.snapshotTries.map((one) => tryNow(one, factsOf(one.node), steadyMs))
  return tries.length === 0 ? {} : { snapshotTries: tries }
}

interface JudgedMembers {
  readonly members: readonly EtcdMember[] | 'unknown'
  readonly strangers: readonly Stranger[]
}

function membersOf(
  { memory, deps, declaration }: ObserveContext,
  surroundings: ClusterSurroundings,
  secrets: ClusterSecrets | undefined,
  names: ReadonlySet<string>,
  { api, seen, answered, asked }: ClusterAnswers,
): JudgedMembers {
  // A machine that is neither declared nor a Node has another etcd: a drill's copy with the same CA and names. By its
  // list all servers would look foreign.
  const own = specsOf(declaration)
  const fresh = [...answered].flatMap((node) => {
    const facts = own.has(node) || seen.has(node) ? memory.facts.get(node)?.facts : undefined
    return facts === undefined ? [] : [{ node, facts }]
  })
  const { list, strangers } = judgeMembership(
    { ...optional('caHash', secrets?.caHash), voters: membersOfNodes([...seen.values()]).members.map(nodeOf) },
    fresh.flatMap(({ node, facts: { data, etcd } }) => (etcd === undefined ? [] : [{ node, data, etcd }])),
  )
  const unknown = { members: 'unknown', strangers } as const
  if (list !== undefined) memory.members = { list, readMs: deps.clock.now() }
  else if (answered.size > 0 || api !== 'yes') {
    // A node answered and its etcd did not: etcd's earlier answer proves nothing now.
    if (api !== 'yes') return unknown
    if (listIsStale(memory, seen)) memory.members = undefined
  }
  const mute = strangers.length === 0 && etcdIsMute(fresh.map(({ facts }) => facts))
  const known = memory.members?.list ?? (mute ? membersOfNodes([...seen.values()]) : undefined)
  if (known === undefined) return unknown
  const strange = new Set(strangers.map(({ node }) => node))
  const witnesses = new Map<string, Witness>(
    [...names].map((name) => [
      name,
      {
        machine: surroundings.nodes.get(name)?.machine ?? NOWHERE,
        seen: api === 'yes' ? (seen.get(name) ?? 'absent') : 'unknown',
        ...optional('facts', answered.has(name) ? memory.facts.get(name)?.facts : undefined),
        ...optional('silent', asked.has(name) && !answered.has(name) ? (true as const) : undefined),
        ...optional('stranger', strange.has(name) ? (true as const) : undefined),
      },
    ]),
  )
  return { members: judgeMembers(known, witnesses), strangers }
}

function nodeOf({ name }: { readonly name: string }): string {
  return nodeOfMember(name)
}

/** Returns voters by the address that others use: the declared one, or the Node's. */
function votersOf(
  declaration: ClusterDeclaration,
  members: readonly EtcdMember[] | 'unknown',
  seen: ReadonlyMap<string, ObservedKubeNode>,
): ReadonlyMap<string, string> {
  const specs = specsOf(declaration)
  const voters = members === 'unknown' ? [] : members.filter(({ learner, up }) => !learner && up === 'yes')
  return new Map(
    voters.flatMap(({ node }): [string, string][] => {
      const address = specs.get(node)?.nodeIps[0] ?? seen.get(node)?.kube.internalIps[0]
      return address === undefined ? [] : [[node, address]]
    }),
  )
}

/** Servers run and none reports its members: this release has no such list. Then K3s's annotations count. */
function etcdIsMute(
  facts: readonly { readonly role?: string; readonly service: string; readonly etcd?: unknown }[],
): boolean {
  const running = facts.filter(({ role, service }) => role === 'server' && service === 'running')
  return running.length > 0 && running.every(({ etcd }) => etcd === undefined)
}

function apiOf(asked: NodesAnswer): Pick<ClusterAnswers, 'api' | 'silentEndpoint' | 'slowEndpoint'> {
  if (asked.api !== 'yes') return { api: asked.api }
  const { api, silentEndpoint, slowEndpoint } = asked
  return { api, ...optional('silentEndpoint', silentEndpoint), ...optional('slowEndpoint', slowEndpoint) }
}

interface ClusterAnswers {
  readonly api: YesNoUnknown
  readonly silentEndpoint?: string
  readonly slowEndpoint?: NonNullable<ObservedCluster['slowEndpoint']>
  readonly seen: ReadonlyMap<string, ObservedKubeNode>
  readonly answered: AnsweringNodes
  /** All nodes that were asked. */
  readonly asked: ReadonlySet<string>
}

/** Asks the API and the nodes that must be asked, in as few rounds as possible. */
async function lookAround(
  { declaration, deps, access, memory }: ObserveContext,
  surroundings: ClusterSurroundings,
  secrets: ClusterSecrets | undefined,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ClusterAnswers> {
  const nowMs = deps.clock.now()
  const nobody: ReadonlyMap<string, ObservedKubeNode> = new Map()
  const all = new Set<string>()
  const ask = (list: Iterable<string>, seen: ReadonlyMap<string, ObservedKubeNode>) => {
    const wanted = [...list]
    for (const name of wanted) all.add(name)
    return observeNodes(wanted, surroundings, memory, seen, deps.clock, signal)
  }
  if (secrets === undefined || !secrets.formed) {
    // While K3s runs nowhere no API can answer: do not wait for it.
    const answered = await ask(names, nobody)
    const running = [...answered].some((name) => {
      const service = memory.facts.get(name)?.facts.service
      return service !== undefined && service !== 'absent'
    })
    if (secrets === undefined || !running) return { api: 'unknown', seen: nobody, answered, asked: all }
    const asked = await access.nodes(secrets, signal)
    return { ...apiOf(asked), seen: asked.api === 'yes' ? readNodes(asked.nodes) : nobody, answered, asked: all }
  }
  const moving = [...names].filter((name) => memory.facts.get(name) === undefined || memory.touched.has(name))
  const [asked, first] = await Promise.all([access.nodes(secrets, signal), ask(moving, nobody)])
  const seen = asked.api === 'yes' ? readNodes(asked.nodes) : nobody
  learnAddresses(access, declaration, seen)
  // Reports read in parallel with the API belong to the current Nodes.
  for (const name of first) refresh(memory, name, seen.get(name))
  const doubtful = [...names].filter((name) => !first.has(name) && !moving.includes(name))
  const servers = specsOf(declaration)
  // A Node stays Ready for most of a minute after its machine is gone. Before a server is stopped, the others must
  // answer now: one under work, or one without a Node, which a restart repairs.
  const working =
    [...seen.values()].some(({ kube }) => kube.work !== undefined) ||
    [...names].some((name) => servers.get(name)?.role === 'server' && !seen.has(name)) ||
    [...surroundings.nodes.values()].some(({ machine }) => machine.wantsRestart !== undefined)
  const again = doubtful.filter(
    (name) =>
      asked.api !== 'yes' ||
      !isSettled(name, memory, seen.get(name), servers.get(name)?.role, nowMs) ||
      (working && (servers.get(name)?.role ?? seen.get(name)?.role) === 'server'),
  )
  const second = await ask(again, seen)
  const answered = new Set([...first, ...second])
  if (tellsMembers(memory, answered, (name) => servers.has(name) || seen.has(name)) || asked.api !== 'yes')
    return { ...apiOf(asked), seen, answered, asked: all }
  // A joining or leaving server changes the list, and cannot report it: a learner does not answer.
  const moves = [...names].some(
    (name) =>
      (servers.get(name)?.role ?? seen.get(name)?.role) === 'server' &&
      !isSettled(name, memory, seen.get(name), servers.get(name)?.role, nowMs),
  )
  const third = moves || listIsStale(memory, seen) ? await askOneServer(ask, names, seen, answered) : []
  return { ...apiOf(asked), seen, answered: new Set([...answered, ...third]), asked: all }
}

function tellsMembers(memory: SessionMemory, answered: AnsweringNodes, own: (name: string) => boolean): boolean {
  return [...answered].some((name) => own(name) && memory.facts.get(name)?.facts.etcd !== undefined)
}

async function askOneServer(
  ask: (list: Iterable<string>, seen: ReadonlyMap<string, ObservedKubeNode>) => Promise<AnsweringNodes>,
  names: ReadonlySet<string>,
  seen: ReadonlyMap<string, ObservedKubeNode>,
  answered: AnsweringNodes,
): Promise<AnsweringNodes> {
  const candidates = [...seen.values()].filter(
    ({ name, role, kube }) => role === 'server' && kube.ready === 'yes' && names.has(name) && !answered.has(name),
  )
  for (const { name } of candidates.slice(0, 3)) {
    const got = await ask([name], seen)
    if (got.size > 0) return got
  }
  return new Set()
}

function readNodes(objects: readonly Parameters<typeof readNode>[0][]): ReadonlyMap<string, ObservedKubeNode> {
  return new Map(objects.flatMap((object) => readNode(object) ?? []).map((node) => [node.name, node]))
}

function learnAddresses(
  access: Access,
  { spec }: ClusterDeclaration,
  seen: ReadonlyMap<string, ObservedKubeNode>,
): void {
  if (seen.size === 0) return
  const declared = new Set(spec.servers.flatMap(({ nodeIps }) => nodeIps))
  const servers = [...seen.values()].filter(({ role }) => role === 'server')
  access.learn(servers.flatMap(({ kube }) => kube.internalIps.slice(0, 1)).filter((ip) => !declared.has(ip)))
}

function refresh(memory: SessionMemory, name: string, seen: ObservedKubeNode | undefined): void {
  const known = memory.facts.get(name)
  if (known !== undefined) memory.facts.set(name, { ...known, fingerprint: fingerprintOf(seen) })
}

/** The list of members is cached while the Nodes show the same members. */
function listIsStale(memory: SessionMemory, seen: ReadonlyMap<string, ObservedKubeNode>): boolean {
  const shown = [...seen.values()].flatMap(({ etcdName, voter }) =>
    etcdName === undefined || voter === 'not-a-member' ? [] : [etcdName],
  )
  const kept = memory.members?.list.members.map(({ name }) => name)
  return kept === undefined || [...kept].sort().join(' ') !== shown.sort().join(' ')
}
