import { LIMITS } from '../../lib/limits.ts'

/** The branch and the request, as the title of a comment names them. */
interface PreviewedNames {
  readonly base: string
  readonly head: string
}

export function conflicting(mark: string, { base, head }: PreviewedNames, files: readonly string[]): string {
  const shown = files.slice(0, 20).map((file) => `- \`${file.replaceAll(/[^\w./ -]/g, '')}\``)
  return `${mark}\n### croft plan: ${base.replaceAll(/[^\w./-]/g, '')} → ${head}\n\nIt cannot be merged. Both sides changed:\n\n${shown.join('\n')}\n`
}

/** Anybody may open a request: one that adds thousands of objects is not planned before a person merged it. */
export function tooLarge(mark: string, { base, head }: PreviewedNames, more: number): string {
  return `${mark}\n### croft plan: ${base.replaceAll(/[^\w./-]/g, '')} → ${head}\n\nNot planned: it declares ${more} more objects than ${base.replaceAll(/[^\w./-]/g, '')}, and croft plans requests that add at most ${LIMITS.previewedDeclarations}. Run \`croft plan\` in a clone, or split it.\n`
}

/** Adds the names of connections that are not planned because a request must not send croft to new places. */
export function withLeft(text: string, left: readonly string[]): string {
  if (left.length === 0) return text
  const list = left.map((name) => `\`${name.replaceAll(/[^\w./-]/g, '')}\``).join(', ')
  return `${text}\nNot planned before it is merged, because a request may not send croft to new places: ${list}.\n`
}
