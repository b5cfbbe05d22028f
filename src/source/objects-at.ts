import type { ObjectsAt } from '../kinds/kind.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Budget } from './budget.ts'
import { buildKustomization, type FilesInHand, NAMES } from './kustomize/build.ts'
import { objectsOf, type ReadDocument, readDocuments, readJson } from './manifest.ts'
import { textOf } from './yaml/text-of.ts'

const MANIFEST = /\.(?:ya?ml|json)$/i

/** The objects of a file, of a directory of files, or of a directory with a kustomization, all of them in hand. */
export function objectsAt(hand: FilesInHand, place: string, budget?: Budget): ObjectsAt {
  const files = hand.texts
  const text = files.get(place)
  if (text !== undefined) return found([{ file: place, reads: documentsOf(place, text) }])
  const prefix = place === '' ? '' : `${place}/`
  const unread = [...(hand.bytes ?? [])].find(
    ([name]) => !files.has(name) && MANIFEST.test(name) && (name === place || name.startsWith(prefix)),
  )
  if (unread !== undefined && !hasKustomization(files, prefix)) return { problem: notText(...unread) }
  const below = [...files.keys()].filter((name) => name.startsWith(prefix) && MANIFEST.test(name)).sort()
  if (below.length === 0) return { problem: `there is no file or directory ${place} with manifests` }
  if (hasKustomization(files, prefix)) return kustomized(hand, place, budget)
  return found(below.map((file) => ({ file, reads: documentsOf(file, files.get(file) ?? '') })))
}

function hasKustomization(files: ReadonlyMap<string, string>, prefix: string): boolean {
  return NAMES.some((name) => files.has(`${prefix}${name}`))
}

/** A file that kubectl would read too, and that would otherwise be left out without a word. */
function notText(file: string, bytes: Uint8Array): string {
  const read = textOf(bytes)
  return 'finding' in read ? `${file}:${read.finding.line}: ${read.finding.message}` : `${file}: it cannot be read`
}

/** Builds a kustomization, or returns the remote places that it needs. */
export function kustomized(hand: FilesInHand, place: string, budget?: Budget): ObjectsAt {
  const { documents, findings, wanted, used } = buildKustomization(hand, place, budget)
  const [wrong] = findings
  if (wrong === undefined) return found(documents.map(({ file, read }) => ({ file, reads: [read] })))
  const problem = `${wrong.file}:${wrong.line}: ${wrong.message}`
  const hint = wrong.hint === undefined ? {} : { hint: wrong.hint }
  // If remote places are all that is missing, ask for them.
  if (wanted.size === 0 || findings.length > wanted.size) return { problem, ...hint }
  const own = <T>(all: ReadonlyMap<string, T> | undefined) =>
    new Map([...(all ?? [])].filter(([path]) => used.has(path)))
  const unbuilt = { directory: place, texts: own(hand.texts), bytes: own(hand.bytes), places: [...wanted] }
  return { problem, ...hint, unbuilt }
}

/** The objects of a text that came from elsewhere. */
export function objectsIn(name: string, text: string): ObjectsAt {
  return found([{ file: name, reads: documentsOf(name, text) }])
}

function documentsOf(file: string, text: string): readonly ReadDocument[] {
  return /\.json$/i.test(file) ? readJson(text) : readDocuments(text, 'kubectl')
}

function found(files: readonly { readonly file: string; readonly reads: readonly ReadDocument[] }[]): ObjectsAt {
  const objects: unknown[] = []
  for (const { file, reads } of files) {
    for (const { value, findings, document } of reads) {
      // Refuse tolerable findings too: kubectl refuses a duplicate key, and half of it would be lost.
      const broken = findings.find(({ weight }) => weight === 'syntax') ?? findings[0]
      if (broken !== undefined) {
        const line = document.line + document.text.slice(0, broken.offset).split('\n').length - 1
        return { problem: `${file}:${line}: ${broken.message}` }
      }
      for (const one of objectsOf(value)) {
        if (isLarger(one.value, LIMITS.objectNodes))
          return { problem: `${file}:${document.line}: an object with more than ${LIMITS.objectNodes} values` }
        objects.push(one.value)
      }
    }
  }
  if (objects.length > LIMITS.addonObjects) return { problem: `more than ${LIMITS.addonObjects} objects` }
  return { objects }
}

/** Reports whether a value has more nodes than this. Stops counting there. */
function isLarger(value: unknown, than: number): boolean {
  let left = than
  const count = (one: unknown): void => {
    left--
    if (left >= 0 && typeof one === 'object' && one !== null) for (const inner of Object.values(one)) count(inner)
  }
  count(value)
  return left < 0
}
