import { z } from 'zod'
import { mebibytes, size } from '../../kinds/fields/number.ts'
import { matching } from '../../kinds/fields/text.ts'
import { defined } from '../../lib/defined.ts'
import { isEgressEntry } from '../../lib/egress.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Grant } from '../../model/grant.ts'
import { GRANTABLE } from '../../plan/grants.ts'

export { GRANTABLE }

const named = z.array(matching(/^[A-Za-z0-9_.:/@+-]*\*?$/, 'a name; it may end with a star', 300).min(1)).max(1_000)
const entries = named.default([])

const amount = z.int().min(0).max(1_000_000)
const vmid = z.int().min(100).max(999_999_999)

/** The grant of a source. Strict: a mistyped list would grant less, or more, than intended. */
export const grantSchema = z.strictObject({
  kinds: z.array(z.enum(GRANTABLE as [string, ...string[]])).min(1),
  /** Allowed names of its objects. Default: the source's name, a dash and more. */
  names: named.optional(),
  connections: entries,
  hosts: entries,
  pools: entries,
  storages: entries,
  networks: entries,
  templates: entries,
  vmids: z
    .strictObject({ from: vmid, to: vmid })
    .refine(({ from, to }) => from <= to, { error: 'a range whose from is not above its to' })
    .optional(),
  secrets: z
    .array(
      matching(
        /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:~?\/[A-Za-z0-9_./@+-]*)\*?$/,
        'env:NAME or file:/path; it may end with a star',
      ),
    )
    .max(1_000)
    .default([]),
  egress: z
    .array(
      z.string().max(300).refine(isEgressEntry, {
        error: 'a host and a port like ghcr.io:443, *.example.org:443, 10.1.0.0/16:443 or *',
      }),
    )
    .max(1_000)
    .default([]),
  quota: z
    .strictObject({
      machines: amount.default(LIMITS.grantedMachines),
      cores: amount.optional(),
      memory: size.optional(),
      disk: size.optional(),
      addresses: amount.optional(),
      objects: amount.default(LIMITS.grantedObjects),
      namespaces: amount.optional(),
    })
    .prefault({}),
  hostAccess: z.boolean().default(false),
})

export function grantOf(source: string, given: z.output<typeof grantSchema>): Grant {
  const { names, vmids, quota, ...lists } = given
  const { memory, disk, ...counts } = quota
  const memoryMb = memory === undefined ? undefined : mebibytes(memory)
  const diskMb = disk === undefined ? undefined : mebibytes(disk)
  return {
    source,
    ...lists,
    names: names ?? [`${source}-*`],
    quota: defined({ ...counts, memoryMb, diskGb: diskMb === undefined ? undefined : diskMb / 1024 }),
    ...defined({ vmids }),
  }
}
