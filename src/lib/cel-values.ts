import { createHash } from 'node:crypto'
import type * as Cel from '@bufbuild/cel'

/** Conversions between plain data and CEL values. */
export interface CelConversions {
  plain(value: unknown): unknown
  input(value: unknown): Cel.CelInput
}

/** Functions on bytes, JSON and lists that kro adds to those of CEL itself. */
export function valueFunctions(
  { celFunc, celMethod, CelScalar, listType }: typeof Cel,
  { plain, input }: CelConversions,
): readonly Cel.CelFunc[] {
  const { STRING, INT, BYTES, DYN } = CelScalar
  const list = listType(DYN)
  const hashed = (name: string) => (text: string) => new Uint8Array(createHash(name).update(text).digest())
  const numbers = (values: Iterable<unknown>) => {
    const all = [...values].map(plain)
    if (all.length === 0) throw new Error('the list is empty')
    if (!all.every((one) => typeof one === 'number')) throw new Error('not every entry of the list is a number')
    return all
  }
  return [
    celFunc('base64.encode', [BYTES], STRING, (bytes) => Buffer.from(bytes).toString('base64')),
    celFunc('base64.decode', [STRING], BYTES, (text) => new Uint8Array(Buffer.from(text, 'base64'))),
    celFunc('hash.sha256', [STRING], BYTES, hashed('sha256')),
    celFunc('hash.md5', [STRING], BYTES, hashed('md5')),
    celFunc('hash.fnv64a', [STRING], BYTES, fnv64a),
    celFunc('json.marshal', [DYN], STRING, (value) => JSON.stringify(plain(value))),
    celFunc('json.unmarshal', [STRING], DYN, (text) => input(JSON.parse(text) as unknown)),
    celFunc('random.seededString', [INT, STRING], STRING, seededText),
    celFunc('random.seededInt', [INT, INT, STRING], INT, seededNumber),
    celMethod('slice', list, [INT, INT], list, function (from, to) {
      const all = [...this]
      if (from < 0n || to < from || to > BigInt(all.length))
        throw new Error(`slice(${from}, ${to}) of ${all.length} entries`)
      return all.slice(Number(from), Number(to)) as Cel.CelInput<typeof list>
    }),
    celMethod('sum', list, [], DYN, function () {
      return input(numbers(this).reduce((sum, one) => sum + one, 0))
    }),
    celMethod('min', list, [], DYN, function () {
      return input(numbers(this).reduce((least, one) => Math.min(least, one)))
    }),
    celMethod('max', list, [], DYN, function () {
      return input(numbers(this).reduce((most, one) => Math.max(most, one)))
    }),
  ]
}

function fnv64a(text: string): Uint8Array {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(hash)
  return new Uint8Array(bytes)
}

const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz'
const LONGEST = 1_000n

/** Returns the same letters for a seed as kro, so that existing names stay. */
function seededText(length: bigint, seed: string): string {
  if (length <= 0n || length > LONGEST) throw new Error(`the length is ${length}; it must be 1 to ${LONGEST}`)
  const hash = createHash('sha256').update(seed).digest()
  return Array.from({ length: Number(length) }, (_, index) =>
    LETTERS.charAt(hash.readUInt32BE((index * 4) % hash.length) % LETTERS.length),
  ).join('')
}

function seededNumber(from: bigint, to: bigint, seed: string): bigint {
  if (from >= to) throw new Error(`${from} is not below ${to}`)
  const drawn = createHash('sha256').update(seed).digest().readBigUInt64BE(0)
  return from + (drawn % (to - from))
}
