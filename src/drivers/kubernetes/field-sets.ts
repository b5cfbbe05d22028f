import { isRecord } from '../../kubernetes/objects.ts'
import { recordIn } from '../../lib/foreign-json.ts'

/* Queries over many fields, each answered without visiting all of them: others decide how many fields an object has. */

/** Returns all parents of these paths: `a` and `a b` of `a b c`. */
export function placesOf(paths: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>()
  let last = ''
  for (const path of paths) {
    // Fields come in the order of their tree: most have the same parent as the previous one.
    const nearest = path.lastIndexOf('\n')
    if (nearest <= 0 || (nearest === last.length && path.startsWith(last))) continue
    last = path.slice(0, nearest)
    for (const place of [last, ...placesAbove(last)]) {
      // Its parents are in the set already.
      if (found.has(place)) break
      found.add(place)
    }
  }
  return found
}

/** Yields the parents of a path, from the nearest. */
export function* placesAbove(path: string): Generator<string> {
  for (let at = path.lastIndexOf('\n'); at > 0; at = path.lastIndexOf('\n', at - 1)) yield path.slice(0, at)
}

/** Finds entries of lists by steps like `k:{"name":"c"}` and `v:"x"`. Each list is read once per kind of step. */
export interface Lists {
  entry(list: readonly unknown[], step: string): unknown
  /** Returns the step among these that identifies this entry for the server. */
  stepOf(entry: unknown, steps: readonly string[]): string | undefined
}

export function createLists(): Lists {
  const lists = new Map<readonly unknown[], Map<string, ReadonlyMap<string, unknown>>>()
  const known = new Map<readonly string[], ReadonlyMap<string, ReadonlyMap<string, string>>>()

  const indexed = (list: readonly unknown[], way: string, keyOf: (entry: unknown) => string | undefined) => {
    const ways = lists.get(list) ?? new Map<string, ReadonlyMap<string, unknown>>()
    lists.set(list, ways)
    const there = ways.get(way)
    if (there !== undefined) return there
    const made = new Map<string, unknown>()
    for (const entry of list) {
      const key = keyOf(entry)
      if (key !== undefined && !made.has(key)) made.set(key, entry)
    }
    ways.set(way, made)
    return made
  }

  return {
    entry(list, step) {
      if (step.startsWith('v:')) return indexed(list, 'v', (entry) => JSON.stringify(entry)).get(step.slice(2))
      const key = keyIn(step)
      if (key === undefined) return undefined
      const names = Object.keys(key)
      return indexed(list, names.join('\n'), (entry) => keyOf(entry, names)).get(keyOf(key, names) ?? '')
    },
    stepOf(entry, steps) {
      let ways = known.get(steps)
      if (ways === undefined) {
        const made = new Map<string, Map<string, string>>()
        for (const step of steps) {
          const key = keyIn(step)
          const way = Object.keys(key ?? {})
          const text = key === undefined ? undefined : keyOf(key, way)
          if (text === undefined) continue
          const of = made.get(way.join('\n')) ?? new Map<string, string>()
          made.set(way.join('\n'), of)
          if (!of.has(text)) of.set(text, step)
        }
        ways = made
        known.set(steps, ways)
      }
      for (const [way, of] of ways) {
        const step = of.get(keyOf(entry, way.split('\n')) ?? '')
        if (step !== undefined) return step
      }
      return undefined
    },
  }
}

function keyIn(step: string): Readonly<Record<string, unknown>> | undefined {
  const key = recordIn(step.slice(2))
  return key !== undefined && Object.keys(key).length > 0 ? key : undefined
}

/** Returns an entry's identity by these names; undefined if it lacks one. */
function keyOf(entry: unknown, names: readonly string[]): string | undefined {
  if (!isRecord(entry)) return undefined
  // A port without a protocol is TCP: the server adds it, a person omits it.
  const values = names.map((name) => entry[name] ?? (name === 'protocol' ? 'TCP' : undefined))
  return values.every((one) => ['string', 'number', 'boolean'].includes(typeof one))
    ? JSON.stringify(values)
    : undefined
}
