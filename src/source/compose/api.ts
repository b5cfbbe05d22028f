import type { FieldProblem } from '../../kinds/kind.ts'
import type { Origin } from '../../model/declaration.ts'
import type { SourceDocument } from '../manifest.ts'
import type { ComposedDocument } from './expand-graph.ts'
import type { DocumentFields, ValueShape } from './shape.ts'

/** An object of a file that defines an API or is an instance of one, and where it stands. */
export interface PlacedObject {
  readonly value: DocumentFields
  readonly file: string
  readonly document: SourceDocument
  readonly base: readonly (string | number)[]
}

export type TemplatePlace = Omit<PlacedObject, 'value'>

/** A kind that files define, as people may ask about it. */
export interface DefinedApi {
  readonly kind: string
  readonly apiVersion: string
  readonly summary: string
  readonly spec: ValueShape
  readonly origin: Origin
}

/** The same with what its instances become. */
export interface ComposedApi extends DefinedApi {
  /** `ResourceGraphDefinition/k3snode`. */
  readonly definition: string
  readonly metadata: unknown
  /** Where templates stand, unless a document says otherwise. */
  readonly place: TemplatePlace
  expand(
    instance: DocumentFields,
  ):
    | { readonly documents: readonly (ComposedDocument & { readonly place?: TemplatePlace })[] }
    | { readonly problem: FieldProblem & { readonly place?: TemplatePlace } }
}

/** One way to define kinds. */
export interface ApiReader {
  readonly group: string
  readonly kinds: readonly string[]
  reads(apiVersion: string, kind: string): boolean
  read(
    objects: readonly PlacedObject[],
    complain: (place: TemplatePlace, problem: FieldProblem) => void,
    originOf: (place: TemplatePlace) => Origin,
  ): readonly ComposedApi[]
}
