import type { Kind } from '../kinds/kind.ts'
import { nearest } from '../lib/nearest.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { ResourceRow } from './render/resources.ts'
import { CliError, UsageError } from './verb.ts'

/** A selection by a person: `machine`, `machine web-1`, `machine/web-1`, `EnvironmentVM/prod/web-1`. */
export interface Selection {
  readonly kind?: string
  readonly name?: string
  readonly labels: readonly LabelRequirement[]
}

export type LabelRequirement =
  | { readonly key: string; readonly is: 'equal' | 'different'; readonly value: string }
  | { readonly key: string; readonly is: 'present' | 'absent' }

export function parseSelection(
  kinds: readonly Kind[],
  kindOrKey: string | undefined,
  name: string | undefined,
  labels: string | undefined,
): Selection {
  const requirements = labels === undefined ? [] : parseLabels(labels)
  if (kindOrKey === undefined || kindOrKey === 'all') return { labels: requirements }
  const slash = kindOrKey.indexOf('/')
  if (slash === -1) {
    // A word that is no kind may be a name, which is looked up in the estate.
    if (name === undefined && kindNamed(kinds, kindOrKey) === undefined)
      return { name: kindOrKey, labels: requirements }
    return { kind: findKind(kinds, kindOrKey), ...(name === undefined ? {} : { name }), labels: requirements }
  }
  if (name !== undefined) throw new UsageError(`Name ${kindOrKey} either as KIND/NAME or as KIND NAME, not both.`)
  return { kind: findKind(kinds, kindOrKey.slice(0, slash)), name: kindOrKey.slice(slash + 1), labels: requirements }
}

/** Returns the key of `KIND/NAME` or `KIND NAME`. */
export function parseKey(kinds: readonly Kind[], kindOrKey: string, name: string | undefined): ResourceKey {
  const selection = parseSelection(kinds, kindOrKey, name, undefined)
  if (selection.kind === undefined || selection.name === undefined || selection.name === '') {
    throw new UsageError(`${kindOrKey} names no single resource. Give KIND/NAME, e.g. Machine/web-1.`)
  }
  return `${selection.kind}/${selection.name}`
}

/** Also resolves a bare name, if exactly one known key has it. */
export function resolveKey(
  kinds: readonly Kind[],
  known: readonly ResourceKey[],
  asked: string,
  name: string | undefined,
): ResourceKey {
  const bare = name === undefined && !asked.includes('/') && kindNamed(kinds, asked) === undefined
  if (!bare) return parseKey(kinds, asked, name)
  const found = known.filter((key) => key.slice(key.lastIndexOf('/') + 1) === asked)
  if (found.length === 1 && found[0] !== undefined) return found[0]
  if (found.length > 1) throw new UsageError(`${asked} is the name of ${found.join(' and ')}. Give KIND/NAME.`)
  throw new CliError(nothingCalled(kinds, asked))
}

/** Explains a word that is neither a kind nor a name. */
export function nothingCalled(kinds: readonly Kind[], asked: string): string {
  if (/^(?:po|pods?)$/i.test(asked)) return 'Pods are no resource of croft. Run croft pods CLUSTER to list them.'
  const near = nearestKind(kinds, asked)
  const guess = near === undefined ? '' : ` Did you mean the kind ${near.kind}?`
  return `Nothing is called ${asked}, and there is no such kind.${guess} Run croft get to see what there is.`
}

export function kindNamed(kinds: readonly Kind[], asked: string): Kind | undefined {
  return kinds.find((kind) => namesOf(kind).includes(asked.toLowerCase()))
}

function nearestKind(kinds: readonly Kind[], asked: string): Kind | undefined {
  // A single letter is too close to every short name.
  const meant = asked.length < 3 ? undefined : nearest(asked, kinds.flatMap(namesOf))
  return meant === undefined ? undefined : kindNamed(kinds, meant)
}

/** The kind behind a name, plural or short name, in any case. */
export function findKind(kinds: readonly Kind[], asked: string): string {
  const found = kindNamed(kinds, asked)
  if (found !== undefined) return found.kind
  const near = nearestKind(kinds, asked)
  if (near !== undefined) throw new UsageError(`There is no kind ${asked}. Did you mean ${near.kind}?`)
  // Ninety names would hide the sentence; those of a provider have its name in front.
  const own = kinds.filter(({ kind }) => !/^(?:Proxmox|Environment)./.test(kind)).map(({ kind }) => kind)
  throw new UsageError(
    `There is no kind ${asked}. Kinds: ${own.join(', ')}. Run croft explain to see all ${kinds.length}.`,
  )
}

export function matches(row: ResourceRow, selection: Selection): boolean {
  if (selection.kind !== undefined && row.kind !== selection.kind) return false
  if (
    selection.name !== undefined &&
    row.name !== selection.name &&
    `${row.namespace}/${row.name}` !== selection.name
  ) {
    return false
  }
  return selection.labels.every((requirement) => holds(requirement, row.labels))
}

/** `app=web,tier!=db,gpu,!old`, as kubectl reads it. */
export function parseLabels(text: string): readonly LabelRequirement[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .map((part) => {
      const pair = /^([\w./-]+)\s*(!=|==|=)\s*([\w.-]*)$/.exec(part)
      if (pair?.[1] !== undefined) {
        return { key: pair[1], is: pair[2] === '!=' ? 'different' : 'equal', value: pair[3] ?? '' } as const
      }
      const alone = /^(!?)([\w./-]+)$/.exec(part)
      if (alone?.[2] === undefined) {
        throw new UsageError(`${text} is not a label selector. Write it like app=web,tier!=db.`)
      }
      return { key: alone[2], is: alone[1] === '!' ? 'absent' : 'present' } as const
    })
}

function holds(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
  switch (requirement.is) {
    case 'equal':
      return value === requirement.value
    case 'different':
      return value !== requirement.value
    case 'present':
      return value !== undefined
    case 'absent':
      return value === undefined
  }
}

function namesOf(kind: Kind): readonly string[] {
  return [kind.kind, kind.plural, ...kind.shortNames].map((name) => name.toLowerCase())
}
