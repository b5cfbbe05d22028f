import type { Quota, Usage } from './grant.ts'
import type { ResourceKey } from './key.ts'

/** What one source uses of its quota, as it is declared. */
export interface SourceQuota {
  readonly source: string
  readonly names: readonly string[]
  readonly quota: Quota
  /** Of what was accepted. */
  readonly used: Usage
  readonly keys: ReadonlySet<ResourceKey>
  /** It asks for more than it may have: until that is corrected nothing new is made for it. */
  readonly exceeded: boolean
}
