/** A server may write a line at a time, but not a letter at a time. */
const MOST_PARTS = 20_000
const LEAST_PART_BYTES = 16

/** Collects an answer of at most so many bytes. Copies each part, because one byte may hold a buffer of 64 KiB. */
export function boundedBytes(mostBytes: number): { take(part: Uint8Array): void; whole(): Buffer } {
  let room = Buffer.alloc(0)
  let length = 0
  let parts = 0
  return {
    take(part) {
      parts += 1
      const grown = length + part.length
      if (grown > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`)
      if (parts > MOST_PARTS && grown / parts < LEAST_PART_BYTES) throw new Error('it comes in too many tiny parts')
      if (grown > room.length) {
        const larger = Buffer.allocUnsafe(Math.max(256, 2 * grown))
        room.copy(larger, 0, 0, length)
        room = larger
      }
      room.set(part, length)
      length = grown
    },
    whole: () => room.subarray(0, length),
  }
}
