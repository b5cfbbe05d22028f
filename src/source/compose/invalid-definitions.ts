import type { FieldProblem } from '../../kinds/kind.ts'
import { type Origin, showOrigin } from '../../model/declaration.ts'
import type { FileOutcome } from '../assemble.ts'
import { originOf as placeOf } from '../yaml/problem-at.ts'
import type { DefinedApi, PlacedObject, TemplatePlace } from './api.ts'
import { idOfApi } from './expand-instance.ts'
import { READERS } from './readers.ts'

/** Returns the origins of invalid definitions, by the `idOfApi` of each kind without a valid one. */
export function definedAndInvalid(
  definitions: readonly PlacedObject[],
  apis: ReadonlyMap<string, DefinedApi>,
  originOf: (place: TemplatePlace) => Origin,
): ReadonlyMap<string, Origin> {
  const found = definitions.flatMap((one) => {
    const reader = READERS.find(({ reads }) => reads(String(one.value.apiVersion), String(one.value.kind)))
    return (reader?.defines(one.value) ?? []).map((api) => [idOfApi(api), originOf(one)] as const)
  })
  return new Map(found.filter(([id]) => !apis.has(id)))
}

/** Returns the origin of an unreadable document that mentions a definition of this kind. */
export function unreadDefinition(outcomes: readonly FileOutcome[], kind: string): Origin | undefined {
  for (const one of outcomes) {
    const unread = 'judged' in one ? one.judged.filter(({ outcome }) => outcome === 'unreadable') : []
    const found = unread.find(({ document: { text } }) => {
      const defines = READERS.some(({ kinds }) => kinds.some((each) => text.includes(each)))
      return defines && [...text.matchAll(/^\s+kind:\s*["']?(\w+)/gm)].some(([, named]) => named === kind)
    })
    if (found !== undefined) return placeOf(found, { file: one.file })
  }
  return undefined
}

/** Returns the problem of an instance with an invalid definition, whose own problems are reported there. */
export function definedWrongly(kind: string, definition: Origin): FieldProblem {
  const message = `the definition of ${kind} at ${showOrigin(definition)} has errors, so croft cannot expand it: correct those first`
  return { code: 'unknown-kind', path: ['kind'], message }
}
