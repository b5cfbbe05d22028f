import { LIMITS } from '../../../lib/limits.ts'
import { cleanText } from '../foreign.ts'

/** What a difference between the interfaces file in force and the one to come is about. */
export interface PendingInterfaces {
  /** Interfaces that are changed, added or removed. */
  readonly names: readonly string[]
  readonly removed: readonly string[]
  /** Some changed lines stand too far from the name they belong to. */
  readonly unclear: boolean
  /** For a person. */
  readonly shown: string
}

const HEADING = /^(?:auto|allow-\S+|iface)\s+(\S+)/

/** Reads the unified difference that Proxmox gives along with the interfaces of a host. Undefined: there is none. */
export function pendingInterfaces(changes: unknown): PendingInterfaces | undefined {
  if (typeof changes !== 'string' || changes === '') return undefined
  const names = new Set<string>()
  const removed = new Set<string>()
  const added = new Set<string>()
  let current: string | undefined
  let unclear = true
  let lines = 0
  for (const line of changes.slice(0, LIMITS.responseBytes).split('\n')) {
    if (/^(?:---|\+\+\+) /.test(line)) continue
    if (line.startsWith('@@')) {
      current = undefined
      continue
    }
    const text = line.slice(1)
    const heading = HEADING.exec(text)?.[1]
    if (heading !== undefined) current = heading
    if (!/^[+-]/.test(line) || text.trim() === '') continue
    if (lines++ === 0) unclear = false
    if (current === undefined) unclear = true
    else names.add(current)
    if (heading !== undefined && text.startsWith('iface')) (line.startsWith('-') ? removed : added).add(heading)
  }
  const gone = [...removed].filter((name) => !added.has(name))
  const shown = cleanText([...names].join(', '), LIMITS.foreignNameLength)
  return { names: [...names], removed: gone, unclear, shown: shown === '' ? 'changes' : shown }
}
