import { existsSync, lstatSync, realpathSync } from 'node:fs'
import path from 'node:path'

/**
 * Returns why keys must not be written to a place, as the end of a sentence. A work tree could commit them, and a link
 * may lead into one. `directory`: the manifests.
 */
export function whyNotThere(directory: string, place: string): string | undefined {
  const there = nearestReal(place)
  if (there === undefined) return 'leads over a link to nowhere'
  const manifests = realpathSync(directory)
  for (let at = there; ; at = path.dirname(at)) {
    if (at === manifests) return 'is inside the directory with the manifests, and Git would get the keys'
    if (existsSync(path.join(at, '.git'))) return `is inside the Git repository ${at}, which would get the keys`
    if (path.dirname(at) === at) return undefined
  }
}

/** The nearest folder above a place that is there already, or the place itself, without links. */
function nearestReal(place: string): string | undefined {
  for (let at = path.resolve(place); ; at = path.dirname(at)) {
    if (existsSync(at)) return realpathSync(at)
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) return undefined
    if (path.dirname(at) === at) return at
  }
}
