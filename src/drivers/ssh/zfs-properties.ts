/**
 * Is it the value that was asked for? `-p` shows sizes in bytes and no limit as 0 or as the largest number there is; a
 * person writes 1G and none.
 */
export function sameProperty(seen: string | undefined, wanted: string): boolean {
  if (seen === undefined) return false
  if (seen === wanted) return true
  if (wanted === 'none') return seen === '0' || seen === NO_LIMIT
  const bytes = bytesOf(wanted)
  return bytes !== undefined && bytes === bytesOf(seen)
}

const NO_LIMIT = '18446744073709551615'
const UNITS = 'KMGTPE'
const SIZE = /^([0-9]+(?:\.[0-9]+)?)(?:([KMGTPE])(?:i?B)?|B)?$/i

/** ZFS counts in powers of 1024, whatever the letters behind. */
function bytesOf(text: string): bigint | undefined {
  const [, number = '', unit = ''] = SIZE.exec(text) ?? []
  if (number === '') return undefined
  const shift = BigInt(unit === '' ? 0 : 10 * (UNITS.indexOf(unit.toUpperCase()) + 1))
  const [whole = '0', part = ''] = number.split('.')
  return (BigInt(whole + part) << shift) / 10n ** BigInt(part.length)
}

/** One property as `get -H -p -o property,value,source` shows it. */
export interface ZfsProperty {
  readonly value: string
  /** It was said of this very thing; otherwise it comes from above, or nobody said anything. */
  readonly isOwn: boolean
}

export function propertiesIn(out: string): ReadonlyMap<string, ZfsProperty> {
  const rows = out.split('\n').map((line) => line.split('\t'))
  return new Map(
    rows.map(([name = '', value = '', source = 'local']) => [
      name,
      { value, isOwn: source === 'local' || source === 'received' },
    ]),
  )
}
