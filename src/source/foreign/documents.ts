import { LIMITS } from '../../lib/limits.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { splitDocuments } from '../manifest.ts'
import { NOT_SIMPLE, readSimpleYaml } from '../yaml/simple-yaml.ts'
import type { ForeignFile } from './reading.ts'

const READ = new WeakMap<ForeignFile, readonly unknown[] | undefined>()

/** Returns the documents of a file, parsed once and shared by all callers. Do not change them. */
export function documentsOf(file: ForeignFile): readonly unknown[] | undefined {
  if (!READ.has(file)) READ.set(file, documentsIn(file.text))
  return READ.get(file)
}

/**
 * Parses documents with the fast reader, which handles nearly all hand-written files. The rest goes through the
 * library: an export is many times as large. JSON is YAML too.
 */
export function documentsIn(text: string): readonly unknown[] | undefined {
  const plain = splitDocuments(text).map((document) => readSimpleYaml(document.text))
  if (!plain.includes(NOT_SIMPLE)) return plain
  try {
    const documents = yamlLibrary().parseAllDocuments(text, { uniqueKeys: true, logLevel: 'silent' })
    if (!Array.isArray(documents)) return []
    if (documents.some(({ errors }) => errors.length > 0)) return undefined
    return documents.map((document) => document.toJS({ maxAliasCount: LIMITS.yamlAliases }) as unknown)
  } catch {
    return undefined
  }
}
