import { hash } from 'node:crypto'
import type { Grant } from './grant.ts'

/** A path of a source that croft does not read as manifests. A missing key proves nothing while it may be there. */
export interface UnreadPath {
  readonly path: string
  /** `a symbolic link`. */
  readonly why: string
  /** Differs if the content differs. */
  readonly mark: string
  /** The names of objects in its text. Absent: the content is elsewhere, so it may declare anything. */
  readonly names?: readonly string[]
  /** The names that a grant allows its source. */
  readonly within?: Pick<Grant, 'source' | 'names'>
}

/** Returns a readable path that is not parsed as manifests. */
export function setAside(path: string, why: string, text: string): UnreadPath {
  const names = new Set([...text.matchAll(/\bname["']?[ \t]*:[ \t]*["']?([\w.-]+)/g)].map(([, name = '']) => name))
  return { path, why, mark: hash('sha256', text).slice(0, 16), names: [...names] }
}
