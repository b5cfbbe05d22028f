import { cleanText } from '../../lib/clean-text.ts'
import { ShellFailure } from '../../lib/shell.ts'
import type { OperationStep } from '../../model/cluster-operation.ts'
import type { ClusterSurroundings, Reached } from '../cluster-port.ts'
import type { Looker } from './looker.ts'
import { askFacts } from './node-lane.ts'
import { observeCluster } from './observe.ts'

/** systemd tells whole seconds on some machines. */
const WHOLE_SECOND_MS = 1_000

const NO: Reached = { is: 'no' }
const YES: Reached = { is: 'yes' }

/** Has come about what a step of an operation waits for? Exit codes prove nothing: it is looked at. */
export async function goalReached(
  looker: Looker,
  step: OperationStep,
  surroundings: ClusterSurroundings,
  signal: AbortSignal,
  /** When K3s was told to start there: what is seen from before is the process that was to end. */
  startedMs?: number,
): Promise<Reached> {
  if (step.do === 'compare-objects') return objectsOf(step, surroundings, signal)
  switch (step.until ?? 'nothing') {
    case 'nothing':
      return YES
    case 'stopped':
    case 'job-done':
      return ofNode(step, surroundings, signal)
    case 'api-answers': {
      const secrets = await looker.deps.vault.read(looker.declaration.name)
      const asked = secrets === undefined ? undefined : await looker.access.nodes(secrets, signal)
      return asked?.api === 'yes' ? YES : NO
    }
    case 'node-well': {
      if (step.node !== undefined) looker.memory.touched.add(step.node)
      return isWell(step.node ?? '', await observeCluster(looker, surroundings, signal), startedMs)
    }
  }
}

async function ofNode(step: OperationStep, { nodes }: ClusterSurroundings, signal: AbortSignal): Promise<Reached> {
  const shell = nodes.get(step.node ?? '')?.shell
  const told = shell === undefined ? undefined : await askFacts(shell, signal)
  if (told?.is !== 'answer') return NO
  const { service, job } = told.value
  if (step.until === 'stopped') return service === 'running' || service === 'starting' ? NO : YES
  if (job === undefined || job.state === 'running') return NO
  return job.state === 'done' ? YES : { is: 'failed', message: `${job.name}: ${job.message ?? 'no reason given'}` }
}

function isWell(
  name: string,
  { nodes, members, api }: Awaited<ReturnType<typeof observeCluster>>,
  startedMs: number | undefined,
): Reached {
  const node = nodes.find((one) => one.name === name)
  if (api !== 'yes' || members === 'unknown' || typeof node?.kube !== 'object' || node.kube.ready !== 'yes') return NO
  if (node.k3s !== 'unknown' && node.k3s.service !== 'running') return NO
  // Its Node says Ready for most of a minute after it is down, and systemd `active` until it has begun to stop.
  if (startedMs !== undefined && (node.k3s === 'unknown' || node.k3s.sinceMs < startedMs - WHOLE_SECOND_MS)) return NO
  if (node.role === 'agent') return YES
  const voters = members.filter((member) => member.node === name)
  return voters.some(({ learner, up }) => !learner && up === 'yes') ? YES : NO
}

/** What the restored copy holds, asked on the node itself. */
async function objectsOf(step: OperationStep, { nodes }: ClusterSurroundings, signal: AbortSignal): Promise<Reached> {
  const shell = nodes.get(step.node ?? '')?.shell
  if (shell === undefined) return NO
  try {
    const count = async (path: string): Promise<number | undefined> => {
      const ran = await shell.run(['/usr/local/bin/k3s', 'kubectl', 'get', '--raw', path], { signal })
      if (ran.code !== 0) return undefined
      const items: unknown = (JSON.parse(ran.stdout) as { items?: unknown }).items
      return Array.isArray(items) ? items.length : undefined
    }
    const [found, spaces] = [await count('/api/v1/nodes'), await count('/api/v1/namespaces')]
    if (found === undefined || spaces === undefined) return NO
    if (found === 0) return { is: 'failed', message: 'the copy answers, and holds no Node: it is empty' }
    return { is: 'yes', said: `the copy answers with ${found} Nodes and ${spaces} namespaces` }
  } catch (error) {
    if (error instanceof ShellFailure || error instanceof SyntaxError) return NO
    return { is: 'failed', message: cleanText(error instanceof Error ? error.message : String(error)) }
  }
}
