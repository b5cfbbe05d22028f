// The manual pages of a release, made of what `croft --help` and docs/cli.md say.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { EXAMPLES } from '../src/cli/help.ts'
import { createProgram } from '../src/cli/program.ts'
import type { Runtime } from '../src/cli/runtime.ts'

/** File names (`croft-plan.1`) with their text, for every verb and croft itself. */
export function manPages(root: string, version: string): ReadonlyMap<string, string> {
  // Only the tree of commands is wanted, and of a runtime it asks for nothing but the version.
  const program = createProgram({ version } as Runtime, () => undefined)
  const prose = sections(readFileSync(join(root, 'docs', 'cli.md'), 'utf8'))
  const verbs = program.commands.filter((verb) => !verb.name().startsWith('__') && verb.name() !== 'help')
  const pages = verbs.map((verb): [string, string] => [
    `croft-${verb.name()}.1`,
    page(`croft-${verb.name()}`, version, verb.description(), [
      ['SYNOPSIS', `.B croft ${escaped(verb.name())}\n${escaped(verb.usage())}`],
      ['DESCRIPTION', roff(prose.get(verb.name()) ?? verb.description())],
      ['OPTIONS', options(verb)],
      ['EXAMPLES', literal(EXAMPLES[verb.name()] ?? [])],
      ['SEE ALSO', '.BR croft (1)'],
    ]),
  ])
  const listed = verbs.map((verb) => `.TP\n.BR croft\\-${escaped(verb.name())} (1)\n${escaped(verb.description())}`)
  pages.push([
    'croft.1',
    page('croft', version, program.description(), [
      ['SYNOPSIS', '.B croft\n.I command\n[options]'],
      ['DESCRIPTION', roff(prose.get('') ?? program.description())],
      ['COMMANDS', listed.join('\n')],
    ]),
  ])
  return new Map(pages)
}

/** What each heading of the page says, under every verb that the heading names; what comes before them under ''. */
function sections(markdown: string): ReadonlyMap<string, string> {
  const [intro = '', ...rest] = markdown.split(/^## /m)
  const found = new Map([['', intro.replace(/^# .*\n/, '')]])
  for (const section of rest) {
    const [heading = '', ...lines] = section.split('\n')
    for (const verb of heading.split(', ')) found.set(verb, lines.join('\n'))
  }
  return found
}

function page(name: string, version: string, summary: string, parts: readonly (readonly [string, string])[]): string {
  const head = `.TH ${name.toUpperCase().replaceAll('-', '\\-')} 1 "" "croft ${version}" "croft"`
  const body = parts.filter(([, text]) => text !== '').map(([title, text]) => `.SH ${title}\n${text}`)
  return `${[head, `.SH NAME\n${escaped(name)} \\- ${escaped(summary)}`, ...body].join('\n')}\n`
}

function options(verb: Command): string {
  return verb.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, argChoices }) => {
      const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`
      return `.TP\n.B ${escaped(flags)}\n${escaped(`${description}${choices}`)}`
    })
    .join('\n')
}

function literal(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `.nf\n${lines.map(escaped).join('\n')}\n.fi`
}

/** Paragraphs, fenced lines and rows of tables; marks of Markdown are left out. */
function roff(markdown: string): string {
  const out: string[] = []
  let fenced = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) {
      fenced = !fenced
      out.push(fenced ? '.PP\n.nf' : '.fi')
    } else if (fenced) out.push(escaped(line))
    else if (/^\|[-| ]+\|$/.test(line)) continue
    else if (line.startsWith('|'))
      out.push(
        '.br',
        escaped(
          plain(
            line
              .slice(1, -1)
              .split('|')
              .map((cell) => cell.trim())
              .join('  '),
          ),
        ),
      )
    else if (line.trim() === '') out.push('.PP')
    else out.push(escaped(plain(line)))
  }
  return out
    .join('\n')
    .replaceAll(/(?:^|\n)(?:\.PP(?:\n|$))+/g, '\n.PP\n')
    .trim()
    .replace(/^\.PP\n/, '')
    .replace(/\n\.PP$/, '')
}

function plain(text: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('**', '')
    .replaceAll('\\|', '|')
}

/** A backslash, a hyphen and a leading dot or quote mean something to man. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
}
