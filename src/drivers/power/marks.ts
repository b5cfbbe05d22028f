import { recordIn } from '../../lib/foreign-json.ts'
import type { PowerMark } from '../../model/observed-power.ts'

/** croft's marks in a cluster that is off. A power-on needs nothing else. */
export const MARKS = {
  /** On a workload: its former replicas. */
  before: 'croft.dev/power-before',
  /** On a Node: which part of its state croft set. */
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

/** Returns a mark. An unreadable one counts as a mark without any own change. */
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

/** Returns a workload's replicas in our mark; undefined without one. */
export function readBefore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : 1
}
