import { composedOutsideGrant } from '../../controller/sources/composed-grant.ts'
import { at, type Foreign, nameOf, objectName, recordOf } from '../../kubernetes/objects.ts'
import { permitRead } from '../../model/foreign-object.ts'
import type { Grant } from '../../model/grant.ts'
import {
  type Composer,
  type DescribedDefinitions,
  type MadeDeclaration,
  type MadeObject,
  toldAt,
} from '../../source/compose/in-cluster.ts'
import type { DeclaredObject } from '../objects.ts'
import type { Externals } from './externals.ts'

/** All APIs that the definitions of a cluster define. */
export interface DefinedApis extends DescribedDefinitions {
  /** Some of them read live objects. */
  readonly readsWorld: boolean
}

export async function definedApis(composer: Composer, objects: readonly Foreign[]): Promise<DefinedApis> {
  const described = await composer.define(objects)
  return { ...described, readsWorld: described.apis.some((api) => api.readsWorld === true) }
}

/** The observed surroundings of an instance. */
export interface ExpansionContext {
  readonly definitions: readonly Foreign[]
  readonly home: string
  /** Objects made for the instance earlier. */
  readonly children: readonly Pick<DeclaredObject, 'key' | 'object'>[]
  /** Grant of the instance's namespace, if that is not the operator's. */
  readonly grant: Grant | undefined
  /** Objects that a definition only reads. */
  readonly externals: Pick<Externals, 'find' | 'all'>
}

/** The documents of an instance, or its problems; `unknown`: not known now. */
export type ExpandedObject =
  | { readonly made: readonly MadeObject[] }
  | { readonly problem: string }
  | { readonly problem: string; readonly unknown: true }

export async function expandObject(
  composer: Composer,
  object: Foreign,
  { definitions, home, children, externals, grant }: ExpansionContext,
): Promise<ExpandedObject> {
  const answer = await composer.ask(definitions, {
    ask: 'expand',
    instance: instanceOf(object),
    home,
    children: new Map(children.map((child) => [child.key, { status: recordOf(child.object.status) }])),
    externals: externals.all(),
    ...(grant === undefined ? {} : { grant }),
  })
  if (answer.answer !== 'expanded')
    return { problem: answer.answer === 'none' ? answer.why : 'it was not expanded', unknown: true }
  // Judge again here: the cage runs untrusted expressions, so its reads may exceed the grant.
  for (const reference of answer.reads) {
    const read = permitRead(reference, grant)
    if (!('refused' in read)) externals.find(read)
  }
  const wrong = [...answer.wrong, ...answer.declared.flatMap((one) => outside(one, grant, object))]
  const [first] = wrong
  if (first !== undefined) return { problem: wrong.length === 1 ? first : `${first} (and ${wrong.length - 1} more)` }
  return { made: answer.made }
}

/** Returns the objects of an instance that are outside the grant of its namespace. */
function outside(made: MadeDeclaration, grant: Grant | undefined, instance: Foreign): readonly string[] {
  const own = made.place === `${String(instance.kind)}/${objectName(instance) ?? ''}` ? '' : `${made.place}: `
  return composedOutsideGrant(made, grant).map((problem) => `${own}${toldAt(made, problem)}`)
}

/** Returns an instance as written, with the fields that expressions may read. */
function instanceOf(object: Foreign): Foreign {
  const metadata = recordOf(object.metadata)
  const { labels, annotations, uid } = metadata
  const namespace = nameOf(at(object, 'metadata', 'namespace'))
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name: objectName(object),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(uid === undefined ? {} : { uid }),
    },
    spec: recordOf(object.spec),
  }
}
