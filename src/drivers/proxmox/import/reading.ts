import { defined } from '../../../lib/defined.ts'
import { type ApiFields, cleanText, countOf, flagOf } from '../foreign.ts'
import { textOf } from '../option.ts'
import type { DeviceShape, PropertyPart } from '../parts.ts'
import { type Properties, parseProperties } from '../property-string.ts'

/** A configuration that is read key by key. What nobody asked for is what no manifest says anything about. */
export interface ConfigReading {
  /** Every key that is there, read already or not. */
  readonly keys: readonly string[]
  text(key: string): string | undefined
  flag(key: string): boolean | undefined
  count(key: string): number | undefined
  /** A property string, to be taken apart with `part`. */
  properties(key: string, bare: string): PartReading | undefined
  /** Read, and without a place in a manifest. */
  leave(key: string): void
  note(text: string): void
  left(): readonly string[]
  notes(): readonly string[]
}

export interface PartReading {
  text(part: string): string | undefined
  flag(part: string): boolean | undefined
  count(part: string): number | undefined
  /** These parts say nothing that a manifest could. */
  ignore(...parts: readonly string[]): void
}

/** Made up by Proxmox for every guest, or about its state: nobody would declare them. */
const NOBODYS =
  /^(?:digest|meta|vmgenid|parent|snaptime|snapstate|lock|vmstate|running(?:machine|cpu|-nets-host-mtu)|unused\d+|creation)$/

export function readingOf(config: ApiFields): ConfigReading {
  const keys = Object.keys(config).sort(bySlot)
  const unread = new Set(keys.filter((key) => !NOBODYS.test(key)))
  const left = new Set<string>()
  const parts: { readonly key: string; readonly properties: Properties }[] = []
  const notes: string[] = []
  const take = (key: string): unknown => {
    unread.delete(key)
    return config[key]
  }
  return {
    keys,
    text: (key) => textOf(take(key)),
    flag: (key) => flagOf(take(key)),
    count: (key) => countOf(take(key)),
    properties(key, bare) {
      const text = textOf(take(key))
      if (text === undefined) return undefined
      const properties = parseProperties(text, bare)
      parts.push({ key, properties })
      return readingOfParts(properties)
    },
    leave(key) {
      unread.delete(key)
      left.add(key)
    },
    note: (text) => void notes.push(cleanText(text)),
    left: () =>
      [
        ...unread,
        ...left,
        ...parts.flatMap(({ key, properties }) =>
          left.has(key) ? [] : [...properties.keys()].map((part) => `${key}.${part}`),
        ),
      ]
        .map((name) => cleanText(name, 80))
        .sort(bySlot),
    notes: () => notes,
  }
}

function readingOfParts(properties: Properties): PartReading {
  const take = (part: string): string | undefined => {
    const value = properties.get(part)
    properties.delete(part)
    return value
  }
  return {
    text: take,
    flag: (part) => flagOf(take(part)),
    count: (part) => countOf(take(part)),
    ignore: (...names) => names.forEach(take),
  }
}

/** The parts of a property string that are not as Proxmox has them by itself; `names` has what the provider calls otherwise. */
export function partsOf<Item>(
  parts: PartReading | undefined,
  table: readonly PropertyPart<Item>[],
  names: { readonly [F in keyof Item]?: string } = {},
): BlockFields {
  const read = ({ key, type, fallback, read: decode }: PropertyPart<Item>) => {
    if (typeof fallback === 'boolean') return parts?.flag(key)
    if (typeof fallback === 'number' || type === 'count') return parts?.count(key)
    const text = parts?.text(key)
    if (type === 'list') return some((text ?? '').split(';').filter((one) => one !== ''))
    return text === undefined ? undefined : (decode?.(text) ?? text)
  }
  const said = table.flatMap((part) => {
    if (part.onlyNew) return []
    const value = read(part)
    return [[names[part.field] ?? part.field, part.identifies ? value : unless(part.fallback, value)] as const]
  })
  return Object.fromEntries(said)
}

/** The block of a device of which there can be one. */
export function blockOf<Item>(
  from: ConfigReading,
  { key, bare, parts }: DeviceShape<Item> & { readonly key: string },
  names?: { readonly [F in keyof Item]?: string },
): readonly BlockFields[] | undefined {
  const found = from.properties(key, bare)
  return found && block(partsOf(found, parts, names))
}

/** The value unless it is what Proxmox would take anyway: the shortest manifest is the one that is read. */
export function unless<T>(usual: unknown, value: T | undefined): T | undefined {
  return value === usual ? undefined : value
}

export type BlockFields = Readonly<Record<string, unknown>>

/** A block, which the provider writes as a list of one. Nothing in it, no block. */
export function block(fields: BlockFields): readonly BlockFields[] | undefined {
  const present = defined(fields)
  return Object.keys(present).length === 0 ? undefined : [present]
}

/** A list, or nothing where it would be empty. */
export function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

/** `net10` after `net9`. */
export function bySlot(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
