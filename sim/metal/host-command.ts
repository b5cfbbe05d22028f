import type { Box } from '../world/types.ts'
import type { HostState } from './host-state.ts'

export interface HostOutcome {
  readonly code?: number
  readonly out?: string
  readonly err?: string
}

export interface HostCall {
  readonly box: Box
  readonly state: HostState
  /** Without options, and without what ends them. */
  readonly words: readonly string[]
  readonly argv: readonly string[]
}

export type HostCommand = (call: HostCall) => HostOutcome
