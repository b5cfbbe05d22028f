import { z } from 'zod'
import { matching } from './text.ts'

/** A whole number in a range. Infinity, NaN and fractions never get through, and neither does "4". */
export function whole(min: number, max: number): z.ZodInt {
  return z.int().min(min).max(max)
}

export const vmid = whole(100, 999_999_999)
export const vlanId = whole(1, 4094)
export const megabytes = whole(16, 16 * 1024 * 1024)
export const gigabytes = whole(1, 131_072)

const SIZE = /^([1-9][0-9]{0,8})(Mi|Gi|Ti)$/
const IN_MIB: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024, Ti: 1024 * 1024 }

/** `4Gi` in MiB. Undefined when it is not written so. */
export function mebibytes(text: string): number | undefined {
  const match = SIZE.exec(text)
  if (match?.[1] === undefined || match[2] === undefined) return undefined
  return Number(match[1]) * (IN_MIB[match[2]] ?? 1)
}

/** `4Gi` or `4096Mi`. Powers of ten (8G) and bare numbers are refused: one size, one way to write it. */
export const size = matching(SIZE, 'a size like 4Gi or 4096Mi')
