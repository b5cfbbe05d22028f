import type { Kind } from '../kinds/kind.ts'
import { realDirectory } from '../state/state-file.ts'
import type { DefinedKind, Runtime } from './runtime.ts'
import { kindNamed } from './select.ts'

/** A kind that the manifests of a directory define themselves. It is read only where croft has none of that name. */
export async function definedKind(
  runtime: Runtime,
  kinds: readonly Kind[],
  asked: string,
  directory: unknown,
): Promise<DefinedKind | undefined> {
  if (kindNamed(kinds, asked) !== undefined) return undefined
  // Ignore errors of the directory: a mistyped kind must be reported as such.
  const loaded = await runtime.load(realDirectory(runtime, String(directory))).catch(() => undefined)
  const word = asked.toLowerCase()
  return loaded?.apis?.find(({ kind, plural }) => kind.toLowerCase() === word || plural === word)
}
