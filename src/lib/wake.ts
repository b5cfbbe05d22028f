/** The magic packet that wakes a computer: six bytes of 255, then its address sixteen times. */
export function magicPacket(mac: string): Uint8Array {
  const address = mac.split(/[:-]/).map((pair) => Number.parseInt(pair, 16))
  if (address.length !== 6 || !address.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255))
    throw new Error(`${mac} is not a MAC address`)
  return Uint8Array.from([...Array<number>(6).fill(255), ...Array.from({ length: 16 }, () => address).flat()])
}
