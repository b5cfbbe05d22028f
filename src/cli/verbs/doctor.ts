import type { ClusterSurroundings, NodeReach } from '../../drivers/cluster-port.ts'
import type { Check, Driver } from '../../drivers/port.ts'
import type { ClusterTools } from '../../engine/clusters/sessions.ts'
import { shellWord } from '../../lib/shell-quoted.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import { openExisting, realDirectory, stateFile } from '../../state/state-file.ts'
import { closing, inWords } from '../load.ts'
import { note, styleOf, writeData } from '../output.ts'
import { type Examination, examinationsJson, renderExaminations, renderRoles } from '../render/doctor.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { countProblems, hasErrors } from '../render/problems.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, [directory = '.'], options) => {
  const real = realDirectory(runtime, directory)
  const { estate } = await runtime.load(real)
  // A broken manifest must not hide a broken connection; it is only left out.
  if (hasErrors(estate.problems))
    note(runtime, `${countProblems(estate.problems)} in ${directory}. Run croft validate ${directory} to see them.`)
  if (estate.connections.length === 0)
    throw new CliError(
      `No connection is declared in ${inWords(directory, real)}. Write a Proxmox object there first (croft explain proxmox), or name the directory that has one.`,
    )
  const { drivers, deps } = await runtime.openDrivers({ directory: real })
  const driverOf = (name: string) => drivers.find((driver) => driver.name === name)
  const resourcesOf = (name: string) => estate.resources.filter(({ connection }) => connection === name)

  if (options.role === true) {
    const roles = await leastRoles(estate, drivers, { nowMs: runtime.clock.now(), major: Number(options.pve ?? 9) })
    await print(runtime, options, { apiVersion: API_VERSION, kind: 'LeastRole', roles }, () => renderRoles(roles))
    return EXIT.ok
  }

  const entered = enteredMachines(estate)
  const examinations: Examination[] = []
  for (const connection of estate.connections) {
    const checks = await driverOf(connection.driver)?.doctor?.examine(
      connection,
      resourcesOf(connection.name),
      deps,
      runtime.signal,
      entered,
    )
    const { name, endpoint } = connection
    if (checks !== undefined) examinations.push({ connection: name, endpoint, checks: atPlace(checks, directory) })
  }
  examinations.push(...(await examineClusters(runtime, estate, real, stateFile(runtime.env, real, undefined))))
  await print(runtime, options, examinationsJson(examinations), () =>
    renderExaminations(examinations, styleOf(runtime, runtime.out)),
  )
  return examinationExit(examinations.flatMap(({ checks }) => checks))
}

/** For each connection the commands that make a token with exactly the privileges that the declarations need. */
export async function leastRoles(
  estate: Estate,
  drivers: readonly Driver[],
  settings: { readonly nowMs: number; readonly major: number },
): Promise<readonly { readonly connection: string; readonly commands: readonly string[] }[]> {
  const entered = enteredMachines(estate)
  const roles: { connection: string; commands: readonly string[] }[] = []
  for (const connection of estate.connections) {
    const resources = estate.resources.filter((resource) => resource.connection === connection.name)
    const writer = drivers.find(({ name }) => name === connection.driver)?.roles
    const commands = await writer?.least(connection, resources, { ...settings, entered })
    if (commands !== undefined) roles.push({ connection: connection.name, commands })
  }
  return roles
}

/** Adds the directory to printed commands: drivers do not know it. */
function atPlace(checks: readonly Check[], directory: string): readonly Check[] {
  if (directory === '.') return checks
  const placed = (line: string) => line.replace(/^croft doctor --role/, `croft doctor ${shellWord(directory)} --role`)
  return checks.map((check) => (check.fix === undefined ? check : { ...check, fix: check.fix.map(placed) }))
}

/** Examines machines of nodes: being reachable is not enough, K3s must be able to run there. */
async function examineClusters(
  runtime: Runtime,
  estate: Estate,
  directory: string,
  state: string,
): Promise<readonly Examination[]> {
  const { clusters = [] } = estate
  if (clusters.length === 0 || runtime.openClusters === undefined) return []
  const tools = await runtime.openClusters({ directory })
  await using store = closing(await openExisting(runtime, state))
  await using engine = closing(await runtime.openEngine(store.it, { directory }))
  const examinations: Examination[] = []
  for (const cluster of clusters) {
    const surroundings = await engine.it.surroundings(estate, cluster.name, runtime.signal)
    if (surroundings === undefined) continue
    const checks: Check[] = []
    for await (const examined of examineNodes(cluster, surroundings, tools, runtime.signal))
      checks.push(...examined.checks)
    if (checks.length > 0)
      examinations.push({ connection: cluster.key, endpoint: `K3s ${cluster.spec.version}`, checks })
  }
  return examinations
}

/** Returns the machines in which croft runs programs through the agent: nodes of clusters, and targets of checks. */
function enteredMachines({ clusters = [], checks = new Map(), resources }: Estate): ReadonlySet<ResourceKey> {
  const nodes = clusters.flatMap(({ spec }) => [...spec.servers, ...spec.agents])
  const asked = new Set([...checks.values()].map(({ probe }) => (probe.ask === 'command' ? probe.on : undefined)))
  return new Set([
    ...nodes.flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])),
    ...resources.filter(({ name }) => asked.has(name)).map(({ key }) => key),
  ])
}

/** 0 well, warnings allowed; 4 when one side does not know the other; 1 for anything else that is wrong. */
export function examinationExit(checks: readonly Check[]): ExitCode {
  const wrong = checks.filter(({ level }) => level === 'wrong')
  if (wrong.some(({ authentication }) => authentication)) return EXIT.unauthorized
  return wrong.length > 0 ? EXIT.failed : EXIT.ok
}

async function print(runtime: Runtime, { output }: Options, data: unknown, text: () => string): Promise<void> {
  if (!(await writeData(runtime, output, data))) runtime.out.write(text())
}

/** Findings about one machine of a cluster. */
interface ExaminedNode {
  readonly node: string
  readonly checks: readonly Check[]
}

/**
 * Looks at every machine of a cluster, over SSH or through its guest agent, one after the other. It names the ones that it
 * cannot get into.
 */
export async function* examineNodes(
  cluster: ClusterDeclaration,
  { nodes }: ClusterSurroundings,
  { driver, deps }: ClusterTools,
  signal: AbortSignal,
): AsyncGenerator<ExaminedNode> {
  for (const { name, role } of [...cluster.spec.servers, ...cluster.spec.agents]) {
    const reach = nodes.get(name)
    if (reach?.shell === undefined) yield { node: name, checks: [closedTo(name, role, reach)] }
    else yield { node: name, checks: await driver.examine(cluster, { node: name, role }, reach.shell, deps, signal) }
  }
}

/** Returns why a machine cannot be reached. One that does not exist yet is no fault: the next apply creates it. */
export function closedTo(node: string, role: 'server' | 'agent', reach: NodeReach | undefined): Check {
  const about = { about: 'hosts', code: 'no-access' } as const
  if (reach?.machine.exists === 'no')
    return {
      ...about,
      level: 'ok',
      found: `${node} (${role}): its machine does not exist yet, so there is nothing to check`,
    }
  const why =
    reach?.machine.power === 'off'
      ? 'its machine is off'
      : reach?.machine.exists === 'yes'
        ? 'nothing leads into its machine'
        : 'its machine cannot be seen now'
  return { ...about, level: 'warning', found: `${node} (${role}) was not checked: ${why}` }
}
