import { createHash } from 'node:crypto'

/**
 * Returns the hardware address of a card without a declared one, from the machine's uid and the slot: it is known
 * before the machine is made and stays the same after a rebuild. Locally administered unicast.
 */
export function stableMac(uid: string, slot: string): string {
  const bytes = createHash('sha256').update(`${uid}\0${slot}`).digest().subarray(0, 6)
  const first = ((bytes[0] ?? 0) & 0xfc) | 0x02
  return [first, ...bytes.subarray(1)].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':')
}
