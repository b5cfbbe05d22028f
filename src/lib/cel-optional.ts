import type * as Cel from '@bufbuild/cel'

type CelNode = NonNullable<ReturnType<typeof Cel.parse>['expr']>
type Parse = (text: string) => CelNode

/*
 * Optional values (`a.?b`, `a[?0]`, `orValue`), which the library does not have. Their two signs become calls before the text is
 * parsed; what is selected of an optional value after that is an optional value again.
 */

/** `a.?b` is parsed as `a.optional_field("b")`, `a[?0]` as `a.optional_entry(0)`. */
export const [OPTIONAL_FIELD, OPTIONAL_ENTRY] = ['optional_field', 'optional_entry']

/** Represents CEL's optional values as maps, with a key that no expression can spell. */
const [SOME, NONE] = ['\u0000some', '\u0000none']

/** The text with calls in the place of the signs, and where each of its letters stood before. Throws for what is not supported. */
export function spelledOut(text: string): { readonly text: string; readonly placeIn: (at: number) => number } {
  if (!text.includes('?')) return { text, placeIn: (at) => at }
  let made = ''
  const places: number[] = []
  /** Brackets that are open; those of `[?` end as a call does. */
  const open: boolean[] = []
  const put = (piece: string, at: number) => {
    made += piece
    for (let letter = 0; letter < piece.length; letter++) places.push(at)
  }
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const field = /^\.\s*\?\s*([A-Za-z_]\w*)$/.exec(token)?.[1]
    if (field !== undefined) put(`.${OPTIONAL_FIELD}("${field}")`, index)
    else if (/^\[\s*\?$/.test(token)) {
      // After a value it is an index, elsewhere the beginning of a list.
      if (!/[\w\])"'`]\s*$/.test(made))
        throw new Error('entries of a list that may be missing ([?a]) are not supported')
      put(`.${OPTIONAL_ENTRY}(`, index)
      open.push(true)
    } else if (/^[{,]\s*\?$/.test(token)) {
      throw new Error('entries that may be missing ({?a: b}, [a, ?b]) are not supported')
    } else if (token === '[') {
      put(token, index)
      open.push(false)
    } else if (token === ']') put(open.pop() === true ? ')' : token, index)
    else for (let letter = 0; letter < token.length; letter++) put(token.charAt(letter), index + letter)
  }
  return { text: made, placeIn: (at) => places[at] ?? text.length }
}

/** Texts and comments as a whole, the signs, and every other letter alone. */
const TOKEN =
  /[rR]?"""[\s\S]*?"""|[rR]?'''[\s\S]*?'''|[rR]"[^"\n]*"|[rR]'[^'\n]*'|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*|\.\s*\?\s*[A-Za-z_]\w*|\[\s*\?|[{,]\s*\?|[\s\S]/g

/** Makes selections from an optional value optional too, and expands `optMap`. */
export function withOptionalChains(root: CelNode, parse: Parse): CelNode {
  const optional = new WeakSet<CelNode>()
  visit(root, (node) => {
    chained(node, parse, (one) => one !== undefined && optional.has(one))
    if (isOptional(node, optional)) optional.add(node)
  })
  return root
}

function visit(value: unknown, change: (node: CelNode) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, change)
  else if (value !== null && typeof value === 'object') {
    for (const inner of Object.values(value)) visit(inner, change)
    if ('exprKind' in value) change(value as CelNode)
  }
}

function chained(node: CelNode, parse: Parse, answersOptional: (node: CelNode | undefined) => boolean): void {
  const { exprKind: kind } = node
  if (kind.case === 'selectExpr' && answersOptional(kind.value.operand)) {
    const { operand, field, testOnly } = kind.value
    const call = `of.${OPTIONAL_FIELD}(${JSON.stringify(field)})`
    become(node, parse(testOnly ? `${call}.hasValue()` : call), { of: operand })
  }
  if (kind.case !== 'callExpr') return
  const { function: name, target, args } = kind.value
  if (name === '_[_]' && answersOptional(args[0]))
    become(node, parse(`of.${OPTIONAL_ENTRY}(at)`), { of: args[0], at: args[1] })
  else if ((name === 'optMap' || name === 'optFlatMap') && target !== undefined && args.length === 2) {
    const [variable, result] = args
    if (variable?.exprKind.case !== 'identExpr') throw new Error(`${name} needs a name and an expression`)
    // Lists of one give names to values, so that each is evaluated once.
    const inner = `[${ONE}.value()].map(${variable.exprKind.value.name}, made)[0]`
    const outer = name === 'optMap' ? `optional.of(${inner})` : inner
    const form = parse(`[of].map(${ONE}, ${ONE}.hasValue() ? ${outer} : optional.none())[0].or(optional.none())`)
    become(node, form, { of: target, made: result })
  }
}

/** Shadows no name of the user. */
const ONE = 'optional_value_itself'

const OPTIONAL_CALLS: ReadonlySet<string> = new Set([OPTIONAL_FIELD, OPTIONAL_ENTRY, 'or'])

/** Reports whether a node returns an optional value, as far as its form shows. */
function isOptional({ exprKind: kind }: CelNode, known: WeakSet<CelNode>): boolean {
  if (kind.case !== 'callExpr') return false
  const { function: name, target, args } = kind.value
  if (name === '_?_:_') return args[1] !== undefined && known.has(args[1])
  if (target?.exprKind.case === 'identExpr' && target.exprKind.value.name === 'optional') return true
  return target !== undefined && OPTIONAL_CALLS.has(name)
}

/** Puts a form in the place of a node, with other nodes in the place of its names. */
function become(node: CelNode, form: CelNode, names: Readonly<Record<string, CelNode | undefined>>): void {
  visit(form, (one) => {
    const found = one.exprKind.case === 'identExpr' ? names[one.exprKind.value.name] : undefined
    if (found === undefined) return
    one.exprKind = found.exprKind
    one.id = found.id
  })
  node.exprKind = form.exprKind
}

/** The functions of optional values. */
export function optionalFunctions({
  celFunc,
  celMethod,
  celMap,
  isCelList,
  isCelMap,
  CelScalar,
}: typeof Cel): readonly Cel.CelFunc[] {
  const { DYN, STRING, BOOL } = CelScalar
  const some = (value: unknown) => celMap(new Map([[SOME, value as Cel.CelInput]]))
  const none = () => celMap(new Map([[NONE, true]]))
  const inside = (value: unknown): { readonly value?: unknown } => {
    if (!isCelMap(value)) throw new Error('it is no optional value')
    if (value.has(SOME)) return { value: value.get(SOME) }
    if (value.has(NONE)) return {}
    throw new Error('it is no optional value')
  }
  const entry = (on: unknown, key: unknown): Cel.CelInput => {
    if (isCelMap(on)) {
      if (on.has(NONE)) return on
      if (on.has(SOME)) return entry(on.get(SOME), key)
      return on.has(key as string) ? some(on.get(key as string)) : none()
    }
    if (!isCelList(on) || typeof key !== 'bigint' || key < 0n || key >= BigInt(on.size)) return none()
    return some(on.get(Number(key)))
  }
  return [
    celMethod(OPTIONAL_FIELD, DYN, [STRING], DYN, function (name) {
      return entry(this, name)
    }),
    celMethod(OPTIONAL_ENTRY, DYN, [DYN], DYN, function (key) {
      return entry(this, key)
    }),
    celFunc('optional.of', [DYN], DYN, some),
    celFunc('optional.none', [], DYN, none),
    celFunc('optional.ofNonZeroValue', [DYN], DYN, (value) => (isZero(value) ? none() : some(value))),
    celMethod('hasValue', DYN, [], BOOL, function () {
      return 'value' in inside(this)
    }),
    celMethod('value', DYN, [], DYN, function () {
      const found = inside(this)
      if (!('value' in found)) throw new Error('the optional value is not there')
      return found.value as Cel.CelInput
    }),
    celMethod('orValue', DYN, [DYN], DYN, function (other) {
      const found = inside(this)
      return ('value' in found ? found.value : other) as Cel.CelInput
    }),
    celMethod('or', DYN, [DYN], DYN, function (other) {
      return ('value' in inside(this) ? this : other) as Cel.CelInput
    }),
  ]

  function isZero(value: unknown): boolean {
    if (isCelList(value) || isCelMap(value)) return value.size === 0
    return value === null || value === '' || value === 0n || value === 0 || value === false
  }
}

/** Returns the content of an optional value, or undefined if it is empty; undefined overall for other values. */
export function contentOf(fields: {
  has(name: string): boolean
  get(name: string): unknown
}): { readonly value: unknown } | undefined {
  if (fields.has(SOME)) return { value: fields.get(SOME) }
  return fields.has(NONE) ? { value: undefined } : undefined
}
