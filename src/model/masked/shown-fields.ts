import { yamlLibrary } from '../../lib/yaml-library.ts'

/**
 * Returns only a masked manifest's fields, for users who did not sign in: without comments and multi-line texts, which
 * may contain anything. Pure.
 */
export function fieldsOnly(manifest: string): string {
  const { parseAllDocuments, stringify } = yamlLibrary()
  try {
    const documents = parseAllDocuments(manifest, { uniqueKeys: false, prettyErrors: false })
    if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0)) return NOT_SHOWN
    return documents.map((document) => stringify(withoutTexts(document.toJS()))).join('---\n')
  } catch {
    return NOT_SHOWN
  }
}

const NOT_SHOWN = '# Sign in to read this manifest.\n'

function withoutTexts(value: unknown): unknown {
  if (typeof value === 'string') {
    const lines = value.trimEnd().split('\n').length
    return lines === 1 ? value : `(${lines} lines; sign in to read them)`
  }
  if (Array.isArray(value)) return value.map(withoutTexts)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => [name, withoutTexts(inner)]),
  )
}
