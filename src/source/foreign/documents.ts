import { LIMITS } from '../../lib/limits.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'

/** Straight through the library: an export has many times the size of what a person wrote. JSON is YAML too. */
export function documentsIn(text: string): readonly unknown[] | undefined {
  try {
    const documents = yamlLibrary().parseAllDocuments(text, { uniqueKeys: true, logLevel: 'silent' })
    if (!Array.isArray(documents)) return []
    if (documents.some(({ errors }) => errors.length > 0)) return undefined
    return documents.map((document) => document.toJS({ maxAliasCount: LIMITS.yamlAliases }) as unknown)
  } catch {
    return undefined
  }
}
