import { namesOurGroup } from './broken-text.ts'
import type { YamlFinding } from './full-yaml.ts'

/** Markers of the template languages for YAML. */
const MARKS: readonly (readonly [RegExp, string])[] = [
  [/\{%|\{#/, 'a Jinja template'],
  [/\{\{/, 'a template with {{ }}'],
  [/<%|\[\[[ .%-]/, 'a template with <% %> or [[ ]]'],
  [/\$\{/, 'a template with variables of a shell'],
]

/**
 * Returns a note if an unreadable document is a template: its first error is at a marker, and it names none of our
 * groups. A manifest with a typing error must stay a manifest, or its machine would count as removed.
 */
export function templateNote(text: string, findings: readonly YamlFinding[]): string | undefined {
  if (namesOurGroup(text)) return undefined
  for (const { offset } of findings) {
    const end = text.indexOf('\n', offset)
    const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, end < 0 ? text.length : end)
    const mark = MARKS.find(([pattern]) => pattern.test(line))
    if (mark !== undefined) return `${mark[1]}, no manifest before it is rendered`
  }
  return undefined
}
