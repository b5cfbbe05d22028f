import type { Approval, Estate } from '../model/estate.ts'

/** Returns the approvals that have not expired, so that one forgotten in Git does not stay valid forever. */
export function validApprovals(estate: Estate, nowMs: number): readonly Approval[] {
  return estate.approvals.filter((approval) => approval.expiresMs === undefined || approval.expiresMs > nowMs)
}
