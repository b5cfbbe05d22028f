/**
 * Proxmox's property strings: `local:100/vm-100-disk-0.raw,iothread=1,size=8G`. A part without `=` has the option's
 * default key. The order has no meaning, and may change in answers.
 */
export type Properties = Map<string, string>

export function parseProperties(text: string, defaultKey: string): Properties {
  const properties: Properties = new Map()
  let start = 0
  while (start <= text.length) {
    const comma = text.indexOf(',', start)
    const end = comma === -1 ? text.length : comma
    const equals = text.indexOf('=', start)
    if (equals !== -1 && equals < end)
      properties.set(text.slice(start, equals).trim(), text.slice(equals + 1, end).trim())
    else {
      const bare = text.slice(start, end).trim()
      if (bare !== '') properties.set(defaultKey, bare)
    }
    start = end + 1
  }
  return properties
}

/** Prints the default key first and bare, as Proxmox does. */
export function printProperties(properties: ReadonlyMap<string, string>, defaultKey: string): string {
  const first = properties.get(defaultKey)
  // A bare value with `=` would be parsed as a key.
  const parts = first === undefined ? [] : [first.includes('=') ? `${defaultKey}=${first}` : first]
  for (const [key, value] of properties) if (key !== defaultKey) parts.push(`${key}=${value}`)
  return parts.join(',')
}

/** Returns the bytes of `8G`, `528K`, `1.5T`; undefined for other text. */
export function parseSize(text: string | undefined): number | undefined {
  const match = text === undefined ? null : /^(\d+(?:\.\d+)?)([KMGT]?)$/.exec(text)
  if (match === null) return undefined
  const unit = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }[match[2] as '' | 'K' | 'M' | 'G' | 'T']
  return Number(match[1]) * unit
}
