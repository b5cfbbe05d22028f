import { SopsFailed } from '../../source/secrets/sops.ts'
import type { AgeIdentities } from '../../source/secrets/sops-file.ts'

/** The parts of a source that matter here. */
export interface KeyHolder {
  readonly name: string
  /** File with the source's age keys. */
  readonly age?: string | undefined
  readonly grant?: unknown
}

export interface KeyFiles {
  /** The keys of croft's operator, from the places where sops looks. */
  common(): Promise<AgeIdentities>
  in(file: string): Promise<AgeIdentities>
}

/**
 * Chooses the keys for an encrypted file: those of its source. Everyone who can write to a repository can copy any
 * encrypted file into it, so a source with a grant uses only its own keys, and no other source uses them.
 */
export function createSourceKeys(
  sources: readonly KeyHolder[],
  files: KeyFiles,
): (file: string) => Promise<AgeIdentities> {
  const keysOf = async ({ age }: KeyHolder) => (age === undefined ? files.common() : files.in(age))
  const held = async (source: KeyHolder): Promise<AgeIdentities> => {
    const { name, age } = source
    if (age === undefined)
      throw new SopsFailed(
        `the source ${name} has a grant and no age key of its own: set age of this source in the configuration`,
      )
    const own = await files.in(age)
    const foreign = [await files.common()]
    for (const other of sources) if (other.name !== name) foreign.push(await keysOf(other))
    if (own.some((key) => foreign.flat().includes(key)))
      throw new SopsFailed(`the age key of the source ${name} also decrypts files of others: give it a key of its own`)
    return own
  }
  return async (file) => {
    const [only] = sources
    // A single source without a grant has no prefix in its paths.
    const alone = only !== undefined && sources.length === 1 && only.grant === undefined
    const source = alone ? only : sources.find(({ name }) => file.startsWith(`${name}:`))
    if (source === undefined) return files.common()
    return source.grant === undefined ? keysOf(source) : held(source)
  }
}
