import type * as Cel from '@bufbuild/cel'

/** A quantity among the values of CEL: a map, so that equal quantities are equal however they are written. */
const FIELD = 'quantity'
const NANO = 1_000_000_000n

/** Quantities of Kubernetes (`500Mi`, `0.1`, `1e3`), as its API server and kro compare and add them. */
export function quantityFunctions({
  celFunc,
  celMethod,
  CelScalar,
  celMap,
  mapType,
}: typeof Cel): readonly Cel.CelFunc[] {
  const { STRING, INT, BOOL, DOUBLE } = CelScalar
  const type = mapType(STRING, STRING)
  const nanosOf = (value: { get(name: string): unknown }): bigint => {
    const text = value.get(FIELD)
    if (typeof text !== 'string') throw new Error('it is no quantity')
    return BigInt(text)
  }
  const made = (nanos: bigint) => celMap(new Map([[FIELD, String(nanos)]]))
  const compared = (one: bigint, other: bigint) => (one < other ? -1n : one > other ? 1n : 0n)
  return [
    celFunc('quantity', [STRING], type, (text) => {
      const nanos = nanosIn(text)
      if (nanos === undefined) throw new Error(`${text.slice(0, 50)} is no quantity, as 500Mi or 0.5 is`)
      return made(nanos)
    }),
    celFunc('isQuantity', [STRING], BOOL, (text) => nanosIn(text) !== undefined),
    celMethod('compareTo', type, [type], INT, function (other) {
      return compared(nanosOf(this), nanosOf(other))
    }),
    celMethod('isLessThan', type, [type], BOOL, function (other) {
      return nanosOf(this) < nanosOf(other)
    }),
    celMethod('isGreaterThan', type, [type], BOOL, function (other) {
      return nanosOf(this) > nanosOf(other)
    }),
    celMethod('sign', type, [], INT, function () {
      return compared(nanosOf(this), 0n)
    }),
    celMethod('isInteger', type, [], BOOL, function () {
      return nanosOf(this) % NANO === 0n
    }),
    celMethod('asInteger', type, [], INT, function () {
      const nanos = nanosOf(this)
      if (nanos % NANO !== 0n) throw new Error('the quantity is no whole number')
      return nanos / NANO
    }),
    celMethod('asApproximateFloat', type, [], DOUBLE, function () {
      return Number(nanosOf(this)) / Number(NANO)
    }),
    ...(
      [
        ['add', 1n],
        ['sub', -1n],
      ] as const
    ).flatMap(([name, sign]) => [
      celMethod(name, type, [type], type, function (other) {
        return made(nanosOf(this) + sign * nanosOf(other))
      }),
      celMethod(name, type, [INT], type, function (other) {
        return made(nanosOf(this) + sign * other * NANO)
      }),
    ]),
  ]
}

const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** Returns a quantity in billionths, Kubernetes' smallest unit; rounds up. Undefined: invalid. */
function nanosIn(text: string): bigint | undefined {
  const match = /^([+-]?)(\d{1,30})(?:\.(\d{0,30}))?(?:([eE][+-]?\d{1,2})|([KMGTPE]i|[numkMGTPE]?))$/.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', part = '', exponent, suffix = ''] = match
  const binary = BINARY.indexOf(suffix)
  const power = exponent === undefined ? (binary >= 0 ? 0 : (DECIMAL[suffix] ?? 0)) : Number(exponent.slice(1))
  const shift = power + 9 - part.length
  const base = BigInt(whole + part) * 1024n ** BigInt(binary + 1)
  const nanos = shift >= 0 ? base * 10n ** BigInt(shift) : rounded(base, 10n ** BigInt(-shift))
  return sign === '-' ? -nanos : nanos
}

function rounded(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
