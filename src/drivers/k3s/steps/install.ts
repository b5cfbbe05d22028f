import {
  type Architecture,
  architectureOf,
  checksumIn,
  checksumSources,
  isRelease,
  programSources,
} from '../../../k3s/artifacts.ts'
import type { InstallOrder, NodeFacts } from '../../../k3s/node-program.ts'
import { cleanText } from '../../../lib/clean-text.ts'
import { LIMITS } from '../../../lib/limits.ts'
import type { Shell } from '../../../lib/shell.ts'
import type { ClusterDeclaration } from '../../../model/cluster-declaration.ts'
import type { Outcome } from '../../../model/verdict.ts'
import type { ClusterDeps } from '../../cluster-port.ts'
import { type Actor, nodeName, refused } from '../actor.ts'
import { command, outcomeOf } from '../node-lane.ts'

/**
 * Undefined when exactly this release is on the node. Else the install is begun, or found under way, and the step ends
 * here: the next look sees how far it is, and the same step goes on.
 */
export async function installed(
  actor: Actor,
  shell: Shell,
  facts: NodeFacts,
  version: string,
): Promise<Outcome | undefined> {
  const name = nodeName(actor)
  const job = facts.job?.name === 'install' ? facts.job : undefined
  if (job?.state === 'running') return { result: 'started', taskId: `install@${name}` }
  if (facts.version === version) return undefined
  if (job?.state === 'failed' && facts.clockMs - job.sinceMs < LIMITS.installAgainMs) {
    const message = `K3s ${version} could not be installed on ${name}: ${job.message ?? 'no reason given'}`
    return refused('InstallFailed', /checksum/i.test(message) ? 'stalled' : 'backoff', message)
  }
  const order = await installOrder(actor, facts, version)
  if ('result' in order) return order
  const told = await command(shell, 'install', actor.signal, { input: order })
  if (told.is !== 'answer') return outcomeOf(told, `install K3s ${version} on ${name}`)
  return { result: 'started', taskId: `install@${name}` }
}

async function installOrder(actor: Actor, facts: NodeFacts, version: string): Promise<InstallOrder | Outcome> {
  const { declaration, deps, signal } = actor
  const name = nodeName(actor)
  const architecture = architectureOf(facts.architecture)
  if (!isRelease(version)) return refused('Invalid', 'stalled', `${cleanText(version, 64)} is no release of K3s`)
  if (architecture === undefined) {
    return refused('Invalid', 'stalled', `there is no K3s for ${facts.architecture}, which ${name} is`)
  }
  const from = programSources(declaration.artifacts, version, architecture)
  const found = await findChecksum(declaration, deps, version, architecture, signal)
  return 'sha256' in found ? { version, from, sha256: found.sha256 } : refused('NoChecksum', 'backoff', found.problem)
}

/** The checksum that is declared, or the one that lies beside a release. */
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
  for (const url of checksumSources(declaration.artifacts, version, architecture)) {
    try {
      const text = await deps.fetchText?.(url, signal)
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
