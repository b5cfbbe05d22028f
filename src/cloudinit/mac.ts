import { createHash } from 'node:crypto'

/**
 * The hardware address of a card that nobody gave one: from the machine's uid and the slot, so that it is known before
 * the machine is made and the same after it was made anew. Locally administered and for one receiver.
 */
export function stableMac(uid: string, slot: string): string {
  const bytes = createHash('sha256').update(`${uid}\0${slot}`).digest().subarray(0, 6)
  const first = ((bytes[0] ?? 0) & 0xfc) | 0x02
  return [first, ...bytes.subarray(1)].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':')
}
