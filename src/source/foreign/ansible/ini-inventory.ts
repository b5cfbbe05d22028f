import { addHosts, groupOf, type InventoryDraft } from './inventory.ts'

/** Section headers: `[group]`, `[group:children]`, `[group:vars]`. */
const SECTION = /^\[([^\]:\s]+)(?::(children|vars))?\]\s*(?:[#;].*)?$/

/** An inventory in Ansible's INI form. Answers what stopped it, with the line. */
export function readIniInventory(text: string, into: InventoryDraft): string | undefined {
  let group = 'ungrouped'
  let part: string | undefined
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue
    const wrong = (why: string) => `line ${index + 1}: ${why}`
    const section = SECTION.exec(line)
    if (section !== null) {
      group = section[1] ?? ''
      part = section[2]
      if (groupOf(into, group) === undefined) return wrong('there are too many groups')
    } else if (line.startsWith('[')) return wrong('this is not a section like [server] or [server:vars]')
    else if (part === 'children') {
      const child = wordsOf(line)?.[0] ?? ''
      if (groupOf(into, child) === undefined) return wrong('there are too many groups')
      groupOf(into, group)?.children.add(child)
    } else if (part === 'vars') {
      const [name, value] = assignment(line) ?? []
      if (name === undefined) return wrong('this is not a variable like name=value')
      groupOf(into, group)?.vars.set(name, scalar(unquoted(value ?? '')))
    } else {
      const [name, ...words] = wordsOf(line) ?? []
      if (name === undefined) return wrong('a quote is not closed')
      const vars = words.map(assignment)
      if (vars.some((one) => one === undefined))
        return wrong('behind the name of a host stand variables like name=value')
      const stopped = addHosts(
        into,
        group,
        name,
        vars.flatMap((one) => (one === undefined ? [] : [[one[0], scalar(one[1])] as const])),
      )
      if (stopped !== undefined) return wrong(stopped)
    }
  }
  return undefined
}

function assignment(text: string): readonly [name: string, value: string] | undefined {
  const at = text.indexOf('=')
  const name = text.slice(0, Math.max(at, 0)).trim()
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [name, text.slice(at + 1).trim()] : undefined
}

function unquoted(text: string): string {
  const quote = text[0]
  return text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote) ? text.slice(1, -1) : text
}

/** Converts a text as Ansible does: to a number or a boolean. */
function scalar(text: string): unknown {
  if (/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return Number(text)
  if (text === 'True' || text === 'true') return true
  return text === 'False' || text === 'false' ? false : text
}

/** Words as a shell separates them, up to a comment. Undefined: a quote is not closed. */
export function wordsOf(text: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (const sign of text) {
    if (quote !== undefined) {
      if (sign === quote) quote = undefined
      else word = `${word ?? ''}${sign}`
    } else if (sign === '"' || sign === "'") {
      quote = sign
      word ??= ''
    } else if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (sign === '#' && word === undefined) break
    else word = `${word ?? ''}${sign}`
  }
  if (quote !== undefined) return undefined
  return word === undefined ? words : [...words, word]
}
