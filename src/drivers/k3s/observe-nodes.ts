import type { NodeFacts } from '../../k3s/node-program.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import type { SessionMemory } from './memory.ts'
import { askFacts, askFactsOnly, hasProgram } from './node-lane.ts'
import type { ObservedKubeNode } from './read-node.ts'

/** Names of the nodes that answered in this observation. */
export type AnsweringNodes = ReadonlySet<string>

/**
 * Asks nodes over their shells in parallel. Drops the report of one that does not answer: it proves nothing about now.
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
    // Observing writes nothing: if our program is missing, it is sent with the request.
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
    // The facts show the job's result.
    if (reply.value.job?.state !== 'running') memory.touched.delete(name)
    answered.add(name)
  })
  return answered
}

/**
 * Reports whether a node need not be asked: a settled one is asked only every few minutes. It runs, its Node is Ready
 * and unchanged since it was asked, and croft has not changed it. A server must also vote: its Node is Ready a moment
 * before K3s labels it, so the declared role decides.
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
  // A full disk is observed until it has space.
  if ((known.facts.full ?? []).length > 0) return false
  const { kube, voter } = seen
  if (kube.ready !== 'yes' || kube.work !== undefined || known.facts.service !== 'running') return false
  return (declared ?? seen.role) === 'agent' || voter === 'voter'
}

/** Returns the parts of a Node whose change makes it worth asking the node itself. */
export function fingerprintOf(seen: ObservedKubeNode | undefined): string {
  if (seen === undefined) return ''
  const { kube, etcdName, voter } = seen
  return [kube.createdMs, kube.ready, kube.readySinceMs, kube.version, kube.configHash, etcdName, voter].join(' ')
}

/** Converts a node's times to croft's clock, so that they can be compared. */
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
