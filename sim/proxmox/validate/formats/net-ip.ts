import { isIPv4 } from 'node:net'

/**
 * Addresses as the daemon's IP library reads them: laxer than the named formats (`10` and `10.0` are addresses),
 * and with its own sentences about what is wrong. A network must have no bits set after its prefix.
 */
export function networkError(text: string): string | undefined {
  const prefixed = /^(\S+?)(\/\S+)$/.exec(text)
  if (prefixed) return addressError(prefixed[1] ?? '') ?? prefixError(prefixed[1] ?? '', (prefixed[2] ?? '').slice(1))
  const range = /^(.+?)\s*-\s*(.+)$/.exec(text)
  if (range)
    return addressError(range[1] ?? '') ?? addressError(range[2] ?? '') ?? orderError(range[1] ?? '', range[2] ?? '')
  return addressError(text)
}

function orderError(low: string, high: string): string | undefined {
  const [begin, end] = [bitsOf(low), bitsOf(high)]
  return begin.length === end.length && begin > end
    ? `Begin address is greater than End address ${low} - ${high}`
    : undefined
}

export function networkVersion(text: string): 4 | 6 {
  return text.includes(':') ? 6 : 4
}

function addressError(text: string): string | undefined {
  return text.includes(':') ? version6Error(text) : version4Error(text)
}

function version4Error(text: string): string | undefined {
  if (!/^[\d.]+$/.test(text)) return `Invalid chars in IP ${text}`
  if (text.startsWith('.')) return `Invalid IP ${text} - starts with a dot`
  if (text.endsWith('.')) return `Invalid IP ${text} - ends with a dot`
  const quads = text.split('.')
  if (quads.length > 4) return `Invalid IP address ${text}`
  if (quads.includes('')) return `Empty quad in IP address ${text}`
  const wrong = quads.find((quad) => Number(quad) > 255)
  return wrong === undefined ? undefined : `Invalid quad in IP address ${text} - ${wrong}`
}

function version6Error(text: string): string | undefined {
  const parts = text.split(':')
  const colons = parts.length - 1
  if (colons > 7) return `Invalid IP address ${text}`
  const embedded = isIPv4(parts.at(-1) ?? '')
  const plain = embedded ? parts.slice(0, -1) : parts
  if (!plain.every((part) => part === '' || /^[a-f\d]{1,4}$/i.test(part))) return `Invalid IP address ${text}`
  if (/^:[^:]/.test(text)) return `Invalid address ${text} (starts with :)`
  if (/[^:]:$/.test(text)) return `Invalid address ${text} (ends with :)`
  if (text.split('::').length > 2) return `Invalid address ${text} (More than one :: pattern)`
  return !text.includes('::') && colons + (embedded ? 1 : 0) !== 7 ? `Invalid number of octets ${text}` : undefined
}

function prefixError(address: string, length: string): string | undefined {
  const bits = bitsOf(address)
  if (!/^\d+$/.test(length)) return `Invalid prefix length /${length}`
  if (Number(length) > bits.length) return `Prefix length ${length} is longer than IP address (${bits.length})`
  return bits.slice(Number(length)).includes('1') ? `Invalid prefix ${bits}/${length}` : undefined
}

function bitsOf(address: string): string {
  if (!address.includes(':')) {
    return address
      .split('.')
      .map((quad) => Number(quad).toString(2).padStart(8, '0'))
      .join('')
      .padEnd(32, '0')
  }
  const [left = '', right] = address.split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const head = groups(left)
  const tail = right === undefined ? [] : groups(right)
  const middle: string[] = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...middle, ...tail].map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')).join('')
}
