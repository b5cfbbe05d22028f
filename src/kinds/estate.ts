import { z } from 'zod'
import { annotatedPolicy, checkAnnotations } from './fields/annotations.ts'
import type { Kind } from './kind.ts'

const schema = z.strictObject({
  /** Drawn once, when the directory was begun, and never changed: everything that croft makes from it carries it. */
  uid: z.string().regex(/^[0-9a-f]{16}$/, { error: '16 digits of 0-9 and a-f, as croft init writes them' }),
})

type EstateSpec = z.output<typeof schema>

/** Who this directory is, wherever it is moved, copied or cloned to. */
export const estate: Kind<EstateSpec> = {
  kind: 'Estate',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'estates',
  shortNames: [],
  summary: 'Who this directory is, on every computer: croft knows by it what is its own.',
  schema,
  check: (_spec, manifest) => checkAnnotations(manifest),
  policy: (_spec, manifest) => annotatedPolicy(manifest),
  expand: () => ({ role: 'fact' }),
}
