import { defined } from '../../lib/defined.ts'
import { type Change, keptBy, type Mark, type Resource } from '../../model/resource.ts'
import { type ApiFields, countOf, flagOf } from './foreign.ts'

export type Params = Record<string, string>
export type Effect = Change['effect']

/** The target state of a guest, with its mark and its current or future id. */
export interface WantedGuest<Spec> {
  readonly spec: Spec
  readonly mark: Mark
  readonly externalId: string
  /** Keys with a pending new value or deletion. */
  readonly pending?: readonly string[]
}

/** One option of a guest: how it is read, compared and written. Compares only declared values. */
export interface Option<Spec> {
  create(wanted: WantedGuest<Spec>, params: Params): void
  compare(wanted: WantedGuest<Spec>, config: ApiFields, changes: Change[]): void
  /** Writes the chosen changes and nothing else. */
  update(wanted: WantedGuest<Spec>, config: ApiFields, params: Params, chosen: ReadonlySet<string>): void
}

export interface ScalarRule<Spec, T> {
  /** The declaration's path. */
  readonly path: string
  /** Proxmox's key. */
  readonly key: string
  readonly effect: Effect | ((from: T, to: T, config: ApiFields) => Effect)
  declared(spec: Spec): T | undefined
  /** Includes Proxmox's default for a missing key. */
  observed(config: ApiFields): T
  print(value: T): string
  same?(declared: T, observed: T): boolean
  /** Values that a new guest has by default, and that a token may not set. */
  unsent?(value: T): boolean
  /** Values that declare its absence: the key is deleted. */
  none?(value: T): boolean
  /** The default of a new guest. */
  readonly born?: T
}

/** The fields of a spec, one level deep, with values of this type: `name`, `cpu.cores`. */
type FieldOf<Spec, T> = {
  [K in keyof Spec & string]: NonNullable<Spec[K]> extends T ? K : InnerFieldOf<K, NonNullable<Spec[K]>, T>
}[keyof Spec & string]

type InnerFieldOf<K extends string, Inner, T> = Inner extends T | string | number | boolean | readonly unknown[]
  ? never
  : { [L in keyof Inner & string]: NonNullable<Inner[L]> extends T ? `${K}.${L}` : never }[keyof Inner & string]

/** A row for an option of one value: its field, Proxmox's key, a change's effect, and the default. */
type ScalarOption<Spec, T> = (
  path: FieldOf<Required<Spec>, T>,
  key: string,
  effect: ScalarRule<Spec, T>['effect'],
  fallback: T,
  more?: Pick<ScalarRule<Spec, T>, 'same' | 'unsent' | 'born'>,
) => Option<Spec>

/** The builders of small options, for one type of guest. */
export interface OptionKit<Spec> {
  /** An option of one key with one value. */
  scalar<T>(rule: ScalarRule<Spec, T>): Option<Spec>
  /** A yes-or-no option. */
  readonly flag: ScalarOption<Spec, boolean>
  /** A whole number or a fraction. */
  readonly quantity: ScalarOption<Spec, number>
  /** A value of Proxmox's own list. */
  readonly word: ScalarOption<Spec, string>
}

export function optionKit<Spec>(): OptionKit<Spec> {
  const row =
    <T>(read: (value: unknown) => T | undefined, print: (value: T) => string): ScalarOption<Spec, T> =>
    (path, key, effect, fallback, more = {}) => {
      const [outer = '', inner] = path.split('.')
      return kit.scalar<T>({
        path,
        key,
        effect,
        ...more,
        // The type of a row permits only paths to such a value.
        declared: (spec) => fieldOf(spec, outer, inner) as T | undefined,
        observed: (config) => read(config[key]) ?? fallback,
        print,
      })
    }
  const kit: OptionKit<Spec> = {
    scalar: (rule) => ({
      create({ spec }, params) {
        const value = rule.declared(spec) ?? rule.born
        if (value !== undefined && !rule.unsent?.(value) && !rule.none?.(value)) params[rule.key] = rule.print(value)
      },
      compare({ spec }, config, changes) {
        const to = rule.declared(spec)
        if (to === undefined) return
        const from = rule.observed(config)
        if (from === to || rule.same?.(to, from)) return
        const effect = typeof rule.effect === 'string' ? rule.effect : rule.effect(from, to, config)
        changes.push({ path: rule.path, from, to, effect })
      },
      update({ spec }, _config, params, chosen) {
        const value = chosen.has(rule.path) ? rule.declared(spec) : undefined
        if (value !== undefined && rule.none?.(value)) drop(params, rule.key)
        else if (value !== undefined) params[rule.key] = rule.print(value)
      },
    }),
    flag: row(flagOf, printFlag),
    quantity: row(countOf, String),
    word: row(textOf, (value) => value),
  }
  return kit
}

function fieldOf(spec: unknown, outer: string, inner: string | undefined): unknown {
  const value = (spec as Readonly<Record<string, unknown>>)[outer]
  return inner === undefined ? value : (value as Readonly<Record<string, unknown>> | undefined)?.[inner]
}

/** The default is 100 or 1024, depending on the host's control groups; both match. */
export function sameUnits(declared: number, observed: number): boolean {
  return observed === 0 && (declared === 100 || declared === 1024)
}

/** Returns all differences of the options. */
export function compareAll<Spec>(
  options: readonly Option<Spec>[],
  wanted: WantedGuest<Spec>,
  config: ApiFields,
): readonly Change[] {
  const changes: Change[] = []
  for (const option of options) option.compare(wanted, config, changes)
  return changes
}

export function printFlag(value: boolean): string {
  return value ? '1' : '0'
}

/** Returns a value as text; Proxmox returns some numbers as numbers and some as strings. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : undefined
}

/** Deletes a key from the configuration. Several share one `delete` list. */
export function drop(params: Params, key: string): void {
  params.delete = params.delete === undefined ? key : `${params.delete},${key}`
}

/** The seed's progress. */
export type SeedMark = Pick<Mark, 'seed' | 'seeding' | 'unseeding'>

/** Facts about the guest that are not declared: each write of the mark keeps them. */
export type MarkFacts = SeedMark & Pick<Mark, 'devices'>

export function wantedOf<Spec>(
  resource: Resource,
  spec: Spec,
  externalId: string,
  seed: MarkFacts = {},
  pending: readonly string[] = [],
): WantedGuest<Spec> {
  const mark: Mark = {
    uid: resource.uid,
    owner: resource.key,
    ...defined({ estate: resource.estate }),
    deletion: resource.policy.deletion,
    ...keptBy(resource.policy),
    ...defined({ devices: seed.devices, seed: seed.seed, seeding: seed.seeding, unseeding: seed.unseeding }),
  }
  return { spec, mark, externalId, pending }
}

/** Returns all parameters of a creation. Also shows which configuration keys a declaration decides. */
export function createParams<Spec extends { readonly pool?: string }>(
  options: readonly Option<Spec>[],
  wanted: WantedGuest<Spec>,
): Params {
  const params: Params = { vmid: wanted.externalId }
  for (const option of options) option.create(wanted, params)
  if (wanted.spec.pool !== undefined) params.pool = wanted.spec.pool
  return params
}
