import type { PowerDriver } from '../../drivers/power-port.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Store } from '../../store/port.ts'
import type { ClusterSessions } from '../clusters/sessions.ts'
import type { ExistingClusters } from '../existing-clusters.ts'
import type { AskCheck } from '../health-check.ts'
import type { PowerMemory } from './memory.ts'

export interface PowerObserveDeps {
  readonly clock: Clock
  readonly store: Pick<Store, 'getValue'>
  readonly sessions: ClusterSessions
  readonly existing: ExistingClusters
  readonly power: (() => Promise<PowerDriver>) | undefined
  readonly powerMemory: PowerMemory
  /** Asks a HealthCheck by its name. */
  readonly askCheck: AskCheck
  /** Undefined if only a plan is made. */
  readonly epoch?: number
}
