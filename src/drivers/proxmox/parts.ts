import type { Change } from '../../model/resource.ts'
import { type ApiFields, countOf, flagOf } from './foreign.ts'
import { drop, type Effect, type Option, type Params, printFlag, textOf } from './option.ts'
import { type Properties, parseProperties, printProperties } from './property-string.ts'

/** One part of a property string, and the field that declares it. */
export interface PropertyPart<Item> {
  readonly field: keyof Item & string
  /** Proxmox's name of it. */
  readonly key: string
  /** Proxmox's default. */
  readonly fallback?: string | number | boolean
  /** When it takes effect, if not as the rest of the device. */
  readonly effect?: Effect
  /** 0 declares its absence. */
  readonly noneAtZero?: boolean
  /** 0 is an ordinary value, and differs from an absent part. */
  readonly zeroCounts?: boolean
  /** Sent at creation; its result is no part of the string. */
  readonly onlyNew?: boolean
  /** Case is ignored. */
  readonly anyCase?: boolean
  /** Whether it is compared: some parts matter only while the device is on. */
  matters?(item: Item): boolean
  /** Its type if no fallback shows it; text by default. */
  readonly type?: 'count' | 'list'
  /** It identifies the device: an import includes it even if it is the default. */
  readonly identifies?: boolean
  /** Another part about the former value, which is removed with it. */
  readonly replaces?: string
  /** Converts between the declared value and its text. */
  print?(value: Value): string
  read?(text: string): Value
}

export type Value = string | number | boolean | readonly (string | number)[]

export interface DeviceShape<Item> {
  /** The declaration's path: `usb`. */
  readonly path: string
  /** The part without a name. */
  readonly bare: string
  readonly parts: readonly PropertyPart<Item>[]
  readonly effect: Effect | ((config: ApiFields) => Effect)
  /** The meaning of a missing key: no such device, or one with default parts. */
  readonly whenMissing?: 'no device' | 'its parts'
  /** Do not write defaults: a token may not even send them. */
  readonly omitsDefaults?: boolean
  /** A new device's effect, if it differs from that of its parts. */
  newEffect?(config: ApiFields, key: string): Effect
  /** The start of a new device's string: its new volume. */
  start?(item: Item): readonly (readonly [key: string, value: string])[]
  /** Converts an unusual text to properties and back. */
  parse?(text: string): Properties
  print?(properties: Properties): string
  /** Differences outside the parts: a volume's storage and size. */
  compare?(path: string, item: Item, seen: Properties, changes: Change[]): void
}

/** Devices of one sort, each in its slot of the configuration. Undeclared ones are left alone. */
export function devices<Spec, Item extends { readonly slot: string }>(
  shape: DeviceShape<Item> & { items(spec: Spec): readonly Item[] | undefined },
): Option<Spec> & { readonly shape: DeviceShape<Item> } {
  return {
    shape,
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

/** A device that can exist once. `false` declares its absence. */
export function device<Spec, Item extends object>(
  shape: DeviceShape<Item> & { readonly key: string; declared(spec: Spec): Item | false | undefined },
): Option<Spec> & { readonly shape: DeviceShape<Item> & { readonly key: string } } {
  const { key, path } = shape
  return {
    shape,
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

/** Sets the chosen declared parts; all others stay. */
function setParts<Item extends object>(
  properties: Properties,
  item: Item,
  parts: readonly PropertyPart<Item>[],
  wanted: (part: PropertyPart<Item>) => boolean,
): void {
  for (const part of parts) {
    const value = declaredValue(item, part)
    if (value === undefined || !wanted(part)) continue
    if (part.replaces !== undefined) properties.delete(part.replaces)
    // Empty: delete the part, since Proxmox refuses an empty one.
    const none = value === '' || (value === 0 && part.noneAtZero) || (Array.isArray(value) && value.length === 0)
    if (none) properties.delete(part.key)
    else properties.set(part.key, printPart(part, value))
  }
}

function newDevice<Item extends object>(shape: DeviceShape<Item>, item: Item): string {
  const properties: Properties = new Map(shape.start?.(item))
  setParts(properties, item, shape.parts, (part) => !shape.omitsDefaults || declaredValue(item, part) !== part.fallback)
  return printDevice(shape, properties)
}

function printDevice<Item>(shape: DeviceShape<Item>, properties: Properties): string {
  return shape.print?.(properties) ?? printProperties(properties, shape.bare)
}

function parseDevice<Item>(shape: DeviceShape<Item>, text: string | undefined): Properties {
  return shape.parse?.(text ?? '') ?? parseProperties(text ?? '', shape.bare)
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
  if (text === undefined && shape.whenMissing !== 'its parts') {
    changes.push({ path, from: text, to: newDevice(shape, item), effect: shape.newEffect?.(config, key) ?? effect })
    return
  }
  const seen = parseDevice(shape, text)
  shape.compare?.(path, item, seen, changes)
  for (const part of shape.parts) {
    const to = declaredValue(item, part)
    if (to === undefined || part.onlyNew || part.matters?.(item) === false) continue
    const from = readPart(part, seen.get(part.key), to)
    if (!same(part, from, to)) changes.push({ path: `${path}.${part.field}`, from, to, effect: part.effect ?? effect })
  }
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
  const isChosen = (part: PropertyPart<Item>) => !part.onlyNew && chosen.has(`${path}.${part.field}`)
  if (!shape.parts.some(isChosen)) return
  // Set the chosen parts and keep all others.
  const properties = parseDevice(shape, text)
  setParts(properties, item, shape.parts, isChosen)
  params[key] = printDevice(shape, properties)
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

function same<Item>({ anyCase, zeroCounts }: PropertyPart<Item>, from: Value | undefined, to: Value): boolean {
  if (from === to || (anyCase && String(from).toUpperCase() === String(to).toUpperCase())) return true
  if (Array.isArray(from) && Array.isArray(to))
    return from.map(String).sort().join(';') === to.map(String).sort().join(';')
  // 0 and an empty text declare its absence.
  return from === undefined && ((to === 0 && !zeroCounts) || to === '')
}
