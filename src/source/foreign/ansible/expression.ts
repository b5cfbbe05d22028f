/** A value that only a run of Ansible knows: a fact of the machine, or syntax that croft does not read. */
export const UNKNOWN = Symbol('unknown')

/** The variables and settings of an evaluation. */
export interface ExpressionScope {
  /** Undefined: there is no such variable. */
  variable(name: string): unknown
  /** Charged for each step; false when the budget is used up. */
  afford(characters: number): boolean
}

const TOKEN = /\s*(?:("[^"\\]*"|'[^'\\]*')|([0-9]{1,15})|([A-Za-z_][A-Za-z0-9_]*)|(==|!=|>=|<=|[-()[\],.|~+<>]))/y

/** Evaluates the text between `{{` and `}}`, in the small part of Jinja that inventories use. */
export function evaluate(text: string, scope: ExpressionScope): unknown {
  const tokens = tokensOf(text)
  if (tokens === undefined) return UNKNOWN
  const parser = createParser(tokens, scope)
  const value = parser.ternary(0)
  return parser.ended() ? value : UNKNOWN
}

/** Jinja's truth: an empty text, list or map, 0, none and what is not there are false. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (value !== null && typeof value === 'object') return Object.keys(value).length > 0
  return Boolean(value)
}

function tokensOf(text: string): readonly string[] | undefined {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  const end = text.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text)
    if (match === null) return undefined
    tokens.push(match[0].trim())
  }
  return tokens
}

/** Deeper nesting is no expression by a person. */
const MOST_DEPTH = 10

function createParser(tokens: readonly string[], scope: ExpressionScope) {
  let at = 0
  let broken = false
  const take = (token: string) => {
    if (tokens[at] !== token) return false
    at += 1
    return true
  }
  const fail = () => {
    broken = true
    return UNKNOWN
  }

  function ternary(depth: number): unknown {
    if (depth > MOST_DEPTH || !scope.afford(1)) return fail()
    const value = either(depth)
    if (!take('if')) return value
    const condition = either(depth)
    const otherwise = take('else') ? ternary(depth + 1) : ''
    if (condition === UNKNOWN) return UNKNOWN
    return isTrue(condition) ? value : otherwise
  }

  function either(depth: number): unknown {
    let value = both(depth)
    while (take('or')) {
      const right = both(depth)
      if (value === UNKNOWN) value = right !== UNKNOWN && isTrue(right) ? right : UNKNOWN
      else value = isTrue(value) ? value : right
    }
    return value
  }

  function both(depth: number): unknown {
    let value = negated(depth)
    while (take('and')) {
      const right = negated(depth)
      if (value === UNKNOWN) value = right !== UNKNOWN && !isTrue(right) ? right : UNKNOWN
      else value = isTrue(value) ? right : value
    }
    return value
  }

  function negated(depth: number): unknown {
    if (!take('not')) return compared(depth)
    if (depth > MOST_DEPTH) return fail()
    const value = negated(depth + 1)
    return value === UNKNOWN ? UNKNOWN : !isTrue(value)
  }

  function compared(depth: number): unknown {
    const left = joined(depth)
    if (take('is')) {
      const not = take('not')
      const test = tokens[at++]
      if (test !== 'defined' && test !== 'undefined') return UNKNOWN
      return left === UNKNOWN ? UNKNOWN : ((left !== undefined) === (test === 'defined')) !== not
    }
    const sign = tokens[at]
    if (sign === undefined || !/^(?:==|!=|>=|<=|<|>)$/.test(sign)) return left
    at += 1
    const right = joined(depth)
    if (left === UNKNOWN || right === UNKNOWN) return UNKNOWN
    if (sign === '==' || sign === '!=') return (left === right) === (sign === '==')
    if (typeof left !== 'number' || typeof right !== 'number') return UNKNOWN
    if (sign === '>=') return left >= right
    if (sign === '<=') return left <= right
    return sign === '<' ? left < right : left > right
  }

  function joined(depth: number): unknown {
    let value = reached(depth)
    for (let sign = tokens[at]; sign === '+' || sign === '~'; sign = tokens[at]) {
      at += 1
      const right = reached(depth)
      const texts = typeof value === 'string' && typeof right === 'string'
      const numbers = sign === '+' && typeof value === 'number' && typeof right === 'number'
      if (numbers) value = Number(value) + Number(right)
      else value = texts && scope.afford(String(value).length) ? `${String(value)}${String(right)}` : UNKNOWN
    }
    return value
  }

  function reached(depth: number): unknown {
    let value = primary(depth)
    for (;;) {
      if (take('[')) {
        const key = ternary(depth + 1)
        if (!take(']')) return fail()
        value = entryOf(value, key)
      } else if (take('.')) value = entryOf(value, tokens[at++])
      else if (take('|')) value = filtered(value, depth)
      else return value
    }
  }

  function filtered(value: unknown, depth: number): unknown {
    const name = [tokens[at++] ?? '']
    while (take('.')) name.push(tokens[at++] ?? '')
    const given = take('(') ? listUntil(')', depth) : []
    return given === undefined ? fail() : filter(name.join('.'), value, given)
  }

  function primary(depth: number): unknown {
    const token = tokens[at++]
    if (token === undefined) return fail()
    if (token === '(') {
      const value = ternary(depth + 1)
      return take(')') ? value : fail()
    }
    if (token === '[') return listUntil(']', depth) ?? fail()
    if (/^["']/.test(token)) return token.slice(1, -1)
    if (/^[0-9]/.test(token)) return Number(token)
    if (!/^[A-Za-z_]/.test(token)) return fail()
    if (/^[Tt]rue$/.test(token)) return true
    if (/^[Ff]alse$/.test(token)) return false
    // A call, like lookup('env', 'HOME'), asks the computer that Ansible runs on.
    if (take('(')) return listUntil(')', depth) === undefined ? fail() : UNKNOWN
    return scope.variable(token)
  }

  function listUntil(close: string, depth: number): unknown[] | undefined {
    const list: unknown[] = []
    while (!take(close)) {
      if (list.length > 0 && !take(',')) return undefined
      list.push(ternary(depth + 1))
      if (broken) return undefined
    }
    return list
  }

  return { ternary, ended: () => !broken && at === tokens.length }
}

function entryOf(value: unknown, key: unknown): unknown {
  if (value === UNKNOWN || key === UNKNOWN) return UNKNOWN
  if (Array.isArray(value)) return typeof key === 'number' ? (value[key] as unknown) : UNKNOWN
  if (value instanceof Entries) return value.get(String(key))
  if (value === null || typeof value !== 'object' || typeof key !== 'string') return undefined
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

/** A map whose entries are computed on access: `hostvars`. */
export class Entries {
  readonly get: (key: string) => unknown
  constructor(get: (key: string) => unknown) {
    this.get = get
  }
}

function filter(name: string, value: unknown, given: readonly unknown[]): unknown {
  if (value === UNKNOWN) return UNKNOWN
  if (name === 'default' || name === 'd')
    return value === undefined || (given[1] === true && !isTrue(value)) ? given[0] : value
  if (value === undefined) return UNKNOWN
  if (name === 'length' || name === 'count')
    return typeof value === 'string' || Array.isArray(value) ? value.length : UNKNOWN
  if (name === 'first' && Array.isArray(value)) return value[0] as unknown
  if (name === 'last' && Array.isArray(value)) return value.at(-1) as unknown
  if (name === 'bool' && typeof value === 'boolean') return value
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof text !== 'string') return UNKNOWN
  if (name === 'string') return text
  if (name === 'int') return /^[0-9]{1,15}$/.test(text) ? Number(text) : UNKNOWN
  if (name === 'bool') return /^(?:true|yes|on|1)$/i.test(text)
  if (typeof value !== 'string') return UNKNOWN
  if (name === 'trim') return value.trim()
  if (name === 'lower') return value.toLowerCase()
  return name === 'upper' ? value.toUpperCase() : UNKNOWN
}
