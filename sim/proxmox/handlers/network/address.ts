import { badParameter } from '../../api-error.ts'
import { textOf } from '../shelf.ts'

/** What an IPv6 address is for, by its first bits: the longest that fits counts. */
const SORTS: readonly (readonly [bits: string, sort: string])[] = (
  [
    ['0'.repeat(128), 'UNSPECIFIED'],
    [`${'0'.repeat(127)}1`, 'LOOPBACK'],
    [`${'0'.repeat(80)}${'1'.repeat(16)}`, 'IPV4MAP'],
    [`0000000100000000${'0'.repeat(48)}`, 'DISCARD'],
    [`0010000000000001${'0'.repeat(16)}`, 'TEREDO'],
    [`00100000000000010000000000000010${'0'.repeat(16)}`, 'BMWG'],
    ['00100000000000010000110110111000', 'DOCUMENTATION'],
    ['0010000000000001000000000001', 'ORCHID'],
    ['0010000000000010', '6TO4'],
    ['001', 'GLOBAL-UNICAST'],
    ['1111110', 'UNIQUE-LOCAL-UNICAST'],
    ['1111111010', 'LINK-LOCAL-UNICAST'],
    ['11111111', 'MULTICAST'],
    ['', 'RESERVED'],
  ] as const
).toSorted(([a], [b]) => b.length - a.length)

/** Refuses an IPv6 address that no host can have; also one that is nothing but its own mask. */
export function checkAddress6(address: unknown, netmask: unknown): void {
  const text = textOf(address)
  if (text === '') return
  const bits = bitsOf(text)
  const length = Math.trunc(Number(netmask ?? 0)) || 0
  if (length < 0 || length > 128) throw badParameter('netmask', `${length} is not a valid subnet length for ipv6`)
  const mask = '1'.repeat(length).padEnd(128, '0')
  const sort = bits === mask ? 'ANYCAST' : (SORTS.find(([begin]) => bits.startsWith(begin))?.[1] ?? 'RESERVED')
  if (!/^(?:GLOBAL|UNIQUE-LOCAL|LINK-LOCAL)-UNICAST$/.test(sort))
    throw badParameter('address', `${text} with type '${sort}', cannot be used as host IPv6 address.`)
}

function bitsOf(address: string): string {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((part) => part.toString(16)).join(':'),
  )
  const [before = '', after] = plain.split('::')
  const words = (text: string | undefined) => (text === undefined || text === '' ? [] : text.split(':'))
  const [first, last] = [words(before), words(after)]
  const between = after === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array<string>(between).fill('0'), ...last]
    .map((word) => Number.parseInt(word, 16).toString(2).padStart(16, '0'))
    .join('')
}
