import type { Change } from '../../model/change.ts'
import { type ApiFields, countOf, flagOf } from './foreign.ts'
import { drop, type Effect, type Option, type Params, printFlag, textOf } from './option.ts'
import { type Properties, parseProperties, printProperties } from './property-string.ts'

/** One part of a property string, and the field of the declaration that says what it is to be. */
export interface PropertyPart<Item> {
  readonly field: keyof Item & string
  /** In the words of Proxmox. */
  readonly key: string
  /** Proxmox's own value when the part is left out. */
  readonly fallback?: string | number | boolean
  /** When it takes effect, where that differs from the rest of the device. */
  readonly effect?: Effect
  /** 0 declares that there is to be none. */
  readonly noneAtZero?: boolean
  /** Between the declaration's value and the text. */
  print?(value: Value): string
  read?(text: string): Value
}

export type Value = string | number | boolean | readonly string[]

interface DeviceShape<Item> {
  /** In the words of the declaration: `usb`. */
  readonly path: string
  /** The part that stands without its name. */
  readonly bare: string
  readonly parts: readonly PropertyPart<Item>[]
  readonly effect: Effect | ((config: ApiFields) => Effect)
  /** What a key that is not there means: no such device, or one whose parts are all as Proxmox has them by itself. */
  readonly whenMissing?: 'no device' | 'its parts'
  /** Do not write what is so by itself: a token may not even say it. */
  readonly omitsDefaults?: boolean
}

/** Devices of one sort, each at its place in the configuration. Those that nobody declared are left alone. */
export function devices<Spec, Item extends { readonly slot: string }>(
  shape: DeviceShape<Item> & { items(spec: Spec): readonly Item[] | undefined },
): Option<Spec> {
  return {
    create({ spec }, params) {
      for (const item of shape.items(spec) ?? []) params[item.slot] = newDevice(shape, item)
    },
    compare({ spec }, config, changes) {
      for (const item of shape.items(spec) ?? [])
        compareDevice(shape, `${shape.path}.${item.slot}`, item, item.slot, config, changes)
    },
    update({ spec }, config, params, chosen) {
      for (const item of shape.items(spec) ?? [])
        writeDevice(shape, `${shape.path}.${item.slot}`, item, item.slot, config, params, chosen)
    },
  }
}

/** A device of which there can be one. `false` declares that there is to be none. */
export function device<Spec, Item extends object>(
  shape: DeviceShape<Item> & { readonly key: string; declared(spec: Spec): Item | false | undefined },
): Option<Spec> {
  const { key, path } = shape
  return {
    create({ spec }, params) {
      const item = shape.declared(spec)
      const text = item ? newDevice(shape, item) : ''
      if (text !== '') params[key] = text
    },
    compare({ spec }, config, changes) {
      const item = shape.declared(spec)
      if (item) compareDevice(shape, path, item, key, config, changes)
      else if (item === false && textOf(config[key]) !== undefined)
        changes.push({ path, from: textOf(config[key]), to: 'none', effect: effectOf(shape, config) })
    },
    update({ spec }, config, params, chosen) {
      const item = shape.declared(spec)
      if (item) writeDevice(shape, path, item, key, config, params, chosen)
      else if (item === false && chosen.has(path)) drop(params, key)
    },
  }
}

/** Differences in the declared parts of a property string that is there. */
export function compareParts<Item extends object>(
  path: string,
  item: Item,
  seen: Properties,
  parts: readonly PropertyPart<Item>[],
  effect: Effect,
  changes: Change[],
): void {
  for (const part of parts) {
    const to = declaredValue(item, part)
    if (to === undefined) continue
    const from = readPart(part, seen.get(part.key), to)
    if (same(from, to)) continue
    changes.push({ path: `${path}.${part.field}`, from, to, effect: part.effect ?? effect })
  }
}

/** Sets the parts that are declared and wanted; everything else stays as it is. */
export function setParts<Item extends object>(
  properties: Properties,
  item: Item,
  parts: readonly PropertyPart<Item>[],
  wanted: (field: string) => boolean = () => true,
): void {
  for (const part of parts) {
    const value = declaredValue(item, part)
    if (value === undefined || !wanted(part.field)) continue
    // Nothing of it: the part goes, because an empty one would not be taken.
    const none = value === '' || (value === 0 && part.noneAtZero) || (Array.isArray(value) && value.length === 0)
    if (none) properties.delete(part.key)
    else properties.set(part.key, printPart(part, value))
  }
}

function newDevice<Item extends object>(shape: DeviceShape<Item>, item: Item): string {
  const properties: Properties = new Map()
  const parts = shape.omitsDefaults
    ? shape.parts.filter((part) => declaredValue(item, part) !== part.fallback)
    : shape.parts
  setParts(properties, item, parts)
  return printProperties(properties, shape.bare)
}

function compareDevice<Item extends object>(
  shape: DeviceShape<Item>,
  path: string,
  item: Item,
  key: string,
  config: ApiFields,
  changes: Change[],
): void {
  const text = textOf(config[key])
  const effect = effectOf(shape, config)
  if (text === undefined && shape.whenMissing !== 'its parts')
    changes.push({ path, from: undefined, to: newDevice(shape, item), effect })
  else compareParts(path, item, parseProperties(text ?? '', shape.bare), shape.parts, effect, changes)
}

function writeDevice<Item extends object>(
  shape: DeviceShape<Item>,
  path: string,
  item: Item,
  key: string,
  config: ApiFields,
  params: Params,
  chosen: ReadonlySet<string>,
): void {
  const text = textOf(config[key])
  if (text === undefined && shape.whenMissing !== 'its parts') {
    if (chosen.has(path)) params[key] = newDevice(shape, item)
    return
  }
  const isChosen = (field: string) => chosen.has(`${path}.${field}`)
  if (!shape.parts.some((part) => isChosen(part.field))) return
  const properties = parseProperties(text ?? '', shape.bare)
  setParts(properties, item, shape.parts, isChosen)
  params[key] = printProperties(properties, shape.bare)
}

function effectOf(shape: { readonly effect: Effect | ((config: ApiFields) => Effect) }, config: ApiFields): Effect {
  return typeof shape.effect === 'string' ? shape.effect : shape.effect(config)
}

function declaredValue<Item extends object>(item: Item, part: PropertyPart<Item>): Value | undefined {
  return item[part.field] as Value | undefined
}

function readPart<Item>(part: PropertyPart<Item>, text: string | undefined, like: Value): Value | undefined {
  if (text === undefined) return part.fallback ?? (Array.isArray(like) ? [] : undefined)
  if (part.read !== undefined) return part.read(text)
  if (typeof like === 'boolean') return flagOf(text)
  if (typeof like === 'number') return countOf(text)
  return Array.isArray(like) ? text.split(';') : text
}

function printPart<Item>(part: PropertyPart<Item>, value: Value): string {
  if (part.print !== undefined) return part.print(value)
  if (typeof value === 'boolean') return printFlag(value)
  return Array.isArray(value) ? value.join(';') : String(value)
}

function same(from: Value | undefined, to: Value): boolean {
  if (from === to) return true
  if (Array.isArray(from) && Array.isArray(to))
    return sorted(from as readonly string[]) === sorted(to as readonly string[])
  // 0 and nothing are how a declaration says "none of it".
  return from === undefined && (to === 0 || to === '')
}

function sorted(words: readonly string[]): string {
  return [...words].sort().join(';')
}
