import { maskManifest } from './masked-manifest.ts'
import { announcesSecret, type Hidden, hiddenOf, isSecretValue } from './secret-fields.ts'
import { maskMessage, maskWritten } from './secret-text.ts'

const DEEPEST = 60

/**
 * Returns a parsed value with its secrets masked, by the rules for manifests. `name`: its field. `text`: masks the
 * texts in it. Pure.
 */
export function maskTree(value: unknown, name = '', text: (text: string) => string = maskEmbedded): unknown {
  return masked(value, {
    hidden: hiddenOf({ name, parent: '', sibling: () => undefined }),
    parent: name,
    depth: 0,
    text,
  })
}

/** Masks a text of a plan: as a message, or as JSON or YAML if it is that. Pure. */
export function maskTold(text: string): string {
  return text.includes('\n') || /^\s*[[{]/.test(text) ? maskEmbedded(text) : maskMessage(text)
}

/** Masks a text that may be JSON or YAML. Pure. */
function maskEmbedded(text: string): string {
  if (/^\s*[[{]/.test(text)) {
    try {
      const parsed: unknown = JSON.parse(text)
      const shown = JSON.stringify(maskTree(parsed))
      // Without a secret it stays as written.
      return shown === JSON.stringify(parsed) ? text : shown
    } catch {
      // It only starts like JSON.
    }
  }
  return text.includes('\n') ? maskManifest(text) : maskWritten(text)
}

interface TreePlace {
  readonly hidden: Hidden
  readonly parent: string
  readonly depth: number
  text(text: string): string
}

function masked(value: unknown, place: TreePlace): unknown {
  const { hidden, parent, depth, text } = place
  if (depth > DEEPEST) return '***'
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      const said = hidden === 'none' && announcesSecret(value[index - 1]) ? 'plain' : hidden
      return masked(item, { ...place, hidden: said, depth: depth + 1 })
    })
  }
  if (value !== null && typeof value === 'object') {
    const fields = value as Readonly<Record<string, unknown>>
    const sibling = (name: string) => {
      const said = Object.hasOwn(fields, name) ? fields[name] : undefined
      return typeof said === 'string' ? said : undefined
    }
    return Object.fromEntries(
      Object.entries(fields).map(([name, inner]) => {
        const below = hidden === 'all' ? 'all' : hiddenOf({ name, parent, sibling })
        return [name, masked(inner, { hidden: below, parent: name, depth: depth + 1, text })]
      }),
    )
  }
  if (hidden === 'all' && value !== null && value !== undefined) return '***'
  if (hidden === 'plain' && isSecretValue(value)) return '***'
  return typeof value === 'string' ? text(value) : value
}
