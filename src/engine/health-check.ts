import type { Driver, DriverDeps } from '../drivers/port.ts'
import type { Clock } from '../lib/clock.ts'
import { inTime } from '../lib/in-time.ts'
import type { Shell } from '../lib/shell.ts'
import type { Estate } from '../model/estate.ts'
import {
  commandAnswer,
  type Probe,
  type ProbeAnswer,
  type ProbeFunction,
  unanswered,
  withTarget,
} from '../model/health-check.ts'
import type { ClusterInput } from '../model/observed-cluster.ts'
import { guestIn, type Survey } from '../model/resource.ts'
import { askExisting, type ExistingClusters } from './existing-clusters.ts'

/** The observed facts for checks. */
export interface CheckFacts {
  readonly estate: Estate
  readonly clusters: readonly ClusterInput[]
  /** Connections missing here are surveyed when a command needs them. */
  readonly surveys: readonly Survey[]
}

/** The ways to run probes. */
export interface CheckWays {
  readonly clock: Clock
  readonly drivers: readonly Driver[]
  readonly deps: DriverDeps
  /** Runs probes without a lane: TCP, HTTP, DNS. */
  readonly network: ProbeFunction
  readonly existing: ExistingClusters
}

/** Runs a HealthCheck by its name. Never rejects, and ends within the check's timeout. */
export type AskCheck = (name: string, seen: CheckFacts, signal: AbortSignal) => Promise<ProbeAnswer>

/** Runs HealthChecks once, each with its own timeout: no answer is a result. */
export function checkAsker(ways: CheckWays): AskCheck {
  return async (name, seen, signal) => {
    const check = seen.estate.checks?.get(name)
    if (check === undefined) return unknown(`there is no HealthCheck ${name}`)
    const { timeoutMs, probe } = check
    const answer = await inTime<ProbeAnswer>(
      timeoutMs,
      ways.clock,
      signal,
      (stop) => askProbe(probe, seen, ways, stop).catch(unanswered),
      () => ({ passed: 'no', output: `no answer within ${timeoutMs} ms` }),
    )
    return withTarget(probe, answer)
  }
}

export const nobodyAsks: ProbeFunction = async () => unknown('this process cannot run such a check')

/** Runs probes that are no HealthCheck, about anything that the current estate reaches. May reject. */
export function probeAsker(ways: CheckWays, current: () => Estate | undefined): ProbeFunction {
  return async (probe, signal) => {
    const estate = current()
    if (estate === undefined) return nobodyAsks(probe, signal)
    return askProbe(probe, { estate, clusters: [], surveys: [] }, ways, signal)
  }
}

/** Runs one probe: over the network, from the observation of a cluster, or on a machine. May reject. */
async function askProbe(probe: Probe, seen: CheckFacts, ways: CheckWays, signal: AbortSignal): Promise<ProbeAnswer> {
  if (probe.ask === 'cluster') {
    const existing = seen.estate.connections.find((one) => one.existing?.name === probe.cluster)
    return existing === undefined ? clusterAnswer(probe.cluster, seen) : askExisting(existing, ways.existing, signal)
  }
  return probe.ask === 'command' ? command(probe, seen, ways, signal) : ways.network(probe, signal)
}

/**
 * Reports whether its API answers and all nodes are ready. Every pass already asks the API, so the check uses that
 * answer. Pure.
 */
export function clusterAnswer(
  name: string,
  { clusters, estate }: Pick<CheckFacts, 'clusters' | 'estate'>,
): ProbeAnswer {
  const look = clusters.find(({ declaration }) => declaration.name === name)
  if (look === undefined) {
    const declared = estate.clusters?.some((one) => one.name === name) === true
    return declared ? unknown('it has not been looked at yet') : { passed: 'no', output: `there is no Cluster ${name}` }
  }
  const { api, nodes } = look.observed
  if (api !== 'yes') return { passed: api, output: 'its API does not answer' }
  const { servers, agents } = look.declaration.spec
  const unready = [...servers, ...agents].flatMap(({ name: wanted }) => {
    const kube = nodes.find((node) => node.name === wanted)?.kube
    return typeof kube === 'object' && kube.ready === 'yes' ? [] : [wanted]
  })
  return unready.length === 0
    ? { passed: 'yes', output: 'all nodes are ready' }
    : { passed: 'no', output: `not ready: ${unready.join(', ')}` }
}

type CommandProbe = Extract<Probe, { ask: 'command' }>

async function command(
  probe: CommandProbe,
  seen: CheckFacts,
  ways: CheckWays,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const way = (await intoGuest(probe.on, seen, ways, signal)) ?? ontoHost(probe, ways)
  if ('passed' in way) return way
  try {
    const { code, stdout, stderr } = await way.shell.run(probe.run, { signal })
    return commandAnswer(code, stdout, stderr)
  } finally {
    await way.close()
  }
}

type ProbeShell = { readonly shell: Shell; close(): Promise<void> } | ProbeAnswer

/** Returns a shell through the hypervisor's agent, by the guest's mark. Undefined if no machine has that name. */
async function intoGuest(
  on: string,
  { estate, surveys }: CheckFacts,
  { drivers, deps }: CheckWays,
  signal: AbortSignal,
): Promise<ProbeShell | undefined> {
  const guests = estate.resources.filter(({ desired }) => guestIn(desired) !== undefined)
  const resource = guests.find(({ key }) => key === on) ?? guests.find(({ name }) => name === on)
  if (resource === undefined) return undefined
  const connection = estate.connections.find(({ name }) => name === resource.connection)
  const driver = drivers.find(({ name }) => name === resource.driver)
  if (connection === undefined || driver === undefined) return unknown(`nothing speaks to ${resource.connection}`)
  const session = driver.connect(connection, deps)
  try {
    const survey = surveys.find((one) => one.connection === connection.name) ?? (await session.survey(signal))
    const observed = survey.resources.find(({ mark }) => mark?.uid === resource.uid)
    const shell = observed?.power === 'running' ? session.agent?.shell(observed) : undefined
    if (shell !== undefined) {
      const close = async () => {
        await shell.close()
        await session.close()
      }
      return { shell, close }
    }
    await session.close()
    if (observed === undefined) return { passed: 'no', output: `${on} is not there` }
    if (observed.power !== 'running') return { passed: 'no', output: `${on} does not run` }
    return unknown(`croft has no way to run a program in ${on}`)
  } catch (error) {
    await session.close()
    throw error
  }
}

/** Returns a shell over SSH, or locally if the Host is this computer. */
function ontoHost({ on, host }: CommandProbe, { deps }: CheckWays): ProbeShell {
  if (host === undefined)
    return { passed: 'no', output: `no machine, and no Host that can be reached, is called ${on}` }
  const shell = deps.openShell?.(host)
  return shell === undefined ? unknown('no shell can be opened here') : { shell, close: () => shell.close() }
}

function unknown(output: string): ProbeAnswer {
  return { passed: 'unknown', output }
}
