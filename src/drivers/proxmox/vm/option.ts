import type { Change } from '../../../model/change.ts'
import type { Mark } from '../../../model/sighting.ts'
import type { VmSpec } from '../../../model/vm.ts'
import type { Foreign } from '../foreign.ts'
import { countOf, flagOf } from '../foreign.ts'

export type Params = Record<string, string>
export type Effect = Change['effect']

/** What a VM is to become, with the mark it carries and the id it has or will have. */
export interface Wanted {
  readonly vm: VmSpec
  readonly mark: Mark
  readonly externalId: string
}

/** One option of a VM: how it is read, compared and written. Only what is declared is compared. */
export interface VmOption {
  create(wanted: Wanted, params: Params): void
  compare(wanted: Wanted, config: Foreign, changes: Change[]): void
  /** Writes what makes the chosen changes true, and nothing else. */
  update(wanted: Wanted, config: Foreign, params: Params, chosen: ReadonlySet<string>): void
}

export interface ScalarRule<T> {
  /** In the words of the declaration. */
  readonly path: string
  /** In the words of Proxmox. */
  readonly key: string
  readonly effect: Effect | ((from: T, to: T, config: Foreign) => Effect)
  declared(vm: VmSpec): T | undefined
  /** With Proxmox's default where the configuration leaves the key out. */
  observed(config: Foreign): T
  print(value: T): string
  same?(declared: T, observed: T): boolean
}

/** An option that is one key with one value. */
export function scalar<T>(rule: ScalarRule<T>): VmOption {
  return {
    create({ vm }, params) {
      const value = rule.declared(vm)
      if (value !== undefined) params[rule.key] = rule.print(value)
    },
    compare({ vm }, config, changes) {
      const to = rule.declared(vm)
      if (to === undefined) return
      const from = rule.observed(config)
      if (from === to || rule.same?.(to, from)) return
      const effect = typeof rule.effect === 'string' ? rule.effect : rule.effect(from, to, config)
      changes.push({ path: rule.path, from, to, effect })
    },
    update({ vm }, _config, params, chosen) {
      const value = chosen.has(rule.path) ? rule.declared(vm) : undefined
      if (value !== undefined) params[rule.key] = rule.print(value)
    },
  }
}

/** A yes-or-no option. */
export function flag(rule: {
  readonly path: string
  readonly key: string
  readonly effect: Effect
  readonly fallback: boolean
  declared(vm: VmSpec): boolean | undefined
}): VmOption {
  return scalar<boolean>({
    ...rule,
    observed: (config) => flagOf(config[rule.key]) ?? rule.fallback,
    print: printFlag,
  })
}

/** A whole number or a fraction. */
export function quantity(rule: {
  readonly path: string
  readonly key: string
  readonly effect: ScalarRule<number>['effect']
  readonly fallback: number
  declared(vm: VmSpec): number | undefined
  same?(declared: number, observed: number): boolean
}): VmOption {
  return scalar<number>({ ...rule, observed: (config) => countOf(config[rule.key]) ?? rule.fallback, print: String })
}

/** A word out of Proxmox's own list. */
export function word(rule: {
  readonly path: string
  readonly key: string
  readonly effect: Effect
  readonly fallback: string
  declared(vm: VmSpec): string | undefined
  same?(declared: string, observed: string): boolean
}): VmOption {
  return scalar<string>({
    ...rule,
    observed: (config) => textOf(config[rule.key]) ?? rule.fallback,
    print: (value) => value,
  })
}

export function printFlag(value: boolean): string {
  return value ? '1' : '0'
}

/** Text of a configuration value; Proxmox gives some numbers as numbers and some as strings. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : undefined
}

/** Takes a key out of the configuration. Several go into one `delete` list. */
export function drop(params: Params, key: string): void {
  params.delete = params.delete === undefined ? key : `${params.delete},${key}`
}

/** May this be changed on a running guest without a restart? */
export function hotplugs(config: Foreign, feature: 'network' | 'disk' | 'usb' | 'memory' | 'cpu'): boolean {
  const features = textOf(config.hotplug)
  if (features === undefined || features === '1')
    return feature === 'network' || feature === 'disk' || feature === 'usb'
  return features.split(/[;,\s]+/).includes(feature)
}
