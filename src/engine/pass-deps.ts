import type { PowerDriver } from '../drivers/power-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Expressions } from '../model/expressions.ts'
import type { Rules } from '../model/rules.ts'
import type { SecretReference } from '../model/secret.ts'
import type { Store } from '../store/port.ts'
import type { KnownWaits } from './clusters/pace.ts'
import type { ClusterSessions } from './clusters/sessions.ts'
import type { Connections } from './connections.ts'
import type { PassReport } from './engine.ts'
import type { ExistingClusters } from './existing-clusters.ts'
import type { AskCheck } from './health-check.ts'
import type { LateMemory } from './late.ts'
import type { PowerMemory } from './power/memory.ts'
import type { Quiet, QuietRules } from './quiet.ts'
import type { StepFailures } from './steps.ts'
import type { Widths } from './widths.ts'

/** The dependencies of a pass. */
export interface PassDeps {
  readonly clock: Clock
  readonly random: Random
  readonly store: Store
  readonly epoch: number
  readonly rules: ReadonlyMap<string, Rules>
  readonly connections: Connections
  readonly sessions: ClusterSessions
  readonly existing: ExistingClusters
  readonly stepFailures: StepFailures
  readonly clusterWaits: KnownWaits
  readonly power: (() => Promise<PowerDriver>) | undefined
  readonly powerMemory: PowerMemory
  resolveSecret(reference: SecretReference): Promise<unknown>
  readonly askCheck: AskCheck
  readonly expressions: Expressions | undefined
  readonly windows: Widths
  readonly quiet: QuietMemory
  readonly late: LateMemory
  nextIntentionId(): string
}

/** The engine's memory of its last pass, if that found everything as declared. */
export interface QuietMemory {
  readonly rules: QuietRules
  last?: { readonly quiet: Quiet; readonly report: PassReport }
}
