import { matching } from './text.ts'

const DURATION = /^(?:0s|(?:[1-9][0-9]{0,5}(?:s|m|h|d))+)$/
const IN_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `90s`, `10m`, `1h30m`, `7d`. Refuses a bare number, because its unit is unknown. */
export const duration = matching(DURATION, 'a duration like 30s, 10m, 1h30m or 7d', 40)

/** In milliseconds. The text must have passed `duration`. */
export function milliseconds(text: string): number {
  return [...text.matchAll(/([0-9]+)([smhd])/g)].reduce(
    (sum, [, count = '0', unit = '']) => sum + Number(count) * (IN_MS[unit] ?? 0),
    0,
  )
}
