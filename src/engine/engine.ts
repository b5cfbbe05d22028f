import type { ClusterSurroundings } from '../drivers/cluster-port.ts'
import type { Driver, DriverDeps } from '../drivers/port.ts'
import type { PowerDriver } from '../drivers/power-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Consent } from '../model/consent.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { ProbeFunction } from '../model/health-check.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { PowerPlan } from '../model/observed-power.ts'
import type { Plan } from '../model/plan.ts'
import type { NewEvent, ResourceRecord } from '../model/record.ts'
import type { ObservedResource, Survey } from '../model/resource.ts'
import type { Store } from '../store/port.ts'
import type { ClusterTools } from './clusters/sessions.ts'
import type { AskCheck } from './health-check.ts'
import type { QuietRules } from './quiet.ts'

export interface EngineDeps {
  /** Plans may be proposed by any person, so they open no secret; nothing is performed. */
  readonly untriedSecrets?: boolean
  readonly clock: Clock
  readonly random: Random
  readonly store: Store
  readonly drivers: readonly Driver[]
  readonly driverDeps: DriverDeps
  /** Loads the tools for K3s clusters; without them an estate with clusters is refused. */
  readonly clusters?: () => Promise<ClusterTools>
  /** Loads the driver for hosts and workloads; without it an estate with a Power is refused. */
  readonly power?: () => Promise<PowerDriver>
  /** Runs health checks over the network. Absent: they give no result. */
  readonly network?: ProbeFunction
  /** The first pass retries what had stalled: a person asked for it. */
  readonly retryStalled?: boolean
  /** The epoch that the caller has started on this store and shares with the engine. Absent: the engine starts one. */
  readonly epoch?: number
  /** Other clocks write to this store: the age of their effects counts from when we first saw them. */
  readonly otherClocks?: boolean
  /** Replaces the rules for quiet passes: tests plant mistakes in them. */
  readonly quietRules?: QuietRules
}

/** One pass: observation, plan and effects. */
export interface PassReport {
  readonly plan: Plan
  readonly records: readonly ResourceRecord[]
  readonly events: readonly NewEvent[]
  readonly clusters?: readonly ClusterPlan[]
  readonly powers?: readonly PowerPlan[]
  /** Writing calls of this pass. */
  readonly effects: number
  /** The keys of these calls. */
  readonly begun?: readonly ResourceKey[]
  /** Nothing to do and everything Ready, held or refused: another pass would change nothing. */
  readonly settled: boolean
  /** A command is working on the cluster that it holds: nothing to do here, but worth watching. */
  readonly operated?: boolean
  /** No input of the last pass has changed: its plan and records still hold, and nothing was planned. */
  readonly unchanged?: true
  /** Delay until the next look. */
  readonly lookAgainMs: number
  /** The surveys of all reachable connections. */
  readonly surveys?: readonly Survey[]
  /** The engine's live map of close looks, by connection and external id. */
  readonly looks?: ReadonlyMap<string, ReadonlyMap<string, ObservedResource>>
}

export interface Settlement {
  readonly outcome: 'settled' | 'deadline' | 'aborted'
  readonly last: PassReport
  readonly passes: number
  readonly effects: number
}

/** The limits of a pass. */
export interface PassOptions {
  /** Only these change; all else is observed as always, so that the guards see the whole. */
  readonly only?: ReadonlySet<ResourceKey>
  /**
   * How many of the oldest close looks of each connection to drop and so read again: over time every field is compared
   * again, at a bounded price for each pass.
   */
  readonly sweep?: number
  /** Called before the first call of an action that needs consents. */
  opens?(consents: readonly Consent[]): Promise<void>
  /** Connections that were unreachable for so long that the pass no longer waits for them: the rest may be settled. */
  readonly givenUp?: ReadonlySet<string>
}

export interface Engine {
  /** Plans with close looks at everything declared, without effects and without a write to the store. */
  plan(estate: Estate, signal: AbortSignal): Promise<Plan>
  /** Runs one pass: observe, plan, act, judge, report. */
  pass(estate: Estate, signal: AbortSignal, options?: PassOptions): Promise<PassReport>
  /** Runs passes until nothing is left to do, the deadline or the signal. */
  settle(
    estate: Estate,
    options: PassOptions & {
      readonly signal: AbortSignal
      readonly deadlineMs?: number
      readonly onPass?: (report: PassReport) => void
      /** The plan of this estate, if it was made a moment ago: the first pass performs it without another look. */
      readonly shown?: Plan
      /** The plan that a person agreed to: what it did not show about a cluster waits for the next plan. */
      readonly agreed?: Pick<Plan, 'clusters'>
      /** A person waits: a connection that never answered is skipped after a few tries. */
      readonly givesUp?: true
    },
  ): Promise<Settlement>
  /** Returns a cluster's machines and shells for an operation. Undefined if it is not declared. */
  surroundings(estate: Estate, cluster: string, signal: AbortSignal): Promise<ClusterSurroundings | undefined>
  /** Runs a HealthCheck of the estate once, by name and by any way that leads there. */
  readonly askCheck: AskCheck
  /** The way to a cluster's API, for lookups by people. */
  readonly kubernetes?: DriverDeps['kubernetes']
  close(): Promise<void>
}
