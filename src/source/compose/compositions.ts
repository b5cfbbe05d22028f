import type { FieldProblem } from '../../kinds/kind.ts'
import { showOrigin } from '../../model/declaration.ts'
import { isFields } from '../manifest.ts'
import type { ApiReader, ComposedApi, PlacedObject, TemplatePlace } from './api.ts'
import {
  expandComposition,
  type ReadComposition,
  readComposition,
  readsStatus,
  statusOfComposite,
} from './composition.ts'
import type { EnvironmentData } from './environment.ts'
import { typeOfExpression } from './expression-type.ts'
import { fieldsOf } from './patch.ts'
import { ANYTHING, type DocumentFields, type ProblemPath, shapeOf, type ValueShape } from './shape.ts'

interface NamedComposition {
  readonly name: string
  readonly labels: DocumentFields
  readonly type: string
  readonly place: TemplatePlace
  /** Undefined: invalid, which has been reported. */
  readonly read: ReadComposition | undefined
}

const KINDS = ['CompositeResourceDefinition', 'Composition', 'EnvironmentConfig']

/** Crossplane's definitions and compositions, as patch-and-transform reads them. */
export const compositions: ApiReader = {
  group: 'apiextensions.crossplane.io',
  kinds: KINDS,
  reads: (apiVersion, kind) => /^apiextensions\.crossplane\.io\/v[12]/.test(apiVersion) && KINDS.includes(kind),
  defines: (value) =>
    value.kind === 'CompositeResourceDefinition'
      ? shapesIn({ value }).flatMap(({ apiVersion, kinds }) => kinds.map(({ kind }) => ({ apiVersion, kind })))
      : [],
  read(objects, complain, originOf) {
    const definitions = objects.filter(({ value }) => value.kind === 'CompositeResourceDefinition')
    const shapes = new Map(
      definitions.flatMap((one) =>
        shapesIn(one, (problem) => complain(one, problem)).map(
          ({ type, shape, status }) => [type, { spec: shape, status }] as const,
        ),
      ),
    )
    const named = objects
      .filter(({ value }) => value.kind === 'Composition')
      .map((object): NamedComposition => {
        const { value, ...place } = object
        const metadata = fieldsOf(value.metadata)
        const typeRef = fieldsOf(fieldsOf(value.spec).compositeTypeRef)
        const type = `${String(typeRef.apiVersion)} ${String(typeRef.kind)}`
        const shape = shapes.get(type)
        const base = { name: String(metadata.name), labels: fieldsOf(metadata.labels), type, place }
        if (shape === undefined) {
          const message = `no CompositeResourceDefinition here defines ${String(typeRef.kind)} of ${String(typeRef.apiVersion)}`
          complain(place, { code: 'unknown-kind', path: ['spec', 'compositeTypeRef'], message })
          return { ...base, read: undefined }
        }
        const { problems, ...read } = readComposition(value, shape)
        for (const problem of problems) complain(place, problem)
        return { ...base, read: problems.some(({ severity }) => severity !== 'warning') ? undefined : read }
      })
    const configs = objects
      .filter(({ value }) => value.kind === 'EnvironmentConfig')
      .map(({ value }) => ({ name: String(fieldsOf(value.metadata).name), object: value }))
    return definitions.flatMap((object) => apisOf(object, { named, configs }, originOf))
  },
}

/** Fields that every composite and every claim has. */
const MACHINERY: Readonly<Record<string, ValueShape>> = Object.fromEntries(
  'compositionRef compositionSelector compositionRevisionRef compositionRevisionSelector compositionUpdatePolicy compositeDeletePolicy claimRef resourceRef resourceRefs writeConnectionSecretToRef publishConnectionDetailsTo crossplane'
    .split(' ')
    .map((name) => [name, ANYTHING]),
)

/** Returns the versions of a definition. Rules that croft cannot check are reported and skipped. */
function shapesIn({ value }: Pick<PlacedObject, 'value'>, tell: (problem: FieldProblem) => void = () => {}) {
  const spec = fieldsOf(value.spec)
  const names = fieldsOf(spec.names)
  const claims = fieldsOf(spec.claimNames)
  const versions = Array.isArray(spec.versions) ? spec.versions.filter(isFields) : []
  return versions
    .map((version, index) => ({ version, at: ['spec', 'versions', index, 'schema', 'openAPIV3Schema'] }))
    .filter(({ version }) => version.served !== false)
    .map(({ version, at }) => {
      const schema = withCheckedRules(shapeOf(fieldsOf(version.schema).openAPIV3Schema), at, tell)
      const own: ValueShape = schema.properties?.spec ?? { type: 'object', additionalProperties: true }
      const shape: ValueShape = { ...own, type: 'object', properties: { ...own.properties, ...MACHINERY } }
      const apiVersion = `${String(spec.group)}/${String(version.name)}`
      const kind = String(names.kind)
      return {
        type: `${apiVersion} ${kind}`,
        apiVersion,
        kinds: [
          { kind, names, scope: scopeOf(value) },
          ...(typeof claims.kind === 'string'
            ? [{ kind: claims.kind, names: claims, scope: 'Namespaced' as const }]
            : []),
        ],
        status: withConditions(schema.properties?.status),
        stored: version.referenceable === true || versions.length === 1,
        shape,
      }
    })
}

/** Drops rules with functions that croft lacks: the cluster checks those. */
function withCheckedRules(shape: ValueShape, path: ProblemPath, tell: (problem: FieldProblem) => void): ValueShape {
  const inside = (inner: ValueShape, ...steps: ProblemPath) => withCheckedRules(inner, [...path, ...steps], tell)
  const { properties, items, additionalProperties, rules } = shape
  const checked = rules?.filter(({ rule }) => {
    const typed = typeOfExpression(rule, { self: shape })
    if ('problem' in typed)
      tell({
        code: 'not-kept',
        path: [...path, 'x-kubernetes-validations'],
        severity: 'warning',
        message: `croft cannot check the rule ${rule}: ${typed.problem}`,
      })
    return !('problem' in typed)
  })
  return {
    ...shape,
    ...(checked === undefined ? {} : { rules: checked }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, inside(one, 'properties', name)]),
          ),
        }),
    ...(items === undefined ? {} : { items: inside(items, 'items') }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: inside(additionalProperties, 'additionalProperties') }
      : {}),
  }
}

/** Adds the fields that Crossplane writes into every status. */
function withConditions(status: ValueShape = { type: 'object' }): ValueShape {
  if (status.type !== 'object') return status
  const own = { conditions: ANYTHING, connectionDetails: ANYTHING, claimConditionTypes: ANYTHING, crossplane: ANYTHING }
  return { ...status, properties: { ...status.properties, ...own } }
}

/** Composites have no namespace in the first version of definitions, and one in the second unless it says otherwise. */
function scopeOf({ apiVersion, spec }: DocumentFields): 'Namespaced' | 'Cluster' {
  const { scope } = fieldsOf(spec)
  if (String(apiVersion).endsWith('/v1') && scope === undefined) return 'Cluster'
  return scope === 'Cluster' || scope === 'LegacyCluster' ? 'Cluster' : 'Namespaced'
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

function apisOf(
  object: PlacedObject,
  { named, configs }: { readonly named: readonly NamedComposition[]; readonly configs: readonly EnvironmentData[] },
  originOf: (place: TemplatePlace) => ComposedApi['origin'],
): readonly ComposedApi[] {
  const { value, ...place } = object
  const metadata = fieldsOf(value.metadata)
  const spec = fieldsOf(value.spec)
  return shapesIn(object).flatMap(({ type, apiVersion, kinds, shape, stored }) =>
    kinds.map(({ kind, names, scope }, index): ComposedApi => {
      const fitting = named.filter((one) => one.type === type)
      return {
        kind,
        apiVersion,
        spec: shape,
        summary: `${index === 0 ? 'Defined' : 'A claim, defined'} by ${String(metadata.name)}.`,
        definition: `CompositeResourceDefinition/${String(metadata.name)}`,
        metadata: value.metadata,
        place,
        origin: originOf(place),
        order: [],
        readsWorld: fitting.some(({ read }) => read !== undefined && readsStatus(read)),
        serving: {
          plural: typeof names.plural === 'string' ? names.plural : `${kind.toLowerCase()}s`,
          scope,
          stored,
          shortNames: textsOf(names.shortNames),
          categories: textsOf(names.categories),
        },
        statusOf(instance, made) {
          const chosen = chosenFor(instance, spec, fitting)
          if (typeof chosen === 'string' || chosen.read === undefined) return {}
          return statusOfComposite(chosen.read, asComposite(instance, index > 0), made, configs)
        },
        expand(instance, live) {
          const chosen = chosenFor(instance, spec, fitting)
          if (typeof chosen === 'string')
            return { problem: { code: 'no-composition', path: ['metadata', 'name'], message: chosen } }
          if (chosen.read === undefined)
            return {
              problem: {
                code: 'no-composition',
                path: ['metadata', 'name'],
                message: `Composition/${chosen.name} at ${showOrigin(originOf(chosen.place))} has errors: correct those first`,
              },
            }
          const expansion = expandComposition(chosen.read, asComposite(instance, index > 0), live, configs)
          return 'problem' in expansion
            ? { problem: { ...expansion.problem, place: chosen.place } }
            : { documents: expansion.documents.map((one) => ({ ...one, place: chosen.place })) }
        },
      }
    }),
  )
}

/** Returns the composite of a claim: with the labels that Crossplane sets, and here with the claim's name. */
function asComposite(instance: DocumentFields, isClaim: boolean): DocumentFields {
  const metadata = fieldsOf(instance.metadata)
  const { name, namespace } = metadata
  const labels = {
    'crossplane.io/composite': name,
    ...(isClaim ? { 'crossplane.io/claim-name': name, 'crossplane.io/claim-namespace': namespace ?? 'default' } : {}),
    ...fieldsOf(metadata.labels),
  }
  // A claim's composite has no namespace, so its objects inherit none.
  const { namespace: _, ...alone } = metadata
  return { ...instance, metadata: { ...(isClaim ? alone : metadata), labels } }
}

/** Returns the composition that an instance selects, or a text that says why none can be chosen. */
function chosenFor(
  { spec }: DocumentFields,
  definition: DocumentFields,
  fitting: readonly NamedComposition[],
): NamedComposition | string {
  const asked = fieldsOf(spec)
  const machinery = { ...asked, ...fieldsOf(asked.crossplane) }
  const ref = [definition.enforcedCompositionRef, machinery.compositionRef, definition.defaultCompositionRef].find(
    isFields,
  )
  const wanted = fieldsOf(fieldsOf(machinery.compositionSelector).matchLabels)
  if (ref !== undefined && (definition.enforcedCompositionRef !== undefined || isFields(machinery.compositionRef)))
    return fitting.find(({ name }) => name === ref.name) ?? `there is no Composition ${String(ref.name)} for it`
  if (Object.keys(wanted).length > 0) {
    const selected = fitting.filter(({ labels }) => Object.entries(wanted).every(([name, one]) => labels[name] === one))
    return only(selected, 'that has these labels')
  }
  const preset = ref === undefined ? undefined : fitting.find(({ name }) => name === ref.name)
  return preset ?? only(fitting, 'for it')
}

function only(found: readonly NamedComposition[], what: string): NamedComposition | string {
  const [first] = found
  if (first === undefined) return `there is no Composition ${what}`
  if (found.length === 1) return first
  return `there are several Compositions ${what}: ${found
    .map(({ name }) => name)
    .sort()
    .join(', ')}; name one in compositionRef`
}
