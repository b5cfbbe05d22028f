import { recordIn } from '../../lib/foreign-json.ts'
import type { PowerMark } from '../../model/observed-power.ts'

/** What croft leaves in a cluster that it puts to sleep. It is all that a power-on has to know. */
export const MARKS = {
  /** On a workload: what it had before. */
  before: 'croft.dev/power-before',
  /** On a Node: what of its state is our doing. */
  node: 'croft.dev/power',
  /** On a workload, by a person: its tier. */
  tier: 'croft.dev/power-tier',
} as const

export const TAINT = { key: 'dns-unready', value: 'true', effect: 'NoSchedule' } as const

export interface NodeMark extends PowerMark {
  readonly bootId?: string
}

export function formatNodeMark({ sinceMs, cordoned, tainted, bootId }: NodeMark): string {
  const since = new Date(sinceMs).toISOString()
  return JSON.stringify({ since, cordoned, tainted, ...(bootId === undefined ? {} : { boot: bootId }) })
}

/** A mark that cannot be read is one all the same; what it says of our doing is then nothing. */
export function readNodeMark(text: string | undefined): NodeMark | undefined {
  if (text === undefined) return undefined
  const value = recordIn(text) ?? {}
  const sinceMs = typeof value.since === 'string' ? Date.parse(value.since) : Number.NaN
  return {
    sinceMs: Number.isFinite(sinceMs) ? sinceMs : 0,
    cordoned: value.cordoned === true,
    tainted: value.tainted === true,
    ...(typeof value.boot === 'string' ? { bootId: value.boot } : {}),
  }
}

/** Replicas that a workload had, as our mark says; undefined without one. */
export function readBefore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : 1
}
