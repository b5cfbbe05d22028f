import { createRequire } from 'node:module'
import type * as Cel from '@bufbuild/cel'
import { contentOf, optionalFunctions, spelledOut, withOptionalChains } from './cel-optional.ts'
import { quantityFunctions } from './cel-quantity.ts'
import { stringFunctions } from './cel-strings.ts'
import { valueFunctions } from './cel-values.ts'
import { cleanText } from './clean-text.ts'
import { foreignPattern } from './foreign-pattern.ts'
import { LIMITS } from './limits.ts'

export type CelExpression = NonNullable<ReturnType<typeof Cel.parse>['expr']>
type Expression = CelExpression
/** Variables of an expression. */
type CelNames = Readonly<Record<string, unknown>>
type CelAnswer = { readonly value: unknown } | { readonly problem: string }
type CelProgram = (names: CelNames) => CelAnswer

/** Users cannot write this name: it is no identifier. */
const SPEND = '@spend'
const TOO_MUCH = `it costs too much: fewer or smaller lists inside each other`
let purse = { left: 0, price: 1 }

/**
 * Expressions are untrusted programs from manifests. Each turn of a loop costs, so that nested loops end; patterns run
 * in linear time.
 */
function environment(): ReturnType<typeof Cel.celEnv> {
  const { CelScalar, celEnv, celFunc, listType } = cel()
  env ??= celEnv({
    funcs: [
      celFunc(SPEND, [], CelScalar.BOOL, () => spend()),
      celFunc('lists.range', [CelScalar.INT], listType(CelScalar.INT), rangeTo),
      ...stringFunctions(cel()),
      ...quantityFunctions(cel()),
      ...optionalFunctions(cel()),
      ...valueFunctions(cel(), { plain, input: celInput }),
    ],
    re2: { compile: (pattern) => ({ test: (text) => foreignPattern(pattern).finds(text) }) },
  })
  return env
}
let env: ReturnType<typeof Cel.celEnv> | undefined

/** Loaded for the first expression: it costs every command a tenth of a second and 20 MB, and few have expressions. */
function cel(): typeof Cel {
  library ??= createRequire(import.meta.url)('@bufbuild/cel') as typeof Cel
  return library
}
let library: typeof Cel | undefined
const kept = new Map<string, CelProgram>()

/** Reports whether an expression holds for an object, `object` by default. A text says why it cannot be evaluated. */
export function holds(expression: string, object: CelNames, name = 'object'): boolean | string {
  const answer = evaluated(expression, { [name]: object })
  if ('problem' in answer) return answer.problem
  const value = plain(answer.value)
  return typeof value === 'boolean' ? value : 'the expression answers neither true nor false'
}

/** Evaluates an expression to plain data. */
export function evaluate(expression: string, names: CelNames): CelAnswer {
  const answer = evaluated(expression, names)
  return 'problem' in answer ? answer : { value: plain(answer.value) }
}

/** Parses an expression, with the positions of its nodes. */
export function parseCel(
  expression: string,
): { readonly root: CelExpression; readonly placeOf: (node: CelExpression) => number } | { readonly problem: string } {
  const wrong = celProblem(expression)
  if (wrong !== undefined) return { problem: wrong }
  const { expr, placeOf } = parsed(expression)
  return { root: expr, placeOf }
}

function parsed(expression: string): {
  readonly expr: CelExpression
  readonly placeOf: (node: CelExpression) => number
} {
  const { parse } = cel()
  const { text, placeIn } = spelledOut(expression)
  const { expr, sourceInfo } = parse(text)
  return {
    expr: text === expression && !/\bopt/.test(text) ? expr : withOptionalChains(expr, (form) => parse(form).expr),
    placeOf: ({ id }) => placeIn(sourceInfo?.positions[String(id)] ?? 0),
  }
}

function evaluated(expression: string, names: CelNames): CelAnswer {
  try {
    const asking = kept.get(expression) ?? asker(expression)
    if (kept.size >= LIMITS.patternsKept) kept.clear()
    kept.set(expression, asking)
    return asking(names)
  } catch (error) {
    return { problem: cleanText(error instanceof Error ? error.message : String(error), 200) }
  }
}

/** Returns what is wrong with an expression; undefined if it can be evaluated. */
export function celProblem(expression: string): string | undefined {
  if (expression.length > LIMITS.celLength) return `an expression has at most ${LIMITS.celLength} characters`
  if (bracketDepth(expression) > LIMITS.celDepth)
    return `it has more than ${LIMITS.celDepth} brackets inside each other`
  try {
    parsed(expression)
    return undefined
  } catch (error) {
    return cleanText(error instanceof Error ? error.message : String(error), 200)
  }
}

/** Counts brackets in texts too: real expressions do not have that many. */
function bracketDepth(expression: string): number {
  let [depth, deepest] = [0, 0]
  for (const sign of expression) {
    if ('([{'.includes(sign)) deepest = Math.max(deepest, ++depth)
    else if (')]}'.includes(sign)) depth--
  }
  return deepest
}

function asker(expression: string): CelProgram {
  const wrong = celProblem(expression)
  if (wrong !== undefined) throw new Error(wrong)
  const { isCelError, plan } = cel()
  const { expr } = parsed(expression)
  const nodes = payForLoops(expr)
  const ask = plan(environment(), expr)
  return (names) => {
    // One turn may visit its whole input, once per node, so this is its price.
    const size = JSON.stringify(names).length
    purse = { left: LIMITS.celCost, price: nodes * (1 + size / LIMITS.celCharactersPerCost) }
    const answer = ask(Object.fromEntries(Object.entries(names).map(([name, value]) => [name, celInput(value)])))
    if (purse.left < 0) return { problem: TOO_MUCH }
    return isCelError(answer) ? { problem: cleanText(answer.message, 200) } : { value: answer }
  }
}

function spend(): boolean {
  purse.left -= purse.price
  if (purse.left < 0) throw cel().celError(TOO_MUCH)
  return true
}

/** `lists.range(3)` is [0, 1, 2]. Each entry costs. */
function rangeTo(count: bigint): bigint[] {
  const numbers: bigint[] = []
  for (let next = 0n; next < count && spend(); next++) numbers.push(next)
  return numbers
}

/** Charges for each turn of each loop. Returns the number of nodes. */
function payForLoops(root: Expression): number {
  let nodes = 0
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one)
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return
    const kind = (value as Partial<Expression>).exprKind
    if (kind !== undefined) nodes++
    for (const inner of Object.values(value)) visit(inner)
    if (kind?.case === 'comprehensionExpr') kind.value.loopCondition = paid(kind.value.loopCondition)
  }
  visit(root)
  return nodes
}

function paid(condition: Expression | undefined): Expression {
  const { expr } = cel().parse('spend() ? condition : false')
  const { value } = expr.exprKind
  const [spent] = typeof value === 'object' && 'args' in value ? value.args : []
  if (typeof value !== 'object' || !('args' in value) || spent?.exprKind.case !== 'callExpr' || condition === undefined)
    throw new Error('the loop cannot be bounded')
  spent.exprKind.value.function = SPEND
  value.args[1] = condition
  return expr
}

/** Whole numbers become integers in CEL, as in Kubernetes. */
function celInput(value: unknown): Cel.CelInput {
  if (Array.isArray(value)) return value.map(celInput)
  if (typeof value === 'object' && value !== null)
    return new Map(Object.entries(value).map(([name, inner]) => [name, celInput(inner)] as const))
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  return (value ?? null) as Cel.CelInput
}

/** Converts a CEL value to JSON. */
function plain(value: unknown): unknown {
  const { isCelList, isCelMap, isCelUint } = cel()
  if (typeof value === 'bigint') return Number(value)
  if (isCelUint(value)) return Number(value.value)
  if (isCelList(value)) return [...value].map(plain)
  if (isCelMap(value)) {
    const optional = contentOf(value)
    if (optional !== undefined) return plain(optional.value)
    const fields: Record<string, unknown> = Object.create(null)
    for (const [name, inner] of value)
      fields[typeof name === 'object' ? String(name.value) : String(name)] = plain(inner)
    return fields
  }
  return value
}
