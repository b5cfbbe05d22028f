import {
  type Architecture,
  architectureOf,
  checksumIn,
  checksumSources,
  isRelease,
  programSources,
} from '../../../k3s/artifacts.ts'
import type { InstallInput, NodeFacts } from '../../../k3s/node-program.ts'
import { snapshotName } from '../../../k3s/snapshot-name.ts'
import { cleanText } from '../../../lib/clean-text.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { egressFromHere, permitPlace } from '../../../lib/outgoing.ts'
import type { Shell } from '../../../lib/shell.ts'
import type { ClusterDeclaration } from '../../../model/estate.ts'
import type { Outcome } from '../../../model/step.ts'
import type { ClusterDeps } from '../../cluster-port.ts'
import { command, DONE, nodeName, outcomeOf, refused, type StepContext, withFacts, withShell } from '../node-lane.ts'
import { withTry } from '../snapshot-tries.ts'
import { presentSecrets, readyToken } from './present-token.ts'

export async function stopK3s(actor: StepContext): Promise<Outcome> {
  return withShell(actor, async (shell) => {
    const reply = await command(shell, 'stop', actor.signal)
    return reply.is === 'answer' ? DONE : outcomeOf(reply, `stop K3s on ${nodeName(actor)}`)
  })
}

export async function restartK3s(actor: StepContext): Promise<Outcome> {
  return withShell(actor, async (shell) => {
    const name = nodeName(actor)
    const token = await readyToken(actor, shell, actor.memory.facts.get(name)?.facts)
    if (token !== undefined) return token
    const reply = await command(shell, 'restart', actor.signal)
    return reply.is === 'answer' ? DONE : outcomeOf(reply, `start K3s on ${name}`)
  })
}

/** Removes K3s, its data and its password. Takes a while; the facts show its end. */
export async function wipeK3s(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const name = nodeName(actor)
    if (facts.job?.name === 'wipe' && facts.job.state === 'running')
      return { result: 'started', taskId: `wipe@${name}` }
    if (facts.data === 'none' && facts.service === 'absent') return DONE
    const reply = await command(shell, 'wipe', actor.signal)
    return reply.is === 'answer'
      ? { result: 'started', taskId: `wipe@${name}` }
      : outcomeOf(reply, `wipe K3s on ${name}`)
  })
}

/**
 * Wipes a node only if K3s is stopped at this moment. A running one may hold a vote in a living cluster: a person must
 * stop it first.
 */
export async function wipeStopped(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (_shell, facts) => {
    const wiping = facts.job?.name === 'wipe' && facts.job.state === 'running'
    const still = facts.service === 'absent' || facts.service === 'stopped' || facts.service === 'failed'
    if (!wiping && !still && facts.data !== 'none') {
      const held = facts.heldBy === undefined ? '' : ` (${facts.heldBy})`
      const message = `K3s runs on ${nodeName(actor)}${held}: croft wipes no node that may be a member of a living cluster`
      return refused('Running', 'stalled', message)
    }
    return wipeK3s(actor)
  })
}

/** Takes a snapshot of etcd on one server, stored as configured there. */
export async function snapshot(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const name = nodeName(actor)
    actor.memory.snapshots = undefined
    if (facts.job?.name === 'snapshot' && facts.job.state === 'running') {
      return { result: 'started', taskId: `snapshot@${name}` }
    }
    // A snapshot uses the current token: without a record of it, the snapshot would be useless.
    if (actor.secrets !== undefined) await presentSecrets(actor, actor.secrets)
    const { clock } = actor.deps
    const argument = snapshotName(clock.now())
    const reply = await command(shell, 'snapshot', actor.signal, { argument })
    if (reply.is !== 'answer') return outcomeOf(reply, `take a snapshot on ${name}`)
    const before = actor.memory.facts.get(name)?.facts ?? facts
    actor.memory.snapshotTries = withTry(actor.memory.snapshotTries, {
      name: argument,
      node: name,
      atMs: clock.monotonicMs(),
      before,
    })
    return { result: 'started', taskId: `snapshot@${name}` }
  })
}

/**
 * Returns undefined if exactly this release is installed. Otherwise starts the installation, or finds it running, and
 * ends the step: the next pass observes its progress and repeats the step.
 */
export async function installed(
  actor: StepContext,
  shell: Shell,
  facts: NodeFacts,
  version: string,
  place: 'in-place' | 'beside' = 'in-place',
): Promise<Outcome | undefined> {
  const name = nodeName(actor)
  const job = facts.job?.name === 'install' ? facts.job : undefined
  if (job?.state === 'running') return { result: 'started', taskId: `install@${name}` }
  if (facts.version === version || (place === 'beside' && facts.fetched === version)) return undefined
  if (job?.state === 'failed' && facts.clockMs - job.sinceMs < LIMITS.installAgainMs) {
    const why = (job.message ?? 'no reason given').replace(`K3s ${version}: `, '')
    const message = `K3s ${version} could not be installed on ${name}: ${why}`
    return refused('InstallFailed', /checksum/i.test(message) ? 'stalled' : 'backoff', message)
  }
  const input = await installInput(actor, facts, version)
  if ('result' in input) return input
  const order: InstallInput = place === 'beside' ? { ...input, beside: true } : input
  const reply = await command(shell, 'install', actor.signal, { input: order })
  if (reply.is !== 'answer') return outcomeOf(reply, `install K3s ${version} on ${name}`)
  return { result: 'started', taskId: `install@${name}` }
}

/** Returns the source and checksum for an installation of this release, or why they are unknown. */
export async function installInput(
  actor: StepContext,
  facts: NodeFacts,
  version: string,
): Promise<InstallInput | Outcome> {
  const { declaration, deps, signal } = actor
  const name = nodeName(actor)
  const architecture = architectureOf(facts.architecture)
  if (!isRelease(version)) return refused('Invalid', 'stalled', `${cleanText(version, 64)} is not a release of K3s`)
  if (architecture === undefined) {
    return refused('Invalid', 'stalled', `there is no K3s for ${facts.architecture}, which ${name} is`)
  }
  const from = programSources(declaration.artifacts, version, architecture)
  const found = await findChecksum(declaration, deps, version, architecture, signal)
  return 'sha256' in found ? { version, from, sha256: found.sha256 } : refused('NoChecksum', 'backoff', found.problem)
}

/** Returns the declared checksum, or the one beside a release. */
export async function findChecksum(
  declaration: ClusterDeclaration,
  deps: ClusterDeps,
  version: string,
  architecture: Architecture,
  signal: AbortSignal,
): Promise<{ readonly sha256: string } | { readonly problem: string }> {
  const declared = declaration.checksums?.[`${version}/${architecture}`]
  if (declared !== undefined) return { sha256: declared }
  const tried: string[] = []
  for (const { url, declared: named } of checksumSources(declaration.artifacts, version, architecture)) {
    try {
      // croft itself chose the official releases, so no grant lists them.
      const text = await deps.fetchText?.(
        permitPlace(url, egressFromHere(named ? declaration.egress : undefined)),
        signal,
      )
      const sha256 = text === undefined ? undefined : checksumIn(text, architecture)
      if (sha256 !== undefined) return { sha256 }
      tried.push(url)
    } catch (error) {
      tried.push(`${url} (${cleanText(error instanceof Error ? error.message : String(error), 200)})`)
    }
  }
  const where = tried.length === 0 ? '' : `; tried ${tried.join(', ')}`
  return {
    problem: `no checksum of K3s ${version} for ${architecture} was found${where}; without one nothing is installed: declare it in spec.checksums of the Cluster, as ${version}/${architecture}`,
  }
}
