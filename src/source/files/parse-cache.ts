import { hash } from 'node:crypto'
import { type JudgedObject, judgeDocument } from '../judge.ts'
import { readDocuments, readJson } from '../manifest.ts'

/**
 * Judgements by Git's hash of the text. A controller that follows a repository reads only files that changed since the
 * last commit.
 */
export interface ParseCache {
  /** `bytes`: of the file, from which a cache that keeps no texts takes them. */
  get(blob: string, bytes?: Uint8Array): readonly JudgedObject[] | undefined
  put(blob: string, judged: readonly JudgedObject[], bytes?: Uint8Array): void
  /** Forgets everything but these, so that the cache is as large as one revision. */
  retain(blobs: ReadonlySet<string>): void
}

export function createParseCache(): ParseCache {
  const entries = new Map<string, readonly JudgedObject[]>()
  return {
    get: (blob) => entries.get(blob),
    put: (blob, judged) => {
      entries.set(blob, judged)
    },
    retain: (blobs) => {
      for (const blob of entries.keys()) if (!blobs.has(blob)) entries.delete(blob)
    },
  }
}

/** The hash that Git gives the text of a file. */
export function blobHash(bytes: Uint8Array): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]))
}

/** Judges a text, or remembers. JSON and YAML differ, so the name of the file is part of what is remembered. */
export function judgeText(
  text: string,
  json: boolean,
  blob: string,
  cache: ParseCache,
  bytes?: Uint8Array,
): readonly JudgedObject[] {
  const key = json ? `${blob}.json` : blob
  const known = cache.get(key, bytes)
  if (known !== undefined) return known
  const judged = (json ? readJson(text) : readDocuments(text)).flatMap(judgeDocument)
  cache.put(key, judged, bytes)
  return judged
}
