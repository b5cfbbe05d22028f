import { ageLibrary } from '../../lib/age-library.ts'
import { PatternRefused } from '../../lib/foreign-pattern.ts'
import { LIMITS } from '../../lib/limits.ts'
import { openTrees, SopsFailed, type SopsTree, type SopsValue, treesOf } from './sops.ts'
import { readMetadata, type SopsMetadata } from './sops-metadata.ts'

/** Secret age keys: `AGE-SECRET-KEY-1…`. */
export type AgeIdentities = readonly string[]

/**
 * Opens a file that sops has encrypted to one of our age keys: YAML, JSON, dotenv, or anything else in its binary form.
 * Each document is one value. Never gives back anything that was not encrypted and checked.
 */
export async function openSopsFile(
  file: string,
  text: string,
  identities: AgeIdentities,
): Promise<readonly SopsValue[]> {
  try {
    const { trees, metadata } = isDotenv(file) ? dotenvOf(text) : treesOf(text)
    const read = readMetadata(metadata)
    if (typeof read === 'string') throw new SopsFailed(read)
    return openTrees(trees, read, await dataKey(read, identities))
  } catch (error) {
    if (error instanceof SopsFailed || error instanceof PatternRefused)
      throw new SopsFailed(`${file}: ${error.message}`)
    throw error
  }
}

/** The identities in the text of a key file, as age-keygen writes it. */
export function identitiesIn(text: string): AgeIdentities {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('AGE-SECRET-KEY-'))
}

/** A value by its name: `password`, or `users.0.name` where it lies deeper. A key that has dots in it comes first. */
export function valueAt(value: SopsValue, key: string): string | undefined {
  if (value === null || typeof value !== 'object') return undefined
  const here: unknown = Array.isArray(value) ? value[Number(key)] : (value as Readonly<Record<string, SopsValue>>)[key]
  if (typeof here === 'string' || typeof here === 'number' || typeof here === 'boolean') return String(here)
  for (let dot = key.indexOf('.'); dot > 0; dot = key.indexOf('.', dot + 1)) {
    const head = key.slice(0, dot)
    const branch: unknown = Array.isArray(value)
      ? value[Number(head)]
      : (value as Readonly<Record<string, SopsValue>>)[head]
    const found = branch === undefined ? undefined : valueAt(branch as SopsValue, key.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}

const SET_KEY =
  'set SOPS_AGE_KEY_FILE, or age in the configuration of croft run, to the file with its key (AGE-SECRET-KEY-1…)'

async function dataKey({ age }: SopsMetadata, identities: AgeIdentities): Promise<Uint8Array> {
  if (identities.length === 0) throw new SopsFailed(`no age key is known: ${SET_KEY}`)
  for (const { enc } of age) {
    for (const identity of identities) {
      const key = await tryKey(enc, identity)
      if (key !== undefined) return key
    }
  }
  const to = age.map(({ recipient }) => recipient.slice(0, 70)).join(', ')
  throw new SopsFailed(`none of our age keys opens it; it is encrypted to ${to}: ${SET_KEY}`)
}

/** Undefined: it is for another key, or was changed. age does not tell these apart. */
async function tryKey(enc: string, identity: string): Promise<Uint8Array | undefined> {
  try {
    const decrypter = new (ageLibrary().Decrypter)()
    decrypter.addIdentity(identity)
    const key = await decrypter.decrypt(ageLibrary().armor.decode(enc))
    return key.length === 32 ? key : undefined
  } catch {
    return undefined
  }
}

function isDotenv(file: string): boolean {
  return /\.env$/i.test(file)
}

/** `NAME=value` lines; what begins with `sops_` is the metadata, laid flat. */
function dotenvOf(text: string): { readonly trees: readonly SopsTree[]; readonly metadata: unknown } {
  if (Buffer.byteLength(text) > LIMITS.fileBytes) throw new SopsFailed('it is too large')
  const values: [string, SopsTree][] = []
  const flat: [string, string][] = []
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const at = line.indexOf('=')
    if (at < 0) throw new SopsFailed('a line of it is no NAME=value')
    const name = line.slice(0, at)
    const value = line.slice(at + 1).replaceAll('\\n', '\n')
    if (name.startsWith('sops_')) flat.push([name.slice('sops_'.length), value])
    else values.push([name, { leaf: value }])
  }
  return { trees: [{ map: values }], metadata: flat.length === 0 ? undefined : unflatten(flat) }
}

/** `age__list_0__map_enc` → age[0].enc */
function unflatten(flat: readonly (readonly [string, string])[]): Readonly<Record<string, unknown>> {
  const root: Record<string, unknown> = Object.create(null)
  const age: Record<string, string>[] = []
  for (const [name, value] of flat) {
    const entry = /^age__list_(\d{1,3})__map_([a-z]+)$/.exec(name)
    if (entry === null) root[name] = value
    else {
      const place = Number(entry[1])
      age[place] = { ...age[place], [entry[2] ?? '']: value }
    }
  }
  root.age = age.filter((one) => one !== undefined)
  return root
}
