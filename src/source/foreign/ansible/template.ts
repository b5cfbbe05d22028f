import { LIMITS } from '../../../lib/limits.ts'
import { isFields } from '../../manifest.ts'
import { Entries, type ExpressionScope, evaluate, isTrue, UNKNOWN } from './expression.ts'
import type { Variables } from './inventory.ts'

/** Marks in a text what croft could not evaluate: no file contains it, because it is removed from the input. */
export const HOLE = '\uffff'

/** Variables that look like facts of a machine, which Ansible gathers, but that only the inventory sets. */
const NO_FACT = /^ansible_(?:ssh_)?(?:host|port|user|connection|private_key_file|password|pass|common_args|become.*)$/

export interface HostVariables {
  /** The evaluated value. Undefined: not set. UNKNOWN, or a text with holes: only Ansible knows it. */
  value(name: string): unknown
  /** Every variable that an expression asked for. */
  readonly asked: ReadonlySet<string>
}

/** The variables of one host, as its expressions see them. What they may cost is bounded for each host. */
export function hostVariables(
  host: string,
  all: ReadonlyMap<string, readonly Variables[]>,
  hostsOf: (group: string) => readonly string[] | undefined,
): HostVariables {
  const known = new Map<string, unknown>()
  const asked = new Set<string>()
  let steps = 0
  let characters = 0
  let nested = 0
  const afford = (more: number) => {
    steps += 1
    characters += more
    return steps <= LIMITS.inventory.steps && characters <= LIMITS.inventory.characters
  }
  const ofHost = (owner: string, name: string): unknown => {
    const key = `${owner}\n${name}`
    if (known.has(key)) return known.get(key)
    if (nested >= LIMITS.inventory.depth || !afford(1)) return UNKNOWN
    // Prevents endless recursion of a variable that refers to itself.
    known.set(key, UNKNOWN)
    const layer = all.get(owner)?.find((one) => one.has(name))
    nested += 1
    const value =
      layer === undefined ? withoutVariable(owner, name) : rendered(layer.get(name), scopeOf(owner), afford, 0)
    nested -= 1
    known.set(key, value)
    return value
  }
  const withoutVariable = (owner: string, name: string): unknown => {
    if (name === 'inventory_hostname') return owner
    if (name === 'groups') return new Entries(hostsOf)
    if (name === 'hostvars')
      return new Entries((other) => (all.has(other) ? new Entries((of) => ofHost(other, of)) : undefined))
    return name.startsWith('ansible_') && !NO_FACT.test(name) ? UNKNOWN : undefined
  }
  const scopeOf = (owner: string): ExpressionScope => ({
    afford,
    variable(name) {
      asked.add(name)
      return ofHost(owner, name)
    },
  })
  return { asked, value: (name) => ofHost(host, name) }
}

type Afford = ExpressionScope['afford']

function rendered(value: unknown, scope: ExpressionScope, afford: Afford, depth: number): unknown {
  if (typeof value === 'string') return renderedText(value.replaceAll(HOLE, ''), scope, afford)
  if (depth > LIMITS.inventory.depth || !afford(1)) return UNKNOWN
  if (Array.isArray(value)) return value.map((one) => rendered(one, scope, afford, depth + 1))
  if (isFields(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rendered(one, scope, afford, depth + 1)]))
  return value
}

function renderedText(text: string, scope: ExpressionScope, afford: Afford): unknown {
  if (text.startsWith('$ANSIBLE_VAULT;')) return UNKNOWN
  if (!/\{[{%#]/.test(text)) return text
  const pieces = piecesOf(text)
  if (pieces === undefined) return UNKNOWN
  const [only] = pieces
  // A single expression keeps its type.
  if (pieces.length === 1 && only?.sort === 'expression') return evaluate(only.text, scope) ?? UNKNOWN
  return written(pieces, scope, afford)
}

interface TemplatePiece {
  readonly sort: 'text' | 'expression' | 'statement'
  readonly text: string
}

const ENDS = { '{{': '}}', '{%': '%}', '{#': '#}' } as const

function piecesOf(text: string): readonly TemplatePiece[] | undefined {
  const pieces: TemplatePiece[] = []
  const opening = /\{[{%#]/g
  let at = 0
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const open = match[0] as keyof typeof ENDS
    const end = text.indexOf(ENDS[open], match.index + 2)
    if (end < 0) return undefined
    if (match.index > at) pieces.push({ sort: 'text', text: text.slice(at, match.index) })
    const inner = text.slice(match.index + 2, end).replace(/^[-+]|[-+]$/g, '')
    if (open !== '{#') pieces.push({ sort: open === '{{' ? 'expression' : 'statement', text: inner.trim() })
    at = end + 2
    opening.lastIndex = at
  }
  if (at < text.length) pieces.push({ sort: 'text', text: text.slice(at) })
  return pieces
}

/** The state of an `if`: its branch is written, left out, or not known. */
interface Branch {
  state: 'written' | 'left-out' | 'unknown'
  done: boolean
}

function written(pieces: readonly TemplatePiece[], scope: ExpressionScope, afford: Afford): unknown {
  const branches: Branch[] = []
  let out = ''
  for (const { sort, text } of pieces) {
    const inside = branches.every(({ state }) => state === 'written')
    if (sort === 'statement') {
      const [word = '', condition = ''] = /^(\w+)\s*([\s\S]*)$/.exec(text)?.slice(1) ?? []
      const current = branches.at(-1)
      if (word === 'if') {
        const value = inside ? evaluate(condition, scope) : false
        branches.push(branchOf(value))
        if (value === UNKNOWN) out += HOLE
      } else if (word === 'endif' && current !== undefined) branches.pop()
      else if ((word === 'elif' || word === 'else') && current !== undefined) {
        if (current.state === 'unknown') continue
        const next = current.done ? false : word === 'else' ? true : evaluate(condition, scope)
        if (next === UNKNOWN) out += HOLE
        Object.assign(current, branchOf(next), { done: current.done || (next !== UNKNOWN && isTrue(next)) })
      } else return UNKNOWN
      continue
    }
    if (!inside) continue
    const more = sort === 'text' ? text : textOf(evaluate(text, scope))
    if (!afford(more.length)) return UNKNOWN
    // Merge adjacent holes.
    out += out.endsWith(HOLE) && more === HOLE ? '' : more
  }
  return branches.length > 0 ? UNKNOWN : out
}

function branchOf(value: unknown): Branch {
  if (value === UNKNOWN) return { state: 'unknown', done: false }
  return { state: isTrue(value) ? 'written' : 'left-out', done: isTrue(value) }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'number' ? String(value) : HOLE
}
