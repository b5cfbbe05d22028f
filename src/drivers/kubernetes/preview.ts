import { isDeepStrictEqual } from 'node:util'
import { type Foreign, isRecord } from '../../kubernetes/objects.ts'
import { LIMITS } from '../../lib/limits.ts'
import { wordSet } from '../../lib/word-list.ts'
import { announcesSecret } from '../../model/masked/secret-fields.ts'
import type { Change } from '../../model/resource.ts'
import { spreadValues } from './fields.ts'
import { isMarkName } from './marks.ts'

/** Fields that the server sets and no manifest declares. */
const ITS_OWN = wordSet(`
  metadata.managedFields metadata.resourceVersion metadata.generation metadata.creationTimestamp metadata.uid
  metadata.selfLink status
`)

/** The object's name, which is shown above its changes anyway. */
const NAMES: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'])

/** Returns every field that would change, without the server's own fields and our mark. Pure. */
export function previewChanges(before: Foreign | undefined, after: Foreign): readonly Change[] {
  const changes: Change[] = []
  const walk = (from: unknown, to: unknown, path: string) => {
    if (ITS_OWN.has(path) || NAMES.has(path) || isMarkName(path)) return
    if (isNothing(from) !== isNothing(to) && isEmpty(from) && isEmpty(to)) {
      // An empty value may matter: `podSelector: {}` means every pod.
      changes.push({ path, from, to, effect: 'live' })
      return
    }
    if (isRecord(to) || isRecord(from)) {
      const [old, next] = [isRecord(from) ? from : {}, isRecord(to) ? to : {}]
      const names = new Set([...Object.keys(old), ...Object.keys(next)])
      if (isLong(path, names)) return whole(from, to, path)
      for (const name of names) walk(old[name], next[name], path === '' ? name : `${path}.${name}`)
      return
    }
    if (Array.isArray(to) || Array.isArray(from)) {
      const [old, next] = [entriesOf(from), entriesOf(to)]
      const keys = new Set([...old.keys(), ...next.keys()])
      if (isLong(path, keys)) return whole(from, to, path)
      for (const key of keys) {
        // In a list of arguments the previous one may announce a secret, which this one alone would not show.
        const before = String(Number(key) - 1)
        if (announcesSecret(old.get(before)) || announcesSecret(next.get(before))) {
          if (old.get(key) !== next.get(key))
            changes.push({ path: `${path}[${key}]`, from: '***', to: '***', effect: 'live', secret: true })
        } else walk(old.get(key), next.get(key), `${path}[${key}]`)
      }
      return
    }
    if (from !== to && changes.length < LIMITS.objectChanges) changes.push({ path, from, to, effect: 'live' })
  }
  /** A field with too long a path is compared as a whole: a name may be as long as a document. */
  const whole = (from: unknown, to: unknown, path: string) => {
    if (!isDeepStrictEqual(from, to)) changes.push({ path, from, to, effect: 'live' })
  }
  walk(before === undefined ? {} : spreadValues(before), spreadValues(after), '')
  return changes
}

function isLong(path: string, names: ReadonlySet<string>): boolean {
  return [...names].some((name) => path.length + name.length >= LIMITS.fieldPathLength)
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}

function isEmpty(value: unknown): boolean {
  if (isNothing(value)) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

/** Returns the entries of a list, by name if all have one, so that an inserted entry changes only itself. */
function entriesOf(list: unknown): ReadonlyMap<string, unknown> {
  const entries: readonly unknown[] = Array.isArray(list) ? list : []
  const named = entries.length > 0 && entries.every((one) => isRecord(one) && typeof one.name === 'string')
  return new Map(
    entries.map((one, index) => [named && isRecord(one) ? `name=${String(one.name)}` : String(index), one]),
  )
}
