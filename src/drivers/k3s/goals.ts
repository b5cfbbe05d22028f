import { cleanText } from '../../lib/clean-text.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { Step } from '../../model/step.ts'
import type { ClusterSurroundings, OperationProgress } from '../cluster-port.ts'
import type { ObserveContext } from './memory.ts'
import { askFacts } from './node-lane.ts'
import { observeCluster } from './observe.ts'

/** Some versions of systemd report whole seconds. */
const WHOLE_SECOND_MS = 1_000

const NO: OperationProgress = { is: 'no' }
const YES: OperationProgress = { is: 'yes' }

/** Reports whether a step's goal is reached. Exit codes prove nothing: it observes. */
export async function goalReached(
  looker: ObserveContext,
  step: Step<'operation'>,
  surroundings: ClusterSurroundings,
  signal: AbortSignal,
  /** When K3s was ordered to start: an earlier state belongs to the old process. */
  startedMs?: number,
): Promise<OperationProgress> {
  if (step.verb === 'compare-objects') return objectsOf(step, surroundings, signal)
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
      if (step.verb === 'renew-certificates') {
        const job = await ofNode(step, surroundings, signal)
        if (job.is !== 'yes') return job
      }
      if (step.node !== undefined) looker.memory.touched.add(step.node)
      const observed = await observeCluster(looker, surroundings, signal)
      const reached = isWell(step.node ?? '', observed, startedMs)
      return reached.is === 'no' ? withFailure(step.node ?? '', observed) : reached
    }
  }
}

async function ofNode(
  step: Step<'operation'>,
  { nodes }: ClusterSurroundings,
  signal: AbortSignal,
): Promise<OperationProgress> {
  const shell = nodes.get(step.node ?? '')?.shell
  const reply = shell === undefined ? undefined : await askFacts(shell, signal)
  if (reply?.is !== 'answer') return NO
  const { service, job } = reply.value
  if (step.until === 'stopped') return ['absent', 'stopped', 'failed'].includes(service) ? YES : NO
  if (job === undefined || job.state === 'running') return NO
  return job.state === 'done' ? YES : { is: 'failed', message: `${job.name}: ${job.message ?? 'no reason given'}` }
}

/** Not yet, with K3s's fatal error if there is one. */
function withFailure(name: string, { nodes }: Awaited<ReturnType<typeof observeCluster>>): OperationProgress {
  const k3s = nodes.find((node) => node.name === name)?.k3s
  return typeof k3s === 'object' && k3s.failure !== undefined ? { is: 'no', message: k3s.failure } : NO
}

function isWell(
  name: string,
  { nodes, members, api }: Awaited<ReturnType<typeof observeCluster>>,
  startedMs: number | undefined,
): OperationProgress {
  const node = nodes.find((one) => one.name === name)
  if (api !== 'yes' || members === 'unknown' || typeof node?.kube !== 'object' || node.kube.ready !== 'yes') return NO
  if (node.k3s !== 'unknown' && node.k3s.service !== 'running') return NO
  // A stopped server's Node stays Ready for most of a minute, and systemd's unit `active` until it starts to stop.
  if (startedMs !== undefined && (node.k3s === 'unknown' || node.k3s.sinceMs < startedMs - WHOLE_SECOND_MS)) return NO
  if (node.role === 'agent') return YES
  const voters = members.filter((member) => member.node === name)
  return voters.some(({ learner, up }) => !learner && up === 'yes') ? YES : NO
}

/** Counts the objects of the restored copy on the node itself. No content of a Secret leaves it. */
async function objectsOf(
  step: Step<'operation'>,
  { nodes }: ClusterSurroundings,
  signal: AbortSignal,
): Promise<OperationProgress> {
  const shell = nodes.get(step.node ?? '')?.shell
  if (shell === undefined) return NO
  const kubectl = async (...words: readonly string[]): Promise<string> => {
    const ran = await shell.run(['/usr/local/bin/k3s', 'kubectl', 'get', ...words], { signal })
    if (ran.code !== 0) throw new NoAnswer(cleanText(ran.stderr.trim(), 500))
    return ran.stdout
  }
  const count = async (path: string): Promise<number> => {
    const items: unknown = (JSON.parse(await kubectl('--raw', path)) as { items?: unknown }).items
    return Array.isArray(items) ? items.length : 0
  }
  try {
    const [found, spaces] = [await count('/api/v1/nodes'), await count('/api/v1/namespaces')]
    if (found === 0) return { is: 'failed', message: 'the copy answers, and holds no Node: it is empty' }
    const types = await kubectl('secrets', '--all-namespaces', '--no-headers', '-o', 'custom-columns=TYPE:.type')
    return {
      is: 'yes',
      said: provedBy(
        found,
        spaces,
        types.split('\n').filter((type) => type.trim() !== ''),
      ),
    }
  } catch (error) {
    const message = cleanText(error instanceof Error ? error.message : String(error))
    // It answers and cannot read its data: waiting does not help.
    if (error instanceof NoAnswer && /InternalError|unable to transform/.test(message)) return { is: 'failed', message }
    if (error instanceof NoAnswer) return (await deadOf(shell, signal)) ?? { is: 'no', message }
    if (error instanceof ShellFailure || error instanceof SyntaxError) return { is: 'no', message }
    return { is: 'failed', message }
  }
}

class NoAnswer extends Error {}

function provedBy(nodes: number, spaces: number, types: readonly string[]): string {
  const kinds = [...new Set(types.map((type) => type.trim()))].sort()
  const secrets = `${types.length} Secrets were read, of the kinds ${kinds.join(', ')}`
  return `the copy answers with ${nodes} Nodes and ${spaces} namespaces; ${types.length === 0 ? 'it holds no Secret' : secrets}; not proved: that pods start, and what volumes hold`
}

/** Returns the last output of a K3s that dies at every start. */
async function deadOf(shell: Shell, signal: AbortSignal): Promise<OperationProgress | undefined> {
  const reply = await askFacts(shell, signal)
  if (reply.is !== 'answer' || reply.value.service !== 'failed') return undefined
  return { is: 'failed', message: `K3s does not start there: ${reply.value.failure ?? 'no reason given'}` }
}
