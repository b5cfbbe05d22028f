import { nodeOfMember } from '../../k3s/membership.ts'
import type { KubeNode, LocalK3s, ObservedNode, YesNoUnknown } from '../../model/observed-cluster.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import { openJoins } from './join-tries.ts'
import { NOWHERE, noteReadiness, type ObserveContext, type SessionMemory, specsOf } from './memory.ts'
import { type ObservedKubeNode, optional } from './read-node.ts'
import { steadyTime } from './steady-times.ts'

/** Merges the reports about one node: by its machine, by the API and by itself. */
export function observedNode(
  context: ObserveContext,
  surroundings: ClusterSurroundings,
  name: string,
  api: YesNoUnknown,
  seen: ObservedKubeNode | undefined,
  passwords: ReadonlySet<string> | undefined,
  pods: ReadonlyMap<string, readonly unknown[]> | undefined,
): ObservedNode {
  const { declaration, memory, deps } = context
  const spec = specsOf(declaration).get(name)
  const machine = surroundings.nodes.get(name)?.machine ?? NOWHERE
  const facts = memory.facts.get(name)?.facts
  const machineId = facts?.machineId || machine.machineId || seen?.machineId
  const kube = api !== 'yes' ? 'unknown' : seen === undefined ? 'absent' : kubeOf()
  const begun = surroundings.remediations.get(name)
  const unheard = facts === undefined ? memory.heard.get(name) : undefined

  if (typeof kube === 'object' && kube.ready === 'yes' && kube.work === undefined) memory.tried.delete(name)
  if (typeof kube === 'object') memory.joins.delete(name)
  const joins = spec === undefined || facts === undefined ? undefined : openJoins(context, spec, facts)

  function kubeOf(): KubeNode {
    const { kube: said } = seen as ObservedKubeNode
    const node = steadied(said)
    const list = pods?.get(name)
    const blocked = memory.drainBlockedBy.get(name)
    return {
      ...node,
      readyChanges: noteReadiness(memory, name, said.readySinceMs, deps.clock.now()),
      podsToMove: node.work === undefined || list === undefined ? 'unknown' : list.length,
      ...optional('drainBlockedBy', node.work === undefined ? undefined : blocked),
      ...optional('configHash', runningHash(node, facts)),
    }
  }

  function program(said: Facts): Pick<LocalK3s, 'fetched' | 'notFetched'> {
    const refused = memory.notFetched.get(name)
    const untold = refused && { ...refused, ageMs: deps.clock.monotonicMs() - refused.atMs }
    return {
      ...optional('fetched', said.fetched),
      ...optional('notFetched', untold ?? failedInstall(said, deps.clock.now())),
    }
  }

  function steadied(node: KubeNode): KubeNode {
    const steady = (what: string, atMs: number) => steadyTime(memory.times, `${name} ${what}`, atMs, deps.clock)
    const { changedMs, work } = node
    return {
      ...node,
      readySinceMs: steady('ready', node.readySinceMs),
      ...(changedMs === undefined ? {} : { changedMs: steady('changed', changedMs) }),
      ...(work === undefined
        ? {}
        : {
            work: {
              ...work,
              sinceMs: steady('work', work.sinceMs),
              ...(work.changedMs === undefined ? {} : { changedMs: steady('changed', work.changedMs) }),
            },
          }),
    }
  }

  return {
    name,
    role: spec?.role ?? facts?.role ?? seen?.role ?? 'agent',
    machine: {
      ...machine,
      // A box has no hypervisor: if it answered, it is on.
      power: machine.power === 'unknown' && facts !== undefined ? 'on' : machine.power,
      ...optional('machineId', machineId),
      ...optional('busy', machine.busy ?? bootingOf(facts, kube)),
    },
    kube,
    k3s:
      facts === undefined
        ? 'unknown'
        : { ...localOf(facts, typeof kube === 'object' ? kube : undefined), ...program(facts) },
    ...optional('unheardMs', unheard === undefined ? undefined : deps.clock.monotonicMs() - unheard),
    ...optional('silence', memory.silences.get(name)),
    ...optional('refuses', memory.refusals.get(name)),
    ...(memory.tokens.has(name) ? { joinToken: true as const } : {}),
    passwordSecret: passwords === undefined ? 'unknown' : passwords.has(name) ? 'yes' : 'no',
    ...optional('remediation', begun),
    ...optional('tried', memory.tried.get(name)),
    ...optional('joins', joins),
  }
}

/**
 * Treats a node with a vote as a server, regardless of its Node: K3s labels a Node some seconds after it is Ready.
 * Until then an undeclared server would look like an agent and be removed without regard for the quorum.
 */
export function withVote(node: ObservedNode, voting: ReadonlySet<string>): ObservedNode {
  return voting.has(node.name) && node.role !== 'server' ? { ...node, role: 'server' } : node
}

/** Delays work on a machine until its cloud-init ends: both would write the same files. */
function bootingOf(facts: Facts | undefined, kube: ObservedNode['kube']): string | undefined {
  return facts?.cloudInit === 'running' && typeof kube !== 'object' ? 'cloud-init to end' : undefined
}

type Facts = NonNullable<ReturnType<SessionMemory['facts']['get']>>['facts']

/**
 * Returns the declared configuration that a node runs with. The file on its disk proves it if it predates K3s's last
 * start. Otherwise, or for a foreign file, the annotation decides.
 */
function runningHash(kube: KubeNode, facts: Facts | undefined): string | undefined {
  if (facts?.configHash === undefined || facts.service !== 'running') return kube.configHash
  const begun = kube.work?.changedMs
  const startedSince = begun === undefined || facts.serviceSinceMs >= begun - 1000
  return startedSince ? facts.configHash : kube.configHash
}

function localOf(facts: Facts, kube: KubeNode | undefined): LocalK3s {
  const changedMs = kube?.work?.changedMs
  // Some versions of systemd report whole seconds: a start in the same second came after our call.
  const sinceMs =
    changedMs !== undefined && facts.serviceSinceMs < changedMs && changedMs - facts.serviceSinceMs < 1000
      ? changedMs
      : facts.serviceSinceMs
  // The file was replaced and the old program still runs: the Node has its version.
  const old = facts.service === 'running' && changedMs !== undefined && sinceMs < changedMs
  const version = old ? kube?.version : facts.version
  return {
    service: facts.service,
    sinceMs,
    data: facts.data,
    mixedCa: facts.mixedCa,
    configured: facts.configHash !== undefined,
    ...optional('certificatesEndMs', firstEnd(facts.certificatesEnd ?? [])),
    ...optional('version', version),
    ...optional('failure', facts.failure ?? gateFailure(facts)),
    ...optional('role', facts.role),
    ...optional('wipes', facts.wipes),
    ...optional('files', facts.files),
    ...optional('heldBy', facts.heldBy),
    ...optional('configHash', facts.configHash),
    ...optional('begins', facts.begins),
    ...optional('away', facts.away),
    ...optional('full', facts.full),
    ...optional('datastore', facts.datastore),
    ...optional('etcd', facts.etcd === undefined ? undefined : votersIn(facts.etcd)),
  }
}

/** Returns the release whose last installation failed, as the node's program reports it. */
function failedInstall({ job }: Facts, nowMs: number): LocalK3s['notFetched'] {
  if (job?.name !== 'install' || job.state !== 'failed') return undefined
  const said = /^K3s (v\S+): (.*)$/.exec(job.message ?? '')
  if (said?.[1] === undefined || said[2] === undefined) return undefined
  return { version: said[1], why: said[2], ageMs: nowMs - job.sinceMs }
}

function firstEnd(texts: readonly string[]): number | undefined {
  const ends = texts.map((text) => Date.parse(text)).filter((ms) => Number.isFinite(ms))
  return ends.length === 0 ? undefined : Math.min(...ends)
}

function votersIn({ members, self, bytes, answerMs }: NonNullable<Facts['etcd']>): NonNullable<LocalK3s['etcd']> {
  return {
    voters: members.filter(({ learner }) => !learner).map(({ id, name }) => ({ id, node: nodeOfMember(name) })),
    ...optional('self', self),
    ...optional('bytes', bytes),
    ...optional('answerMs', answerMs),
  }
}

function gateFailure({ gates, job }: Facts): string | undefined {
  if (job?.state === 'failed') return `${job.name}: ${job.message ?? 'failed'}`
  const [gate] = gates
  return gate === undefined ? undefined : `waits at the gate ${gate.name}: ${gate.message}`
}
