import { integerBetween, type Random } from '../../src/lib/random.ts'

/** Ids that a real host would draw from its own chance; here from the seed, so that a run can be repeated. */
export function hexDigits(random: Random, count: number): string {
  let text = ''
  while (text.length < count)
    text += Math.floor(random.next() * 0x10000)
      .toString(16)
      .padStart(4, '0')
  return text.slice(0, count)
}

export function uuid(random: Random): string {
  const hex = hexDigits(random, 32)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** The prefix is the one that Proxmox registered and uses unless told otherwise. */
export function macAddress(random: Random): string {
  const hex = hexDigits(random, 6).toUpperCase()
  return `BC:24:11:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4, 6)}`
}

export function between(random: Random, range: readonly [number, number]): number {
  return range[0] === range[1] ? range[0] : integerBetween(random, range[0], range[1])
}
