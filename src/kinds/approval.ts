import { z } from 'zod'
import { croftKind } from './fields/croft-kind.ts'
import { whole } from './fields/number.ts'
import { line, matching, objectName } from './fields/text.ts'

const key = matching(
  /^[A-Z][A-Za-z0-9]*(?:\/[a-z0-9][a-z0-9.-]*){1,2}(?:@[A-Za-z0-9][A-Za-z0-9.-]*)?$/,
  'a key like Machine/web-1',
  400,
)

const schema = z
  .strictObject({
    /** The reason. Stays in Git with its commit. */
    reason: line.min(1),
    deletes: z.array(key).min(1).max(1000).optional(),
    maxDeletes: whole(1, 10_000).optional(),
    /** Connections whose missing machines are known to be gone for good. */
    absence: z.array(objectName).min(1).max(100).optional(),
    /** Clusters that may be restored although they run: what they hold now is gone. */
    restores: z
      .array(matching(/^Cluster\/[a-z0-9][a-z0-9.-]*$/, 'a key like Cluster/homelab'))
      .min(1)
      .max(100)
      .optional(),
    plans: z
      .array(matching(/^[0-9a-f]{12,64}$/, 'the hash of a plan that waits'))
      .min(1)
      .max(100)
      .optional(),
    /** Expiry: a forgotten approval must not stay valid. */
    expires: z.iso.datetime({ offset: true, error: 'a time like 2026-12-31T18:00:00Z' }),
  })
  .refine((spec) => (spec.deletes ?? spec.maxDeletes ?? spec.absence ?? spec.restores ?? spec.plans) !== undefined, {
    error: 'deletes (keys), maxDeletes (a number), absence (connections), restores (clusters) or plans (hashes)',
  })

type ApprovalSpec = z.output<typeof schema>

/** A person's approval in Git: of more deletions than one sync may make, a restore over a cluster, or a plan. */
export const approval = croftKind<ApprovalSpec>({
  kind: 'Approval',
  plural: 'approvals',
  shortNames: [],
  summary:
    'Permission in Git for deletions beyond the usual limit, a restore or a plan that waits, until a given time.',
  schema,
  expand: () => ({ role: 'fact' }),
})
