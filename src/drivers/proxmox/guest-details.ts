import { isIP } from 'node:net'
import type { ObservedDetails, ObservedResource } from '../../model/resource.ts'
import { type ApiFields, countOf, flagOf, isRecord, nameOf, recordsOf } from './foreign.ts'
import { readMark } from './marks.ts'

/** A configuration, and the keys with pending values. */
export interface GuestConfig {
  readonly config: ApiFields
  readonly pending: readonly string[]
  /** The current values of those keys until then. */
  readonly inForce: ApiFields
}

/** Reads the answer of `…/config`. A stopped guest has no pending changes. */
export function readConfig(data: unknown): GuestConfig | undefined {
  return isRecord(data) ? { config: data, pending: [], inForce: {} } : undefined
}

/**
 * Reads the answer of `…/pending`: a list of key, current value and pending value. It costs one call, as the
 * configuration does, and also shows what needs a restart. Returns the pending configuration.
 */
export function readPending(data: unknown): GuestConfig | undefined {
  if (!Array.isArray(data)) return undefined
  const config: Record<string, unknown> = {}
  const pending: string[] = []
  const inForce: Record<string, unknown> = {}
  for (const entry of recordsOf(data)) {
    const key = entry.key
    if (typeof key !== 'string' || key === '__proto__') continue
    const removed = countOf(entry.delete) ?? 0
    if (entry.pending !== undefined || removed > 0) {
      pending.push(key)
      if (entry.value !== undefined && entry.value !== null) inForce[key] = entry.value
    }
    if (removed > 0) continue
    const value = entry.pending ?? entry.value
    if (value !== undefined && value !== null) config[key] = value
  }
  return { config, pending, inForce }
}

/** Adds the facts of its configuration to a surveyed guest. */
export function withConfig(
  observed: ObservedResource,
  look: GuestConfig,
  atMs: number,
): ObservedResource & { readonly close: ObservedDetails } {
  const { config, pending, inForce } = look
  const name = nameOf(config.name ?? config.hostname)
  const mark = readMark(config, observed.externalId)
  const lock = nameOf(config.lock)
  const digest = config.digest
  const template = flagOf(config.template)
  return {
    ...withoutOutdated(observed, { mark, lock, template }),
    ...(name === undefined ? {} : { name }),
    ...(mark === undefined ? {} : { mark }),
    ...(lock === undefined ? {} : { lock }),
    ...(template ? { template: true } : {}),
    close: {
      config,
      atMs,
      ...(typeof digest === 'string' ? { digest } : {}),
      ...(pending.length === 0 ? {} : { pending, inForce }),
      ...createdIn(config.meta),
      ...birthIn(config),
    },
  }
}

/** Drops what the survey showed and the configuration lacks. Copies only then, since it costs for each guest. */
function withoutOutdated(
  observed: ObservedResource,
  { mark, lock, template }: { readonly mark: unknown; readonly lock: unknown; readonly template: boolean | undefined },
): ObservedResource {
  const outdated =
    (mark === undefined && observed.mark !== undefined) ||
    (lock === undefined && observed.lock !== undefined) ||
    (template !== true && observed.template !== undefined)
  if (!outdated) return observed
  const { mark: _mark, lock: _lock, template: _template, ...rest } = observed
  return rest
}

/** Parses `creation-qemu=10.0.2,ctime=1700000000`: the end of that second, to count as later than an order in it. */
function createdIn(meta: unknown): { readonly createdMs?: number } {
  const seconds = typeof meta === 'string' ? /(?:^|,)ctime=(\d{1,12})(?:,|$)/.exec(meta)?.[1] : undefined
  return seconds === undefined ? {} : { createdMs: Number(seconds) * 1000 + 999 }
}

/**
 * Proxmox generates each VM's UUID and each card's MAC address at creation, and keeps them in a restore. A container
 * has no UUID.
 */
function birthIn(config: ApiFields): { readonly birth?: string } {
  const uuid = typeof config.smbios1 === 'string' ? /(?:^|,)uuid=([0-9a-f-]{36})/i.exec(config.smbios1)?.[1] : undefined
  if (uuid !== undefined) return { birth: `uuid ${uuid.toLowerCase()}` }
  const cards = Object.entries(config).flatMap(([name, value]) => {
    const mac =
      typeof value === 'string' && /^net\d+$/.test(name) ? /(?:^|,)hwaddr=([0-9a-f:]{17})/i.exec(value)?.[1] : undefined
    return mac === undefined ? [] : [{ card: Number(name.slice(3)), mac }]
  })
  const [first] = cards.sort((a, b) => a.card - b.card)
  return first === undefined ? {} : { birth: `mac ${first.mac.toUpperCase()}` }
}

/** Interfaces of container runtimes and the kernel: their addresses are unreachable from outside. */
const INNER_INTERFACE =
  /^(?:lo|cni|flannel|cali|cilium|lxc|veth|docker|br-|kube-|virbr|nodelocaldns|tunl|vxlan|dummy|weave|wg)/

const MOST_ADDRESSES = 64

/** Returns the guest's reachable addresses from the agent's answer; undefined if malformed. */
export function readAddresses(data: unknown): readonly string[] | undefined {
  if (!isRecord(data) || !Array.isArray(data.result)) return undefined
  const addresses: string[] = []
  for (const nic of recordsOf(data.result)) {
    if (typeof nic.name !== 'string' || INNER_INTERFACE.test(nic.name)) continue
    for (const entry of recordsOf(nic['ip-addresses'])) {
      const address = entry['ip-address']
      if (typeof address === 'string' && isIP(address) !== 0 && !isInner(address)) addresses.push(address)
      if (addresses.length >= MOST_ADDRESSES) return addresses
    }
  }
  return addresses
}

function isInner(address: string): boolean {
  return /^(?:127\.|169\.254\.|0\.0\.0\.0$|::1$|::$|fe[89ab][0-9a-f]:)/i.test(address)
}
