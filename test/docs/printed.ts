import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** A command as a page prints it. */
export interface Printed {
  readonly page: string
  readonly line: number
  /** Whole, with its continuation lines, here-documents and comment. */
  readonly text: string
  /** Without its comment: how tests name it. */
  readonly name: string
}

/** The pages that users read. Decisions and the record of changes tell of the past. */
export function pages(): readonly string[] {
  const all = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'deploy/**/*.md'], { cwd: ROOT })
  return all.filter((page) => !page.startsWith('docs/decisions/') && page !== 'CHANGELOG.md').toSorted()
}

/** The text of a page, or of one chapter of it: `docs/cli.md#host`. */
export function textOf(page: string): string {
  const [path = '', chapter] = page.split('#')
  const whole = readFileSync(join(ROOT, path), 'utf8')
  if (chapter === undefined) return whole
  const [, ...chapters] = whole.split(/^## /m)
  const found = chapters.find((text) => text.split('\n')[0] === chapter)
  if (found === undefined) throw new Error(`${path} has no chapter ${chapter}`)
  return found
}

/** A block between fences, without what indents it in a list. */
export interface Block {
  readonly page: string
  readonly line: number
  /** The word after the fence: `sh`, `text`, `yaml`; empty where there is none. */
  readonly language: string
  readonly text: string
}

export function blocksOf(page: string, whole = textOf(page)): readonly Block[] {
  const lines = whole.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, indent = '', language] = /^( *)```(.*)$/.exec(lines[at] ?? '') ?? []
    if (language === undefined) continue
    const end = lines.findIndex((line, index) => index > at && line.trim() === '```')
    const inside = lines.slice(at + 1, end).map((line) => line.slice(indent.length))
    blocks.push({ page, line: at + 2, language, text: inside.map((line) => `${line}\n`).join('') })
    at = end
  }
  return blocks
}

/** The commands of all blocks of a shell, in order. */
export function commandsOf(page: string, whole?: string): readonly Printed[] {
  return blocksOf(page, whole).flatMap((block) => (/^sh( |$)/.test(block.language) ? split(block) : []))
}

function split({ page, line: first, text }: Block): readonly Printed[] {
  const lines = text.trimEnd().split('\n')
  const commands: Printed[] = []
  for (let at = 0; at < lines.length; at++) {
    const from = at
    while (lines[at]?.endsWith('\\')) at++
    const [, word] = /<<'?(\w+)'?/.exec(lines[at] ?? '') ?? []
    if (word !== undefined) while (at < lines.length && lines[at] !== word) at++
    const whole = lines.slice(from, at + 1).join('\n')
    const name = whole.replace(/(^|\s+)#\s.*$/, '').trim()
    if (name !== '') commands.push({ page, line: first + from, text: whole, name })
  }
  return commands
}
