import type { HealthCheckSpec } from '../../model/health-check.ts'
import type { Plan } from '../../model/plan.ts'
import type { PowerLook } from '../../model/power-look.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { showAge } from './duration.ts'
import { many } from './problems.ts'

/** What is off because somebody wants it off, and what is then left to judge. */
export interface Resting {
  /** One line for each Power that is off. */
  readonly lines: readonly string[]
  readonly connections: ReadonlySet<string>
  /** The plan and the records without what rests. */
  readonly plan: Plan
  readonly records: readonly ResourceRecord[]
  /** Is this asked of something that rests? */
  readonly isAskedOf: (probe: HealthCheckSpec['probe']) => boolean
}

/** A cluster that is off by order is healthy: what nobody can see in it then is nobody's trouble. Pure. */
export function atRest(plan: Plan, records: readonly ResourceRecord[], nowMs: number): Resting {
  const off = (plan.powers ?? []).filter(({ decision }) => decision.phase === 'Off')
  const connections = new Set(off.flatMap(connectionsOf))
  const machines = new Set(
    off.flatMap(({ decision }) => Object.keys(decision.machines).filter((key) => decision.machines[key] === 'off')),
  )
  const clusters = new Set(off.flatMap(({ declaration }) => declaration.spec.cluster ?? []))
  const rests = ({ key, connection }: { readonly key: string; readonly connection: string }) =>
    connections.has(connection) || machines.has(key)
  const resting = plan.entries.filter(rests)
  const lines = off.map(({ declaration, decision: { wanted } }) => {
    const since = wanted.sinceMs === 0 ? '' : `, since ${showAge(nowMs - wanted.sinceMs)}`
    const what = declaration.spec.cluster === undefined ? '' : ` cluster ${declaration.spec.cluster} is`
    return `${declaration.key}:${what} off by order (${wanted.why})${since}; ${many(resting.length, 'thing')} rest with it → croft power on ${declaration.name}`
  })
  const hidden = new Set(resting.map(({ key }) => String(key)))
  return {
    lines,
    connections,
    plan: {
      ...plan,
      entries: plan.entries.filter((entry) => !rests(entry)),
      notes: plan.notes.filter(({ connection }) => !connections.has(connection)),
    },
    records: records.filter((record) => !rests(record) && !hidden.has(String(record.key))),
    isAskedOf: (probe) =>
      (probe.ask === 'cluster' && clusters.has(probe.cluster)) ||
      (probe.ask === 'command' && machines.has(`Machine/${probe.on}`)),
  }
}

/** The API of the cluster, and every hypervisor of which all declared hosts are off. */
function connectionsOf({ declaration: { spec }, observed }: PowerLook): readonly string[] {
  const hosts = Map.groupBy(spec.hosts, ({ connection }) => connection ?? '')
  const dark = [...hosts].flatMap(([connection, own]) =>
    connection !== '' && own.every(({ name }) => observed.hosts.find((host) => host.name === name)?.power === 'off')
      ? [connection]
      : [],
  )
  return [...(spec.cluster === undefined ? [] : [`cluster/${spec.cluster}`]), ...dark]
}
