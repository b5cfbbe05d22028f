import type { ClusterDeclaration } from '../../model/cluster-declaration.ts'
import type { ClusterSecrets } from '../../model/cluster-secrets.ts'
import type { YesNoUnknown } from '../../model/observed-cluster.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import type { Access } from './access.ts'
import { type Answered, fingerprintOf, isSettled, lookAtNodes } from './look-at-nodes.ts'
import { type Looker, specsOf } from './looker.ts'
import type { Memory } from './memory.ts'
import { type NodeSeen, readNode } from './read-node.ts'

export interface Looked {
  readonly api: YesNoUnknown
  readonly seen: ReadonlyMap<string, NodeSeen>
  readonly answered: Answered
  /** Everybody who was asked. */
  readonly asked: ReadonlySet<string>
}

/** Asks the API and those nodes that must be asked, in as few rounds as can be. */
export async function lookAround(
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
      !isSettled(name, memory, seen.get(name), servers.get(name)?.role, nowMs) ||
      (working && (servers.get(name)?.role ?? seen.get(name)?.role) === 'server'),
  )
  const second = await ask(again, seen)
  const answered = new Set([...first, ...second])
  if (tellsMembers(memory, answered, (name) => servers.has(name) || seen.has(name)) || asked.api !== 'yes')
    return { api: asked.api, seen, answered, asked: all }
  // A server on its way in or out changes the list, and cannot tell it itself: a learner does not answer.
  const moves = [...names].some(
    (name) =>
      (servers.get(name)?.role ?? seen.get(name)?.role) === 'server' &&
      !isSettled(name, memory, seen.get(name), servers.get(name)?.role, nowMs),
  )
  const third = moves || listIsStale(memory, seen) ? await askOneServer(ask, names, seen, answered) : []
  return { api: asked.api, seen, answered: new Set([...answered, ...third]), asked: all }
}

function tellsMembers(memory: Memory, answered: Answered, own: (name: string) => boolean): boolean {
  return [...answered].some((name) => own(name) && memory.facts.get(name)?.facts.etcd !== undefined)
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

/** The list of members is kept while the Nodes show the same members; else a server is asked for it. */
export function listIsStale(memory: Memory, seen: ReadonlyMap<string, NodeSeen>): boolean {
  const shown = [...seen.values()].flatMap(({ etcdName, voter }) =>
    etcdName === undefined || voter === 'not-a-member' ? [] : [etcdName],
  )
  const kept = memory.members?.list.members.map(({ name }) => name)
  return kept === undefined || [...kept].sort().join(' ') !== shown.sort().join(' ')
}
