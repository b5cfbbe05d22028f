import type { Driver, DriverDeps } from '../drivers/port.ts'
import type { HostSpec } from '../kinds/host.ts'
import type { Lookup } from '../kinds/kind.ts'
import { sshTargetOf } from '../kinds/ssh-target.ts'
import type { Shell } from '../lib/shell.ts'
import type { ClusterLook } from '../model/cluster-look.ts'
import type { Declaration } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { Probe } from '../model/health-check.ts'
import { guestIn } from '../model/resource.ts'
import type { Survey } from '../model/survey.ts'
import type { Asking, ProbeAnswer } from './probes.ts'

/** What the last look at everything showed. */
export interface LastSeen {
  readonly estate: Estate
  readonly declarations: readonly Declaration[]
  readonly clusters: readonly ClusterLook[]
  readonly surveys: readonly Survey[]
}

export interface LaneDeps {
  /** Asks what needs no lane. */
  readonly network: Asking
  readonly drivers: readonly Driver[]
  readonly deps: DriverDeps
  seen(): LastSeen | undefined
}

/** All questions of health checks: over the network, from what a pass has seen of a cluster, by a machine's own lane. */
export function laneProbes(lanes: LaneDeps): Asking {
  return async (probe, signal) => {
    if (probe.ask !== 'cluster' && probe.ask !== 'command') return lanes.network(probe, signal)
    const seen = lanes.seen()
    if (seen === undefined) return unknown('nothing has been looked at yet')
    return probe.ask === 'cluster' ? clusterAnswer(probe.cluster, seen) : command(probe, seen, lanes, signal)
  }
}

/**
 * Does its API answer, and are all nodes ready? Every pass asks the API that already, so the check says what the pass
 * has seen instead of asking once more. Pure.
 */
export function clusterAnswer(name: string, { clusters, estate }: Pick<LastSeen, 'clusters' | 'estate'>): ProbeAnswer {
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

async function command(
  { on, run }: Extract<Probe, { ask: 'command' }>,
  seen: LastSeen,
  lanes: LaneDeps,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const way = (await intoGuest(on, seen, lanes, signal)) ?? ontoHost(on, seen, lanes)
  if ('passed' in way) return way
  try {
    const { code, stdout, stderr } = await way.shell.run(run, { signal })
    const said = `${stdout}${stderr}`.trim()
    return { passed: code === 0 ? 'yes' : 'no', output: said === '' ? `it ended with ${code}` : said }
  } finally {
    await way.close()
  }
}

type Way = { readonly shell: Shell; close(): Promise<void> } | ProbeAnswer

/** Through the agent of the hypervisor; the guest is found by its mark. Undefined: no machine is called that. */
async function intoGuest(
  on: string,
  { estate, surveys }: LastSeen,
  { drivers, deps }: LaneDeps,
  signal: AbortSignal,
): Promise<Way | undefined> {
  const guests = estate.resources.filter(({ desired }) => guestIn(desired) !== undefined)
  const resource = guests.find(({ key }) => key === on) ?? guests.find(({ name }) => name === on)
  if (resource === undefined) return undefined
  const connection = estate.connections.find(({ name }) => name === resource.connection)
  const driver = drivers.find(({ name }) => name === resource.driver)
  if (connection === undefined || driver === undefined) return unknown(`nothing speaks to ${resource.connection}`)
  const session = driver.connect(connection, deps)
  try {
    const survey = surveys.find((one) => one.connection === connection.name) ?? (await session.survey(signal))
    const sighting = survey.sightings.find(({ mark }) => mark?.uid === resource.uid)
    if (sighting === undefined) return { passed: 'no', output: `${on} is not there` }
    if (sighting.power !== 'running') return { passed: 'no', output: `${on} does not run` }
    const shell = session.shell?.(sighting)
    if (shell === undefined) return unknown(`no lane leads into ${on}`)
    const close = async () => {
      await shell.close()
      await session.close()
    }
    return { shell, close }
  } catch (error) {
    await session.close()
    throw error
  }
}

/** Over SSH, or here where the Host is this very computer. */
function ontoHost(on: string, { declarations }: LastSeen, { deps }: LaneDeps): Way {
  const host = declarations.find(({ kind, name }) => kind === 'Host' && name === on)
  if (host === undefined) return { passed: 'no', output: `no machine and no Host is called ${on}` }
  const lookup: Lookup = {
    all: (kind) => declarations.filter((one) => one.kind === kind),
    declaration: (kind, name) => declarations.find((one) => one.kind === kind && one.name === name),
  }
  const target = sshTargetOf(host as Declaration<HostSpec>, lookup)
  if ('problems' in target) return unknown(target.problems[0]?.message ?? 'it cannot be reached')
  const shell = deps.openShell?.(target)
  return shell === undefined ? unknown('no shell can be opened here') : { shell, close: () => shell.close() }
}

function unknown(output: string): ProbeAnswer {
  return { passed: 'unknown', output }
}
