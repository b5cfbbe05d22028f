import { z } from 'zod'
import { annotatedPolicy, checkAnnotations } from './fields/annotations.ts'
import { vlanId } from './fields/number.ts'
import { bridgeName, hostName, line, logicalName, objectName, storageName } from './fields/text.ts'
import type { Kind } from './kind.ts'

/** Names in one order, so that reordering them in the file is no change. */
function named<Schema extends z.ZodType>(schema: Schema) {
  return z
    .record(logicalName, schema)
    .overwrite((entries) => Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1))) as never)
    .default({})
}

const schema = z.strictObject({
  /** The connection that this host belongs to; not needed where there is only one. */
  connection: objectName.optional(),
  /** What Proxmox calls it; its own name unless said otherwise. */
  node: hostName.optional(),
  description: line.optional(),
  /** What the logical networks and storages are called on this host. */
  bindings: z
    .strictObject({
      networks: named(z.strictObject({ bridge: bridgeName, vlan: vlanId.optional() })),
      storages: named(storageName),
    })
    .default({ networks: {}, storages: {} }),
})

export type HostSpec = z.output<typeof schema>

/** A physical box that machines run on. */
export const host: Kind<HostSpec> = {
  kind: 'Host',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'hosts',
  shortNames: ['h'],
  summary: 'A physical box, and what the logical networks and storages are called there.',
  schema,

  check(spec, manifest) {
    const problems = [...checkAnnotations(manifest)]
    if (spec.node === undefined && !hostName.safeParse(manifest.metadata.name).success) {
      problems.push({
        code: 'bad-value',
        path: ['metadata', 'name'],
        message: 'metadata.name cannot be the name of a host',
        hint: 'say what Proxmox calls it in spec.node',
      })
    }
    return problems
  },

  policy: (_spec, manifest) => annotatedPolicy(manifest),
  expand: () => ({ role: 'fact' }),
}
