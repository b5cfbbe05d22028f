import type { Keys } from './shape.ts'

/** `virtio=BC:24:11:00:00:01,bridge=vmbr0` as keys and values, or what the daemon says when it cannot be read. */
export function parsePropertyString(
  text: string,
  keys: Keys,
): { readonly values: ReadonlyMap<string, string> } | { readonly complaint: string } {
  const values = new Map<string, string>()
  let unnamedSeen = false
  for (const part of text.split(',')) {
    if (/^\s*$/.test(part)) continue
    const named = /^([^=]+)=(.+)$/s.exec(part)
    if (named) {
      const complaint = putNamed(values, keys, named[1] ?? '', named[2] ?? '')
      if (complaint !== undefined) return { complaint }
      continue
    }
    if (part.includes('=')) return { complaint: 'missing key in comma-separated list property' }
    const { unnamed } = keys
    if (unnamed === undefined) return { complaint: 'value without key, but schema does not define a default key' }
    // "0" and nothing count as not yet given, as they are false to the daemon.
    const before = values.get(unnamed)
    if (unnamedSeen || (before !== undefined && before !== '' && before !== '0'))
      return { complaint: duplicate(unnamed) }
    unnamedSeen = true
    values.set(unnamed, wordsAsBits(keys, unnamed, part))
  }
  return { values }
}

function putNamed(values: Map<string, string>, keys: Keys, key: string, value: string): string | undefined {
  if (values.has(key)) return duplicate(key)
  const alias = keys.aliases.get(key)
  if (alias?.sets !== undefined) {
    if (values.has(alias.sets)) return `key alias '${alias.sets}' is already defined`
    values.set(alias.sets, key)
  }
  const name = alias?.of ?? key
  values.set(name, wordsAsBits(keys, name, value))
  return undefined
}

function duplicate(key: string): string {
  return `duplicate key in comma-separated list property: ${key}`
}

/** Inside a property string, and only there, a boolean may be written as a word. */
function wordsAsBits(keys: Keys, name: string, value: string): string {
  if (keys.fields.get(name)?.shape.type !== 'boolean') return value
  if (/^(?:1|on|yes|true)$/i.test(value)) return '1'
  if (/^(?:0|off|no|false)$/i.test(value)) return '0'
  return value
}
