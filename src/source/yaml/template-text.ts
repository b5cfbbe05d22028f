import { namesOurGroup } from './broken-text.ts'
import type { YamlFinding } from './full-yaml.ts'

/** How the languages that people write YAML templates in mark what they replace. */
const MARKS: readonly (readonly [RegExp, string])[] = [
  [/\{%|\{#/, 'a Jinja template'],
  [/\{\{/, 'a template with {{ }}'],
  [/<%|\[\[[ .%-]/, 'a template with <% %> or [[ ]]'],
  [/\$\{/, 'a template with variables of a shell'],
]

/**
 * Is a document that is no YAML the template of one? Only where the reader stumbles over a mark, and only if nothing in
 * it names a group of ours: a manifest with a slip of the pen must stay a manifest, or its machine would count as gone.
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
