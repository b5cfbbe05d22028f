import { defined } from '../lib/defined.ts'
import { nearest } from '../lib/nearest.ts'
import { readReference } from '../model/secret-reference.ts'
import { type Tree, type TreeMap, valueFrom } from '../model/vm.ts'

/** Something wrong in a document, at a path inside it. */
export interface SeedProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly hint?: string
}

/** The shape of a value in a document. */
export type ConfigShape =
  | { readonly is: 'anything' | 'text' | 'number' | 'flag' | 'nothing' }
  | { readonly is: 'words'; readonly words: readonly (string | boolean)[] }
  | { readonly is: 'list'; readonly of: ConfigShape; readonly mayBeEmpty: boolean }
  /** Known keys; `others` is the shape of all other keys, and without it they are refused. */
  | { readonly is: 'map'; readonly keys: Keys; readonly required: readonly string[]; readonly others?: ConfigShape }
  | { readonly is: 'either'; readonly shapes: readonly ConfigShape[] }
  /** A known key that must not be used, with the alternative. */
  | { readonly is: 'refused'; readonly hint: string }

export type Keys = Readonly<Record<string, ConfigShape>>

export const anything: ConfigShape = { is: 'anything' }
export const text: ConfigShape = { is: 'text' }
export const number: ConfigShape = { is: 'number' }
export const flag: ConfigShape = { is: 'flag' }
export const nothing: ConfigShape = { is: 'nothing' }
export const words = (...allowed: readonly (string | boolean)[]): ConfigShape => ({ is: 'words', words: allowed })
export const list = (of: ConfigShape): ConfigShape => ({ is: 'list', of, mayBeEmpty: false })
export const listOrEmpty = (of: ConfigShape): ConfigShape => ({ is: 'list', of, mayBeEmpty: true })
export const map = (keys: Keys, required: readonly string[] = []): ConfigShape => ({ is: 'map', keys, required })
export const mapOf = (others: ConfigShape): ConfigShape => ({ is: 'map', keys: {}, required: [], others })
export const either = (...shapes: readonly ConfigShape[]): ConfigShape => ({ is: 'either', shapes })
export const refused = (hint: string): ConfigShape => ({ is: 'refused', hint })

type SeedPath = SeedProblem['path']

/** Control characters and the like: PyYAML, which reads the document inside the guest, refuses or changes them. */
const UNREADABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/

/** Everything in a document that is not of its shape. */
export function misfits(tree: Tree, shape: ConfigShape, path: SeedPath = []): readonly SeedProblem[] {
  const reference = valueFrom(tree)
  if (reference !== undefined) return misfitReference(reference, shape, path)
  switch (shape.is) {
    case 'anything':
      return insideAnything(tree, path)
    case 'text':
      return typeof tree === 'string' ? unreadable(tree, path) : [wrong(tree, shape, path)]
    case 'number':
      return typeof tree === 'number' && Number.isFinite(tree) ? [] : [wrong(tree, shape, path)]
    case 'flag':
      return typeof tree === 'boolean' ? [] : [wrong(tree, shape, path)]
    case 'nothing':
      return tree === null ? [] : [wrong(tree, shape, path)]
    case 'words':
      return shape.words.some((word) => word === tree) ? [] : [wrong(tree, shape, path)]
    case 'list':
      return misfitList(tree, shape, path)
    case 'map':
      return isMap(tree) ? misfitMap(tree, shape, path) : [wrong(tree, shape, path)]
    case 'either':
      return misfitEither(tree, shape.shapes, path)
    case 'refused':
      return [{ path, message: `${called(path)} is not used here`, hint: shape.hint }]
  }
}

function misfitReference(reference: Tree, shape: ConfigShape, path: SeedPath): readonly SeedProblem[] {
  const isText = (one: ConfigShape): boolean =>
    one.is === 'text' || one.is === 'anything' || (one.is === 'either' && one.shapes.some(isText))
  if (!isText(shape)) return [{ path, message: `${called(path)} is ${described(shape)}; a secret gives only text` }]
  const read = readReference(reference)
  if ('reference' in read) return []
  return [
    {
      path: [...path, 'valueFrom'],
      message: `${called(path)} is to come from a secret, and valueFrom does not say from which: ${read.wrong}`,
      hint: 'write valueFrom: {env: NAME} or valueFrom: {file: /path}',
    },
  ]
}

function misfitList(tree: Tree, shape: ConfigShape & { is: 'list' }, path: SeedPath): readonly SeedProblem[] {
  if (!Array.isArray(tree)) return [wrong(tree, shape, path)]
  if (tree.length === 0 && !shape.mayBeEmpty)
    return [{ path, message: `${called(path)} is an empty list`, hint: 'leave it out' }]
  return (tree as readonly Tree[]).flatMap((item, index) => misfits(item, shape.of, [...path, index]))
}

function misfitMap(tree: TreeMap, shape: ConfigShape & { is: 'map' }, path: SeedPath): readonly SeedProblem[] {
  const problems: SeedProblem[] = []
  for (const [key, value] of Object.entries(tree)) {
    const inner = Object.hasOwn(shape.keys, key) ? shape.keys[key] : shape.others
    if (inner === undefined) problems.push(unknownKey(key, shape, path))
    else problems.push(...misfits(value, inner, [...path, key]))
  }
  for (const key of shape.required) {
    if (!Object.hasOwn(tree, key)) problems.push({ path, message: `${called([...path, key])} is missing` })
  }
  return problems
}

/** Returns the problems of the nearest shape: the one of the value's own type. */
function misfitEither(tree: Tree, shapes: readonly ConfigShape[], path: SeedPath): readonly SeedProblem[] {
  const found = shapes.map((shape) => ({ shape, problems: misfits(tree, shape, path) }))
  if (found.some(({ problems }) => problems.length === 0)) return []
  const same = found.find(({ shape }) => sortOf(shape) === sortOfTree(tree))
  return same?.problems ?? [wrong(tree, { is: 'either', shapes }, path)]
}

function sortOf(shape: ConfigShape): string {
  return shape.is === 'list' || shape.is === 'map' || shape.is === 'text' ? shape.is : 'other'
}

function sortOfTree(tree: Tree): string {
  if (Array.isArray(tree)) return 'list'
  return isMap(tree) ? 'map' : typeof tree === 'string' ? 'text' : 'none'
}

function insideAnything(tree: Tree, path: SeedPath): readonly SeedProblem[] {
  if (typeof tree === 'string') return unreadable(tree, path)
  if (Array.isArray(tree))
    return (tree as readonly Tree[]).flatMap((item, at) => misfits(item, anything, [...path, at]))
  return isMap(tree) ? Object.entries(tree).flatMap(([key, value]) => misfits(value, anything, [...path, key])) : []
}

/** Reports whether cloud-init can read a text. One that it cannot read makes it refuse the whole document. */
export function isReadable(value: string): boolean {
  return !UNREADABLE.test(value) && value.isWellFormed()
}

function unreadable(value: string, path: SeedPath): readonly SeedProblem[] {
  if (isReadable(value)) return []
  return [
    {
      path,
      message: `${called(path)} holds a control character that cloud-init cannot read`,
      hint: 'for a file, write its content in base64 and set encoding: b64',
    },
  ]
}

function unknownKey(key: string, shape: ConfigShape & { is: 'map' }, path: SeedPath): SeedProblem {
  const meant = nearest(key, Object.keys(shape.keys))
  const where = path.length === 0 ? 'cloud-init' : called(path)
  return {
    path: [...path, key],
    message: `${JSON.stringify(key.slice(0, 60))} is nothing that ${where} knows`,
    ...(meant === undefined ? {} : { hint: `did you mean ${meant}?` }),
  }
}

function wrong(tree: Tree, shape: ConfigShape, path: SeedPath): SeedProblem {
  const hint = hintFor(tree, shape)
  return defined({ path, message: `${called(path)} is ${shown(tree)}; expected ${described(shape)}`, hint })
}

function hintFor(tree: Tree, shape: ConfigShape): string | undefined {
  const shapes = shape.is === 'either' ? shape.shapes : [shape]
  if (shapes.some(({ is }) => is === 'text') && (typeof tree === 'number' || typeof tree === 'boolean'))
    return `write it in quotes: "${String(tree)}"`
  if (shapes.some(({ is }) => is === 'flag') && typeof tree === 'string') {
    if (/^(?:yes|y|on|true)$/i.test(tree)) return 'write true'
    if (/^(?:no|n|off|false)$/i.test(tree)) return 'write false'
  }
  return undefined
}

const DESCRIBED = {
  anything: 'anything',
  text: 'text',
  number: 'a number',
  flag: 'true or false',
  nothing: 'nothing',
  list: 'a list',
  map: 'a block of fields',
  refused: 'nothing',
} as const

function described(shape: ConfigShape): string {
  if (shape.is === 'words') return shape.words.map(String).join(' or ')
  return shape.is === 'either' ? [...new Set(shape.shapes.map(described))].join(' or ') : DESCRIBED[shape.is]
}

/** Describes a value without showing its text, which may be secret. */
function shown(tree: Tree): string {
  if (tree === null) return 'empty'
  if (Array.isArray(tree)) return 'a list'
  if (typeof tree === 'object') return 'a block of fields'
  return typeof tree === 'string' ? 'text' : String(tree)
}

function called(path: SeedPath): string {
  if (path.length === 0) return 'the document'
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('')
}

function isMap(tree: Tree): tree is TreeMap {
  return tree !== null && typeof tree === 'object' && !Array.isArray(tree)
}
