import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectsAt } from '../../kinds/kind.ts'
import { jsonIn } from '../../lib/foreign-json.ts'

/** Objects that were fetched before, on disk: a start without the network finds them there. Losing them costs a request. */
export interface KeptFetches {
  read(place: string): ObjectsAt | undefined
  write(place: string, at: ObjectsAt): void
  /** Deletes unused entries. */
  prune(places: readonly string[]): void
}

/** Caches fetched objects below a directory, each with the hash of its text, so that a torn file is not used. */
export function keepFetches(directory: string): KeptFetches {
  const nameOf = (place: string) => `${hash('sha256', place)}.json`
  return {
    read(place) {
      const text = attempt(() => readFileSync(join(directory, nameOf(place)), 'utf8')) ?? ''
      const end = text.indexOf('\n')
      const body = text.slice(end + 1)
      if (end < 0 || text.slice(0, end) !== hash('sha256', body)) return undefined
      const value = jsonIn(body)
      return Array.isArray(value) ? { objects: value } : undefined
    },
    write(place, at) {
      // Do not cache failures, or places without a hash.
      if (!('objects' in at) || !isHeldToHash(place)) return
      const body = JSON.stringify(at.objects)
      attempt(() => {
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        const file = join(directory, nameOf(place))
        writeFileSync(`${file}.new`, `${hash('sha256', body)}\n${body}`, { mode: 0o600 })
        renameSync(`${file}.new`, file)
      })
    },
    prune(places) {
      const wanted = new Set(places.map(nameOf))
      for (const name of attempt(() => readdirSync(directory)) ?? [])
        if (!wanted.has(name)) attempt(() => rmSync(join(directory, name), { force: true }))
    },
  }
}

function isHeldToHash(place: string): boolean {
  return /#[0-9a-f]{64}$|^oci:\/\/.*@sha256:[0-9a-f]{64}$|^git\+.*#[0-9a-f]{40}:/.test(place)
}

/** Ignore a full or read-only disk: it only costs a request. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
