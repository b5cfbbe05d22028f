import { z } from 'zod'
import { croftKind } from './fields/croft-kind.ts'
import { matching } from './fields/text.ts'

const schema = z.strictObject({
  /** Drawn once, by croft init, and never changed: all objects that croft makes carry it. */
  uid: matching(/^[0-9a-f]{16}$/, '16 digits of 0-9 and a-f, as croft init writes them'),
})

type EstateSpec = z.output<typeof schema>

/** The identity of this directory, wherever it is moved, copied or cloned. */
export const estate = croftKind<EstateSpec>({
  kind: 'Estate',
  plural: 'estates',
  shortNames: [],
  summary: 'Who this directory is, on every computer: croft knows by it what is its own.',
  schema,
  expand: () => ({ role: 'fact' }),
})
