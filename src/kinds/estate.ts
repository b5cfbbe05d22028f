import { z } from 'zod'
import { croftKind } from './fields/croft-kind.ts'
import { matching } from './fields/text.ts'

const schema = z.strictObject({
  /** Drawn once, when the directory was begun, and never changed: everything that croft makes from it carries it. */
  uid: matching(/^[0-9a-f]{16}$/, '16 digits of 0-9 and a-f, as croft init writes them'),
})

type EstateSpec = z.output<typeof schema>

/** Who this directory is, wherever it is moved, copied or cloned to. */
export const estate = croftKind<EstateSpec>({
  kind: 'Estate',
  plural: 'estates',
  shortNames: [],
  summary: 'Who this directory is, on every computer: croft knows by it what is its own.',
  schema,
  expand: () => ({ role: 'fact' }),
})
