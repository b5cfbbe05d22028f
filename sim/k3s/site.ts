import type { K3sSite } from '../world/types.ts'
import { RECORDED_TIMING } from './timing.ts'

/** A place where no K3s has ever run. */
export function createK3sSite(): K3sSite {
  return {
    timing: RECORDED_TIMING,
    listeners: new Map(),
    clusters: new Map(),
    snapshots: new Map(),
    writtenMs: new Map(),
    shares: new Map(),
    disks: new Map(),
    holders: new Map(),
    blockedEvictions: new Set(),
    artifacts: new Map(),
  }
}
