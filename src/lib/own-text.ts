import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A text file that is part of croft itself, read as an import would: it is in the folder of the module that names it and never
 * changes while croft runs, so pure folders may use it. Never for a user's file.
 */
export function ownText(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8')
}
