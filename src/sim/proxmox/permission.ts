import { type Identity, may } from '../world/access.ts'
import type { World } from '../world/types.ts'
import { forbidden } from './api-error.ts'

/** A permission rule, taken apart from its text: `(and (perm /vms/{vmid} VM.Clone) (or …))`. */
type Rule =
  | { readonly kind: 'all' | 'world' | 'root' | 'unknown' }
  | { readonly kind: 'and' | 'or'; readonly rules: readonly Rule[] }
  | {
      readonly kind: 'perm'
      readonly path: string
      readonly any: readonly string[]
      readonly every: readonly string[]
      readonly onlyIf?: string
    }

const parsed = new Map<string, Rule>()

export function ruleOf(text: string): Rule {
  let rule = parsed.get(text)
  if (rule === undefined) {
    rule = parse(text)
    parsed.set(text, rule)
  }
  return rule
}

/** Throws the refusal that the daemon gives. Rules about users that are more than a privilege are left to handlers. */
export function requirePermission(
  world: World,
  who: Identity,
  rule: Rule,
  params: Readonly<Record<string, unknown>>,
): void {
  if (rule.kind === 'root') {
    if (who.user !== 'root@pam' || who.token?.privsep) throw forbidden('user != root@pam')
    return
  }
  if (rule.kind === 'and') {
    for (const one of rule.rules) requirePermission(world, who, one, params)
    return
  }
  if (rule.kind === 'or') {
    if (!rule.rules.some((one) => holds(world, who, one, params))) throw forbidden()
    return
  }
  if (rule.kind !== 'perm' || holds(world, who, rule, params)) return
  const path = fill(rule.path, params)
  const missing = rule.every.find((privilege) => !may(world, who, path, privilege))
  throw forbidden(`${path}, ${missing ?? rule.any.join('|')}`)
}

function holds(world: World, who: Identity, rule: Rule, params: Readonly<Record<string, unknown>>): boolean {
  switch (rule.kind) {
    case 'and':
      return rule.rules.every((one) => holds(world, who, one, params))
    case 'or':
      return rule.rules.some((one) => holds(world, who, one, params))
    case 'root':
      return who.user === 'root@pam' && !who.token?.privsep
    case 'perm': {
      if (rule.onlyIf !== undefined && params[rule.onlyIf] === undefined) return false
      const path = fill(rule.path, params)
      if (rule.every.length > 0) return rule.every.every((privilege) => may(world, who, path, privilege))
      return rule.any.some((privilege) => may(world, who, path, privilege))
    }
    default:
      return true
  }
}

function fill(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) => String(params[name] ?? ''))
}

function parse(text: string): Rule {
  if (text === 'all' || text === 'world' || text === 'root') return { kind: text }
  const inner = /^\((.*)\)$/s.exec(text)?.[1]
  if (inner === undefined) return { kind: 'unknown' }
  const space = inner.indexOf(' ')
  const kind = inner.slice(0, space)
  const rest = inner.slice(space + 1)
  if (kind === 'and' || kind === 'or') return { kind, rules: groups(rest).map(parse) }
  if (kind !== 'perm') return { kind: 'unknown' }
  const [path = '', privileges = '', word, onlyIf] = rest.split(' ')
  const every = privileges.includes('+') || !privileges.includes('|') ? privileges.split('+') : []
  const any = every.length > 0 ? [] : privileges.split('|')
  return { kind: 'perm', path, any, every, ...(word === 'if' && onlyIf !== undefined ? { onlyIf } : {}) }
}

/** The bracketed parts of a text, one by one. */
function groups(text: string): string[] {
  const found: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '(' && depth++ === 0) start = index
    if (text[index] === ')' && --depth === 0) found.push(text.slice(start, index + 1))
  }
  return found
}
