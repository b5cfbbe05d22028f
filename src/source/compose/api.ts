import type { FieldProblem } from '../../kinds/kind.ts'
import type { Origin } from '../../model/declaration.ts'
import type { ObjectReference } from '../../model/foreign-object.ts'
import type { SourceDocument } from '../manifest.ts'
import type { DocumentFields, ValueShape } from './shape.ts'

/** A definition of an API or an instance of one, with its place. */
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

/** A missing value of a document, which only an observed object can supply. */
export interface MissingValue {
  readonly expression: string
  /** The field that it goes into, in the document of the definition. */
  readonly path: FieldProblem['path']
  /** Resources of the definition that it is taken from, by id. */
  readonly of: readonly string[]
  /** Why it has no value although its objects exist. */
  readonly why?: string
}

/** The live objects available to an expansion. */
export interface LiveObjects {
  /** A document of the instance as it is now, one of several with the same id. Undefined: not observed yet. */
  made(document: MadeBefore): DocumentFields | undefined
  /** An object that is only read. Undefined: not observed yet. A text says why it cannot be read. */
  external(reference: ObjectReference, id: string): DocumentFields | undefined | string
}

export interface MadeBefore {
  readonly id: string
  readonly value: DocumentFields
  readonly path: FieldProblem['path']
  readonly index: number
  readonly count: number
}

/** One document that an instance becomes. */
export interface ComposedDocument {
  readonly id: string
  readonly value: DocumentFields
  /** The template that it was made from, in the document of the definition. */
  readonly path: FieldProblem['path']
  /** Documents of the same instance that come first, by id. */
  readonly uses: readonly string[]
  /** Expressions about `self`. */
  readonly readyWhen: readonly string[]
  /** Missing values: the document waits for them and is not made yet. */
  readonly missing?: readonly MissingValue[]
}

/** Fields of a CustomResourceDefinition other than its schema. */
export interface Serving {
  readonly plural: string
  readonly scope: 'Namespaced' | 'Cluster'
  /** The version in which a cluster keeps its objects, of several. */
  readonly stored: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

/** A defined API with its expansion. */
export interface ComposedApi extends DefinedApi {
  /** `ResourceGraphDefinition/k3snode`. */
  readonly definition: string
  readonly metadata: unknown
  /** How a cluster serves its instances. */
  readonly serving: Serving
  /** Ids of its resources in the order in which they are made, where that is the same for every instance. */
  readonly order: readonly string[]
  /** Reads values of live objects. */
  readonly readsWorld?: boolean
  /** Resources that are read and never made, by id. */
  readonly externals?: readonly string[]
  /** Default position of templates; a document may have its own. */
  readonly place: TemplatePlace
  expand(
    instance: DocumentFields,
    live: LiveObjects,
  ):
    | { readonly documents: readonly (ComposedDocument & { readonly place?: TemplatePlace })[] }
    | { readonly problem: FieldProblem & { readonly place?: TemplatePlace } }
  /** Returns the status that an instance shows of its objects, by their id. Leaves out values that are not known. */
  statusOf(instance: DocumentFields, made: ReadonlyMap<string, readonly DocumentFields[]>): DocumentFields
}

/** One way to define kinds. */
export interface ApiReader {
  readonly group: string
  readonly kinds: readonly string[]
  reads(apiVersion: string, kind: string): boolean
  /** The kinds that a definition means to define, also one that is not valid. */
  defines(definition: DocumentFields): readonly Pick<DefinedApi, 'apiVersion' | 'kind'>[]
  read(
    objects: readonly PlacedObject[],
    complain: (place: TemplatePlace, problem: FieldProblem) => void,
    originOf: (place: TemplatePlace) => Origin,
  ): readonly ComposedApi[]
}

/** Instances with documents that wait for observed values, and everything needed to expand them again. Plain data. */
export interface LateInstances {
  readonly definitions: readonly PlacedObject[]
  readonly instances: readonly PlacedObject[]
  /** Documents of the files that they read. */
  readonly externals: readonly { readonly reference: ObjectReference; readonly object: DocumentFields }[]
  readonly commit?: string
}
