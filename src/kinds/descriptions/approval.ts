import type { Descriptions } from './describe.ts'

export const approval: Descriptions = {
  reason: 'Why the approval is given.',
  deletes: 'Keys that croft may delete, like Machine/web-1.',
  maxDeletes: 'How many objects croft may delete, whichever they are.',
  absence: 'Names of connections whose missing machines are gone for good, or that lead to another system from now on.',
  restores: 'Clusters that croft cluster restore may restore although they run, like Cluster/homelab.',
  plans: 'Hashes of waiting plans (apply: manual) that croft may apply.',
  expires: 'Time after which the approval permits nothing, like 2026-12-31T18:00:00Z.',
}
