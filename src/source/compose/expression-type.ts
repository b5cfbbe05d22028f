import { type CelExpression, parseCel } from '../../lib/cel.ts'
import { OPTIONAL_ENTRY, OPTIONAL_FIELD } from '../../lib/cel-optional.ts'
import { nearest } from '../../lib/nearest.ts'
import { ANYTHING, shapeWord, TEXT, type ValueShape } from './shape.ts'

export type TypeScope = Readonly<Record<string, ValueShape>>

export type TypedExpression =
  | {
      readonly type: ValueShape
      /** The result is an optional value. */
      readonly mayBeMissing: boolean
      /** Paths that it reads, from the names in scope: `['vm', 'spec', 'memory']`. */
      readonly reads: readonly (readonly string[])[]
      /** Returns the expression with one name replaced. */
      renamed(from: string, to: string): string
    }
  | { readonly problem: string }

class TypeMistake extends Error {}

/** The type of an expression over names whose shapes are known, found without evaluating anything. */
export function typeOfExpression(expression: string, scope: TypeScope): TypedExpression {
  const parsed = parseCel(expression)
  if ('problem' in parsed) return { problem: `not an expression in CEL: ${parsed.problem}` }
  const walk = { reads: [] as string[][], places: [] as { readonly name: string; readonly at: number }[] }
  try {
    const type = infer(parsed.root, scope, (path, node) => {
      walk.reads.push(path)
      walk.places.push({ name: path[0] ?? '', at: parsed.placeOf(node) })
    })
    return {
      // A field that is given an optional value has it, or is left out.
      type: contents.get(type) ?? type,
      mayBeMissing: contents.has(type),
      reads: walk.reads,
      renamed: (from, to) =>
        [...new Set(walk.places.filter(({ name }) => name === from).map(({ at }) => at))]
          .sort((a, b) => b - a)
          .reduce((text, at) => `${text.slice(0, at)}${to}${text.slice(at + from.length)}`, expression),
    }
  } catch (error) {
    if (error instanceof TypeMistake) return { problem: error.message }
    throw error
  }
}

/** Content types of optional values, which are not plain values themselves. */
const contents = new WeakMap<ValueShape, ValueShape>()

function optional(content: ValueShape): ValueShape {
  const shape: ValueShape = { type: 'object', properties: {} }
  contents.set(shape, contents.get(content) ?? content)
  return shape
}

/** `a.?b`: the whole path is read, as in `a.b`. */
function optionalField(node: CelExpression, scope: TypeScope, told: Told): ValueShape {
  const path = pathOf(node)
  const root = rootOf(node)
  const type = selected(node, scope, told)
  if (path !== undefined && root !== undefined && isScoped(path[0] ?? '', scope)) told(path, root)
  return type
}

/** The answer of a function that takes optional values. Undefined: it is one of plain values. */
function calledOnOptional(
  name: string,
  types: readonly ValueShape[],
  args: readonly CelExpression[],
): ValueShape | undefined {
  const [first = ANYTHING, second = ANYTHING] = types
  const content = contents.get(first)
  if (name === OPTIONAL_ENTRY) return optional(entryOf(content ?? first, second, args.at(-1)))
  if (name === 'hasValue' || name === 'value' || name === 'orValue' || name === 'or') {
    if (content === undefined && first.type !== undefined)
      throw new TypeMistake(`${name} works on an optional value, and this is ${shapeWord(first)}`)
    if (name === 'hasValue') return BOOLEAN
    const inner = content ?? ANYTHING
    if (name === 'value') return inner
    if (name === 'or') return contents.has(second) ? (inner.type === undefined ? second : first) : optional(inner)
    together(inner, second, 'given in the place of each other')
    return inner.type === undefined ? second : inner
  }
  const passed = name === '_?_:_' ? first : types.find((one) => contents.has(one))
  if (passed !== undefined && contents.has(passed) && name !== '_==_' && name !== '_!=_')
    throw new TypeMistake(`a value that may be missing needs orValue(…) before ${WORDS[name] ?? name} can take it`)
  return undefined
}

const WORDS: Readonly<Record<string, string>> = {
  '_+_': '+',
  '_-_': '-',
  '_*_': '*',
  '_/_': '/',
  '_%_': '%',
  '_<_': '<',
  '_<=_': '<=',
  '_>_': '>',
  '_>=_': '>=',
  '_&&_': '&&',
  '_||_': '||',
  '!_': '!',
  '_?_:_': '? :',
  '_[_]': '[ ]',
}

type Told = (path: string[], root: CelExpression) => void

function infer(node: CelExpression, scope: TypeScope, told: Told): ValueShape {
  const { exprKind: kind } = node
  const of = (inner: CelExpression | undefined) => (inner === undefined ? ANYTHING : infer(inner, scope, told))
  switch (kind.case) {
    case 'constExpr':
      return CONSTANTS[kind.value.constantKind.case ?? ''] ?? ANYTHING
    case 'identExpr':
      return named(node, scope, told)
    case 'selectExpr': {
      const path = pathOf(node)
      const root = rootOf(node)
      const type = selected(node, scope, told)
      if (path !== undefined && root !== undefined && isScoped(path[0] ?? '', scope)) told(path, root)
      return kind.value.testOnly ? BOOLEAN : type
    }
    case 'listExpr':
      return { type: 'array', items: common(kind.value.elements.map(of)) }
    case 'structExpr':
      return { type: 'object', additionalProperties: common(kind.value.entries.map(({ value }) => of(value))) }
    case 'callExpr': {
      const { function: name, target, args } = kind.value
      if (target?.exprKind.case === 'identExpr' && !isScoped(target.exprKind.value.name, scope)) {
        const dotted = `${target.exprKind.value.name}.${name}`
        if (dotted === 'optional.none') return optional(ANYTHING)
        if (dotted === 'optional.of' || dotted === 'optional.ofNonZeroValue') return optional(of(args[0]))
        const known = OWN_FUNCTIONS[dotted]
        if (known !== undefined) {
          for (const one of args.map(of)) if (known.takes.type !== undefined) mustBe(one, known.takes)
          return known.answer
        }
      }
      if (name === OPTIONAL_FIELD) return optional(optionalField(node, scope, told))
      const types = [...(target === undefined ? [] : [of(target)]), ...args.map(of)]
      return calledOnOptional(name, types, args) ?? called(name, types, args)
    }
    case 'comprehensionExpr': {
      const { iterVar, iterVar2, iterRange, accuVar, accuInit, loopCondition, loopStep, result } = kind.value
      const range = of(iterRange)
      if (range.type !== undefined && range.type !== 'array' && range.type !== 'object')
        throw new TypeMistake(`${shapeWord(range)} has no entries to go through`)
      const item = range.type === 'object' ? TEXT : (range.items ?? ANYTHING)
      const first = of(accuInit)
      const inside = {
        ...scope,
        [iterVar]: item,
        ...(iterVar2 === '' ? {} : { [iterVar2]: valuesOf(range) }),
        [accuVar]: first.type === 'array' ? ANYTHING : first,
      }
      const own = new Set([iterVar, iterVar2, accuVar])
      // Skips variables that the macro itself declares: they read nothing outside it.
      const outside: Told = (read, place) => {
        if (!own.has(read[0] ?? '')) told(read, place)
      }
      if (loopCondition !== undefined) infer(loopCondition, inside, outside)
      const step = loopStep === undefined ? ANYTHING : infer(loopStep, inside, outside)
      return result === undefined ? step : infer(result, { ...inside, [accuVar]: step }, outside)
    }
    default:
      return ANYTHING
  }
}

const BOOLEAN: ValueShape = { type: 'boolean' }
const INTEGER: ValueShape = { type: 'integer' }
const CONSTANTS: Readonly<Record<string, ValueShape>> = {
  int64Value: INTEGER,
  uint64Value: INTEGER,
  doubleValue: { type: 'number' },
  stringValue: TEXT,
  boolValue: BOOLEAN,
}
/** Names that CEL itself has: types that can be compared with. */
const OWN_NAMES: ReadonlySet<string> = new Set('bool bytes double int list map null_type string type uint'.split(' '))

/** Functions with a dot in their name: the part before it is a namespace. */
const OWN_FUNCTIONS: Readonly<Record<string, { readonly takes: ValueShape; readonly answer: ValueShape }>> = {
  'lists.range': { takes: INTEGER, answer: { type: 'array', items: INTEGER } },
  'base64.encode': { takes: ANYTHING, answer: TEXT },
  'base64.decode': { takes: TEXT, answer: ANYTHING },
  'hash.sha256': { takes: TEXT, answer: ANYTHING },
  'hash.md5': { takes: TEXT, answer: ANYTHING },
  'hash.fnv64a': { takes: TEXT, answer: ANYTHING },
  'json.marshal': { takes: ANYTHING, answer: TEXT },
  'json.unmarshal': { takes: TEXT, answer: ANYTHING },
  'random.seededString': { takes: ANYTHING, answer: TEXT },
  'random.seededInt': { takes: ANYTHING, answer: INTEGER },
}

function isScoped(name: string, scope: TypeScope): boolean {
  return Object.hasOwn(scope, name)
}

function named(node: CelExpression, scope: TypeScope, told: Told): ValueShape {
  const [name = ''] = pathOf(node) ?? []
  if (isScoped(name, scope)) {
    told([name], node)
    return scope[name] ?? ANYTHING
  }
  if (OWN_NAMES.has(name)) return ANYTHING
  const meant = nearest(name, Object.keys(scope))
  throw new TypeMistake(`nothing here is called ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`)
}

/** The type behind a select, without telling of the shorter paths that it goes through. */
function selected(node: CelExpression, scope: TypeScope, told: Told): ValueShape {
  const { exprKind: kind } = node
  const chosen = optionalSelection(node)
  if (chosen !== undefined) {
    const on = selected(chosen.operand, scope, told)
    return fieldOf(contents.get(on) ?? on, chosen.field, pathOf(chosen.operand)?.join('.'))
  }
  if (kind.case !== 'selectExpr') {
    const quiet = kind.case === 'identExpr' ? () => undefined : told
    return infer(node, scope, quiet)
  }
  const { operand, field } = kind.value
  const on = operand === undefined ? ANYTHING : selected(operand, scope, told)
  return fieldOf(on, field, operand === undefined ? undefined : pathOf(operand)?.join('.'))
}

function fieldOf(on: ValueShape, field: string, path: string | undefined): ValueShape {
  const { type, properties = {}, additionalProperties } = on
  if (type === undefined) return ANYTHING
  if (type !== 'object') throw new TypeMistake(`${path ?? 'this'} is ${shapeWord(on)} and has no field ${field}`)
  if (Object.hasOwn(properties, field)) return properties[field] ?? ANYTHING
  if (additionalProperties !== undefined) return additionalProperties === true ? ANYTHING : additionalProperties
  const meant = nearest(field, Object.keys(properties))
  throw new TypeMistake(
    `${path ?? 'this'} has no field ${field}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  )
}

/** Returns the parts of `a.?b`. */
function optionalSelection({ exprKind: kind }: CelExpression) {
  if (kind.case !== 'callExpr' || kind.value.function !== OPTIONAL_FIELD) return undefined
  const { target, args } = kind.value
  const name = args[0]?.exprKind.case === 'constExpr' ? args[0].exprKind.value.constantKind : undefined
  return target === undefined || name?.case !== 'stringValue' ? undefined : { operand: target, field: name.value }
}

function pathOf(node: CelExpression): string[] | undefined {
  const { exprKind: kind } = node
  if (kind.case === 'identExpr') return [kind.value.name]
  const chosen = optionalSelection(node)
  if (chosen !== undefined) {
    const path = pathOf(chosen.operand)
    return path === undefined ? undefined : [...path, chosen.field]
  }
  if (kind.case !== 'selectExpr' || kind.value.operand === undefined) return undefined
  const before = pathOf(kind.value.operand)
  return before === undefined ? undefined : [...before, kind.value.field]
}

function rootOf(node: CelExpression): CelExpression | undefined {
  const { exprKind: kind } = node
  if (kind.case === 'identExpr') return node
  const chosen = optionalSelection(node)
  if (chosen !== undefined) return rootOf(chosen.operand)
  return kind.case === 'selectExpr' && kind.value.operand !== undefined ? rootOf(kind.value.operand) : undefined
}

const NUMBERS: ReadonlySet<ValueShape['type']> = new Set(['integer', 'number'])
const COMPARING: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_'])
const COUNTING: ReadonlySet<string> = new Set(['_-_', '_*_', '_/_', '_%_'])

/** Functions by name: what they work on where that is always the same, and what they answer. */
/** Not a plain value: it is compared, added and converted to numbers. */
const QUANTITY: ValueShape = { type: 'object', properties: {} }
const FUNCTIONS: Readonly<Record<string, { readonly on?: ValueShape; readonly answer: ValueShape }>> = {
  size: { answer: INTEGER },
  string: { answer: TEXT },
  int: { answer: INTEGER },
  uint: { answer: INTEGER },
  double: { answer: { type: 'number' } },
  bool: { answer: BOOLEAN },
  type: { answer: ANYTHING },
  dyn: { answer: ANYTHING },
  bytes: { answer: ANYTHING },
  duration: { answer: ANYTHING },
  timestamp: { answer: ANYTHING },
  contains: { on: TEXT, answer: BOOLEAN },
  startsWith: { on: TEXT, answer: BOOLEAN },
  endsWith: { on: TEXT, answer: BOOLEAN },
  matches: { on: TEXT, answer: BOOLEAN },
  lowerAscii: { on: TEXT, answer: TEXT },
  upperAscii: { on: TEXT, answer: TEXT },
  trim: { on: TEXT, answer: TEXT },
  replace: { on: TEXT, answer: TEXT },
  substring: { on: TEXT, answer: TEXT },
  indexOf: { on: TEXT, answer: INTEGER },
  split: { on: TEXT, answer: { type: 'array', items: TEXT } },
  join: { on: { type: 'array' }, answer: TEXT },
  slice: { on: { type: 'array' }, answer: { type: 'array' } },
  sum: { on: { type: 'array' }, answer: ANYTHING },
  min: { on: { type: 'array' }, answer: ANYTHING },
  max: { on: { type: 'array' }, answer: ANYTHING },
  quantity: { on: TEXT, answer: QUANTITY },
  isQuantity: { on: TEXT, answer: BOOLEAN },
  isLessThan: { on: QUANTITY, answer: BOOLEAN },
  isGreaterThan: { on: QUANTITY, answer: BOOLEAN },
  compareTo: { on: QUANTITY, answer: INTEGER },
  sign: { on: QUANTITY, answer: INTEGER },
  isInteger: { on: QUANTITY, answer: BOOLEAN },
  asInteger: { on: QUANTITY, answer: INTEGER },
  asApproximateFloat: { on: QUANTITY, answer: { type: 'number' } },
  add: { on: QUANTITY, answer: QUANTITY },
  sub: { on: QUANTITY, answer: QUANTITY },
}

function called(name: string, types: readonly ValueShape[], args: readonly CelExpression[]): ValueShape {
  const [first = ANYTHING, second = ANYTHING, third = ANYTHING] = types
  if (name === '_==_' || name === '_!=_' || COMPARING.has(name)) {
    together(first, second, 'compared')
    return BOOLEAN
  }
  if (COUNTING.has(name) || name === '-_') {
    for (const one of types)
      if (one.type !== undefined && !NUMBERS.has(one.type)) throw new TypeMistake(`${shapeWord(one)} is not a number`)
    return common(types)
  }
  switch (name) {
    case '_+_':
      together(first, second, 'added')
      return first.type === undefined ? second : first
    case '_&&_':
    case '_||_':
    case '!_':
      for (const one of types) mustBe(one, BOOLEAN)
      return BOOLEAN
    case '_?_:_':
      mustBe(first, BOOLEAN)
      return second.type === undefined ? third : third.type === undefined ? second : common([second, third])
    case '@in':
    case '_in_':
      return BOOLEAN
    case '_[_]':
      return entryOf(first, second, args.at(-1))
    case '@not_strictly_false':
      return BOOLEAN
    default:
  }
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (known === undefined) {
    const meant = nearest(name, Object.keys(FUNCTIONS))
    throw new TypeMistake(`there is no function ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`)
  }
  if (known.on !== undefined && first.type !== undefined && first.type !== known.on.type)
    throw new TypeMistake(`${name} works on ${shapeWord(known.on)}, and this is ${shapeWord(first)}`)
  return known.answer
}

function entryOf(on: ValueShape, index: ValueShape, argument: CelExpression | undefined): ValueShape {
  if (on.type === undefined) return ANYTHING
  if (on.type === 'array') {
    if (index.type !== undefined && index.type !== 'integer')
      throw new TypeMistake(`an entry of a list has a number, and this is ${shapeWord(index)}`)
    return on.items ?? ANYTHING
  }
  if (on.type !== 'object') throw new TypeMistake(`${shapeWord(on)} has no entries`)
  const constant = argument?.exprKind.case === 'constExpr' ? argument.exprKind.value.constantKind : undefined
  return constant?.case === 'stringValue' ? fieldOf(on, constant.value, undefined) : valuesOf(on)
}

function valuesOf({ additionalProperties }: ValueShape): ValueShape {
  return additionalProperties === undefined || additionalProperties === true ? ANYTHING : additionalProperties
}

function together(a: ValueShape, b: ValueShape, how: string): void {
  if (a.type === undefined || b.type === undefined || a.type === b.type) return
  if (NUMBERS.has(a.type) && NUMBERS.has(b.type)) return
  throw new TypeMistake(`${shapeWord(a)} and ${shapeWord(b)} cannot be ${how}`)
}

function mustBe(is: ValueShape, wanted: ValueShape): void {
  if (is.type !== undefined && is.type !== wanted.type)
    throw new TypeMistake(`it must be ${shapeWord(wanted)}, and is ${shapeWord(is)}`)
}

function common(shapes: readonly ValueShape[]): ValueShape {
  const [first, ...rest] = shapes
  return first !== undefined && rest.every(({ type }) => type === first.type) ? first : ANYTHING
}
