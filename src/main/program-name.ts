import { realpathSync } from 'node:fs'
import path from 'node:path'

/**
 * Returns how to call the copy of croft in a directory: `croft` if PATH leads to it, else the absolute path of its
 * program. A package that bundles Node has its program beside `lib`, not inside it.
 */
export function programName(root: string, searched = ''): string {
  const own = [path.join(root, 'bin', 'croft'), path.join(root, '..', '..', 'bin', 'croft')].flatMap(real)
  const first = searched
    .split(path.delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => real(path.join(folder, 'croft')))[0]
  if (first !== undefined && own.includes(first)) return 'croft'
  const program = own.at(-1) ?? 'croft'
  return /^[\w./@+-]+$/.test(program) ? program : `'${program.replaceAll("'", "'\\''")}'`
}

function real(file: string): readonly string[] {
  try {
    return [realpathSync(file)]
  } catch {
    return []
  }
}
