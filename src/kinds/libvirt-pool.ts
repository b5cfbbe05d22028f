import { z } from 'zod'
import { defined } from '../lib/defined.ts'
import type { SettingValue } from '../model/rest.ts'
import { annotatedPolicy } from './fields/annotations.ts'
import { croftKind } from './fields/croft-kind.ts'
import { dnsName, line, matching, objectName } from './fields/text.ts'
import { adoptedPlace, libvirtPlace, placeUuid } from './hypervisors/libvirt-places.ts'
import type { FieldProblem } from './kind.ts'

const directory = matching(/^(?:\/[a-zA-Z0-9_.-]*[a-zA-Z0-9_-])+$/, 'a whole path like /srv/machines', 400).refine(
  (path) => !path.split('/').includes('..'),
  { error: 'a path without ..' },
)

const schema = z.strictObject({
  description: line.optional(),
  host: objectName,
  uuid: placeUuid.optional(),
  type: z.enum(['dir', 'netfs', 'logical']).default('dir'),
  path: directory.optional(),
  source: z.strictObject({ host: dnsName, path: directory }).optional(),
  volumeGroup: matching(/^[a-zA-Z0-9_][a-zA-Z0-9_.+-]*$/, 'the name of a volume group', 100).optional(),
  autostart: z.boolean().default(true),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Orphan'),
})

export type LibvirtPoolSpec = z.output<typeof schema>

/** A place for volumes that libvirt keeps on a host. */
export const libvirtPool = croftKind<LibvirtPoolSpec>({
  kind: 'LibvirtPool',
  plural: 'libvirtpools',
  shortNames: ['virtpool'],
  summary: 'A pool that libvirt keeps volumes in: a directory, an NFS export or a volume group.',
  schema,

  check(spec) {
    const problems: FieldProblem[] = []
    const bad = (field: string, message: string, hint: string) =>
      problems.push({ code: 'bad-value', path: ['spec', field], message, hint })
    const wants = { path: spec.type !== 'logical', source: spec.type === 'netfs', volumeGroup: spec.type === 'logical' }
    for (const field of ['path', 'source', 'volumeGroup'] as const) {
      if (wants[field] && spec[field] === undefined) bad('type', `${spec.type} needs ${field}`, `set ${field}`)
      if (!wants[field] && spec[field] !== undefined) bad(field, `${spec.type} has no ${field}`, `leave ${field} out`)
    }
    return problems
  },

  policy: (spec, manifest) => ({
    ...annotatedPolicy(manifest),
    ...adoptedPlace(spec),
    deletion: spec.deletionPolicy,
  }),

  expand(declaration, lookup) {
    const { host, uuid: _uuid, description: _words, deletionPolicy: _deletion, ...fields } = declaration.spec
    return libvirtPlace(declaration, 'libvirt-pool', host, defined<Record<string, SettingValue>>(fields), lookup)
  },
})
