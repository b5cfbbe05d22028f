import type { NodeFacts } from '../../k3s/node-program.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import type { SessionMemory } from './memory.ts'
import { askFacts, askFactsOnly, hasProgram } from './node-lane.ts'
import type { ObservedKubeNode } from './read-node.ts'

/** Names of the nodes that answered in this look. */
export type AnsweringNodes = ReadonlySet<string>

/**
 * Asks nodes over their shells, side by side. One that does not answer is forgotten: what it said earlier proves
 * nothing about now.
 */
export async function observeNodes(
  names: Iterable<string>,
  { nodes }: ClusterSurroundings,
  memory: SessionMemory,
  seen: ReadonlyMap<string, ObservedKubeNode>,
  clock: Clock,
  signal: AbortSignal,
): Promise<AnsweringNodes> {
  const answered = new Set<string>()
  await inParallel([...new Set(names)], LIMITS.nodesAskedAtOnce, async (name) => {
    const shell = nodes.get(name)?.shell
    memory.facts.delete(name)
    memory.silences.delete(name)
    memory.refusals.delete(name)
    if (shell === undefined) return
    // A look writes nothing: where our program is not, it goes along with the question.
    if (!memory.programs.has(name) && (await hasProgram(shell, signal))) memory.programs.add(name)
    const reply = await (memory.programs.has(name) ? askFacts : askFactsOnly)(shell, signal)
    if (reply.is !== 'answer') {
      // The machine may have been replaced, without our program on it.
      memory.programs.delete(name)
      memory.silences.set(name, reply.is === 'silence' ? reply.message : reply.error)
      if (reply.is === 'silence' && (reply.code === 'host-key' || reply.code === 'denied'))
        memory.refusals.set(name, { by: reply.code, why: reply.message })
      return
    }
    const readMs = clock.now()
    memory.heard.set(name, clock.monotonicMs())
    memory.facts.set(name, {
      facts: onOurClock(reply.value, readMs),
      readMs,
      fingerprint: fingerprintOf(seen.get(name)),
    })
    // What a job leads to is seen in the facts.
    if (reply.value.job?.state !== 'running') memory.touched.delete(name)
    answered.add(name)
  })
  return answered
}

/**
 * Must this node be asked? A settled one only every few minutes: it runs, its Node is Ready and the same as when it was
 * last asked, and we have not touched it since. A server votes before it is settled: its Node is Ready a moment before
 * K3s writes on it that it is one, so the declared role comes first.
 */
export function isSettled(
  name: string,
  memory: SessionMemory,
  seen: ObservedKubeNode | undefined,
  declared: ObservedKubeNode['role'] | undefined,
  nowMs: number,
): boolean {
  const known = memory.facts.get(name)
  if (known === undefined || seen === undefined || memory.touched.has(name)) return false
  if (nowMs - known.readMs >= LIMITS.nodeFactsMs || known.fingerprint !== fingerprintOf(seen)) return false
  // A disk without room is looked at until it has some.
  if ((known.facts.full ?? []).length > 0) return false
  const { kube, voter } = seen
  if (kube.ready !== 'yes' || kube.work !== undefined || known.facts.service !== 'running') return false
  return (declared ?? seen.role) === 'agent' || voter === 'voter'
}

/** What of a Node, when it changes, makes it worth asking the node itself. */
export function fingerprintOf(seen: ObservedKubeNode | undefined): string {
  if (seen === undefined) return ''
  const { kube, etcdName, voter } = seen
  return [kube.createdMs, kube.ready, kube.readySinceMs, kube.version, kube.configHash, etcdName, voter].join(' ')
}

/** Clocks of nodes differ. Every time that a node tells is moved by the difference, so that it can be compared. */
function onOurClock(facts: NodeFacts, nowMs: number): NodeFacts {
  const byMs = facts.clockMs === 0 ? 0 : nowMs - facts.clockMs
  const move = (ms: number) => (ms === 0 ? 0 : ms + byMs)
  return {
    ...facts,
    serviceSinceMs: move(facts.serviceSinceMs),
    gates: facts.gates.map((gate) => ({ ...gate, sinceMs: move(gate.sinceMs) })),
    snapshots: facts.snapshots.map((snapshot) => ({ ...snapshot, atMs: move(snapshot.atMs) })),
    ...(facts.job === undefined ? {} : { job: { ...facts.job, sinceMs: move(facts.job.sinceMs) } }),
  }
}
