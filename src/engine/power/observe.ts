import { ifObserved } from '../../drivers/port.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Shell } from '../../lib/shell.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { Connection, Estate } from '../../model/estate.ts'
import type { ClusterInput } from '../../model/observed-cluster.ts'
import type { CheckOutput, ObservedPower, PowerInput, PowerPlan } from '../../model/observed-power.ts'
import type { PowerDeclaration } from '../../model/power.ts'
import type { PlanInput } from '../../plan/planner.ts'
import { identifyAll } from '../../plan/things/identify-all.ts'
import type { ReachedCluster } from '../clusters/observe.ts'
import { type FactsByConnection, readDetails, worldsSince } from '../connection-facts.ts'
import type { PowerObserveDeps } from './deps.ts'
import { fresh, latest } from './kept-answers.ts'
import { type PowerMemory, unexpired } from './memory.ts'
import { type PowerNotes, readPowerDone, readPowerNotes, readPowerRequests } from './notes.ts'
import { clusterPower, existingPower, showCluster, showExisting } from './observe-cluster.ts'
import { observeHa, observeHosts } from './observe-hosts.ts'
import { declaredGuests, guestBackups, machinesOf, rolesIn } from './observe-machines.ts'
import { readAllUps } from './ups.ts'

/** An observed Power, with the connections for its steps. */
export interface ReachedPower<Look extends PowerInput = PowerPlan> {
  readonly look: Look
  readonly notes: PowerNotes | undefined
  readonly cluster?: ReachedCluster<ClusterInput>
  /** The connection to a cluster that croft does not manage. */
  readonly existing?: Connection
  readonly shells: ReadonlyMap<string, Shell>
}

/** Observes every declared Power. */
export async function observePowers(
  input: PlanInput,
  factsByConnection: FactsByConnection,
  clusters: readonly ReachedCluster<ClusterInput>[],
  deps: PowerObserveDeps,
  signal: AbortSignal,
): Promise<readonly ReachedPower<PowerInput>[]> {
  const { estate, ledger } = input
  const powers = estate.powers ?? []
  if (powers.length === 0) return []
  if (deps.power === undefined) throw new Error('a Power is declared, and nothing here can switch anything')
  const driver = await deps.power()
  await askMachines(input, powers, factsByConnection, deps.powerMemory, signal)
  const found = identifyAll({ ...input, worlds: worldsSince(input.worlds, factsByConnection) })
  return Promise.all(
    powers.map(async (declaration): Promise<ReachedPower<PowerInput>> => {
      const { spec, name } = declaration
      const { clock, powerMemory } = deps
      const [ordered, done, notes] = await Promise.all([
        readPowerRequests(deps.store, name),
        readPowerDone(deps.store, name),
        readPowerNotes(deps.store, name),
      ])
      const requests = unexpired(name, ordered, powerMemory, clock)
      const cluster = clusters.find(({ look }) => look.declaration.name === spec.cluster)
      const guests = declaredGuests(estate, found, ledger)
      const roles = rolesIn(spec, guests, cluster?.look, estate)
      const hosts = await observeHosts(spec, input, roles, notes, driver, deps, signal)
      const existing =
        cluster === undefined && spec.cluster !== undefined
          ? estate.connections.find((one) => one.existing?.name === spec.cluster)
          : undefined
      const shown =
        existing !== undefined
          ? await showExisting(existing, spec, driver, deps.existing, signal)
          : cluster === undefined
            ? undefined
            : await showCluster(cluster.look, spec, driver, deps.sessions, signal)
      const machines = machinesOf(spec, guests, roles, hosts)
      const shells = new Map(
        [...(cluster?.surroundings.nodes ?? [])].flatMap(([node, { shell }]) =>
          shell === undefined ? [] : [[node, shell] as const],
        ),
      )
      // A plan shows the people who would hold the power-off.
      const mayGoOff =
        deps.epoch === undefined ||
        requests.wanted?.state === 'off' ||
        spec.state === 'off' ||
        spec.schedule !== undefined
      const people =
        mayGoOff && spec.holds.people
          ? await fresh(powerMemory.people, name, LIMITS.peopleLookMs, clock, () => driver.people(shells, signal))
          : []
      const ups = await readAllUps(spec, name, driver, deps, signal)
      const ha = await observeHa(spec, estate, factsByConnection, signal)
      const observed: ObservedPower = {
        ...(cluster === undefined ? {} : { cluster: clusterPower(cluster.look, shown, machines, hosts, spec, driver) }),
        ...(existing === undefined ? {} : { cluster: existingPower(shown) }),
        machines,
        hosts,
        ha,
        holds: [...people, ...(shown?.holds ?? []), ...guestBackups(spec, input.worlds, guests, machines)],
        ups,
        hooks: notes?.hooks ?? {},
        checks: checksOf(
          declaration,
          estate,
          clusters.map(({ look }) => look),
          factsByConnection,
          deps,
          signal,
        ),
        waitedMs: waitedMs(declaration.key, powerMemory, clock),
      }
      const energy = powerMemory.energy.get(declaration.key)?.energy
      const look: PowerInput = { declaration, observed, requests, atMs: clock.now(), ...defined({ done, energy }) }
      return { look, notes, shells, ...defined({ cluster, existing }) }
    }),
  )
}

function waitedMs(key: string, { waits }: PowerMemory, clock: Clock): Readonly<Record<string, number>> {
  const now = clock.monotonicMs()
  const own = [...waits].filter(([name]) => name.startsWith(`${key} `))
  return Object.fromEntries(own.map(([name, sinceMs]) => [name.slice(key.length + 1), now - sinceMs]))
}

/**
 * Returns the results of HealthChecks that must pass on the way up. Read only then: an answer of last week proves
 * nothing about DNS.
 */
function checksOf(
  { key, spec }: PowerDeclaration,
  estate: Estate,
  clusters: readonly ClusterInput[],
  factsByConnection: FactsByConnection,
  { clock, powerMemory, askCheck }: PowerObserveDeps,
  signal: AbortSignal,
): ObservedPower['checks'] {
  const names = [...new Set([...spec.checks.dns, ...spec.checks.storage])]
  const nameOf = (check: string) => `${key} ${check}`
  if (powerMemory.looks.get(key)?.decision.phase !== 'PoweringOn') {
    for (const name of names) powerMemory.checks.delete(nameOf(name))
    return {}
  }
  const seen = {
    estate,
    clusters,
    surveys: [...factsByConnection.values()].map(({ survey }) => survey),
  }
  const ask = async (name: string): Promise<CheckOutput> => {
    const { passed, output } = await askCheck(name, seen, signal)
    return { passed, output: cleanText(output, 200) }
  }
  return Object.fromEntries(
    names.flatMap((name) => {
      const known = latest(powerMemory.checks, nameOf(name), LIMITS.powerCheckMs, clock, () => ask(name))
      return known === undefined ? [] : [[name, known] as const]
    }),
  )
}

/**
 * A survey's power is up to ten seconds old. Machines under a power order are asked themselves, so that their tier need
 * not wait for a cache.
 */
async function askMachines(
  input: PlanInput,
  powers: readonly PowerDeclaration[],
  factsByConnection: FactsByConnection,
  memory: PowerMemory,
  signal: AbortSignal,
): Promise<void> {
  const moving = new Set<ResourceKey>()
  const off = new Set<ResourceKey>()
  for (const { key } of powers) {
    const look = memory.looks.get(key)
    const last = look?.decision
    if (last?.wanted.state === 'on' && last.phase !== 'On') {
      // The survey of a host that has just started shows its state before the shutdown.
      for (const machine of look?.observed.machines ?? []) if (machine.power !== 'on') moving.add(machine.key)
    }
    for (const step of last?.steps ?? []) if (step.machine !== undefined) moving.add(step.machine)
    for (const machine of Object.keys(last?.machines ?? {})) off.add(machine as ResourceKey)
  }
  if (moving.size + off.size === 0) return
  const found = identifyAll(input)
  for (const [name, facts] of factsByConnection) {
    const ids = input.estate.resources.flatMap((resource) => {
      if (resource.connection !== name || !(moving.has(resource.key) || off.has(resource.key))) return []
      const identity = found.get(resource.key)?.identity
      if (identity?.is !== 'ours') return []
      const { externalId, power } = identity.observed
      return moving.has(resource.key) || power !== 'stopped' ? [externalId] : []
    })
    await inParallel(ids, facts.connection.limits.reads, async (externalId) => {
      await ifObserved(() => readDetails(facts, externalId, { power: true }, signal))
    })
  }
}
