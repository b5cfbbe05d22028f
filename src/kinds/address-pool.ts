import { z } from 'zod'
import { ipv4, ipv4Cidr, ipv4InNetwork, ipv4Number } from './fields/address.ts'
import { croftKind } from './fields/croft-kind.ts'
import { badValue } from './fields/problem.ts'
import { line } from './fields/text.ts'
import type { FieldProblem } from './kind.ts'

const schema = z.strictObject({
  description: line.optional(),
  cidr: ipv4Cidr,
  ranges: z
    .array(z.strictObject({ from: ipv4, to: ipv4 }))
    .min(1)
    .max(100)
    .optional(),
  reserved: z.array(ipv4).max(1000).optional(),
})

export type AddressPoolSpec = z.output<typeof schema>

/** Addresses that machines may be given. */
export const addressPool = croftKind<AddressPoolSpec>({
  kind: 'AddressPool',
  plural: 'addresspools',
  shortNames: ['pool', 'pools'],
  summary: 'A range of addresses that machines are given from.',
  schema,

  check(spec) {
    const problems: FieldProblem[] = []
    const inside = (text: string) => ipv4InNetwork(text, spec.cidr)
    for (const [index, range] of (spec.ranges ?? []).entries()) {
      for (const end of ['from', 'to'] as const) {
        if (inside(range[end])) continue
        problems.push(badValue(['spec', 'ranges', index, end], `${range[end]} is not in ${spec.cidr}`))
      }
      if (ipv4Number(range.from) > ipv4Number(range.to)) {
        problems.push(
          badValue(
            ['spec', 'ranges', index],
            `the range from ${range.from} to ${range.to} is empty`,
            'exchange from and to',
          ),
        )
      }
    }
    for (const [index, address] of (spec.reserved ?? []).entries()) {
      if (!inside(address)) {
        problems.push(badValue(['spec', 'reserved', index], `${address} is not in ${spec.cidr}`))
      }
    }
    return problems
  },

  expand: () => ({ role: 'fact' }),
})
