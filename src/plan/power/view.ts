import type { ResourceKey } from '../../model/declaration.ts'
import type {
  ClusterPower,
  ObservedPower,
  ObservedPowerHost,
  PowerMachine,
  PowerNode,
} from '../../model/observed-power.ts'
import type { PowerHost, PowerSpec, Tier } from '../../model/power.ts'
import type { WantedPower } from './wanted.ts'

/** The inputs of a power judgement. */
export interface PowerSituation {
  readonly spec: PowerSpec
  readonly observed: ObservedPower
  readonly wanted: WantedPower
  readonly targets: Targets
  /** The wanted state was not reached since its order. */
  readonly changing: boolean
  readonly nowMs: number
}

export function waitName(tier: Tier, what: string, awaits: string): string {
  return `${tier} ${what} ${awaits}`
}

export function waited(
  { observed }: Pick<PowerSituation, 'observed'>,
  tier: Tier,
  what: string,
  awaits: string,
): number {
  return observed.waitedMs[waitName(tier, what, awaits)] ?? 0
}

export function seenHost({ observed }: Pick<PowerSituation, 'observed'>, name: string): ObservedPowerHost | undefined {
  return observed.hosts.find((host) => host.name === name)
}

export function nodesOf({ observed }: PowerSituation): readonly PowerNode[] {
  return observed.cluster?.nodes ?? []
}

/** Returns the cluster if its API answers. */
export function spoken({ observed }: PowerSituation): ClusterPower | undefined {
  return observed.cluster?.api === 'yes' ? observed.cluster : undefined
}

/** Reports whether nothing runs on it any longer. */
export function isDown(node: PowerNode): boolean {
  if (node.power === 'off') return true
  return node.machine === undefined && (node.k3s === 'stopped' || node.k3s === 'absent')
}

/** Reports whether a box carries the infrastructure, the NUT server or croft itself: it goes off last. */
export function isLast(host: PowerHost, machines: readonly PowerMachine[]): boolean {
  return (
    host.own || host.tells.length > 0 || machines.some((one) => one.role === 'infrastructure' && one.host === host.name)
  )
}

/** What must be off. Everything else must be on. */
export interface Targets {
  /** The workloads of the cluster, and so all of its nodes. */
  readonly cluster: boolean
  readonly nodes: ReadonlySet<string>
  readonly machines: ReadonlySet<ResourceKey>
  readonly hosts: ReadonlySet<string>
  /** On-demand nodes among them that sleep because no pod needs them. */
  readonly asleep: ReadonlySet<string>
}
