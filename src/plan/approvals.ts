import type { Approval, Estate } from '../model/estate.ts'

/** The approvals that still count. One that is forgotten in Git must not stay open for ever. */
export function validApprovals(estate: Estate, nowMs: number): readonly Approval[] {
  return estate.approvals.filter((approval) => approval.expiresMs === undefined || approval.expiresMs > nowMs)
}
