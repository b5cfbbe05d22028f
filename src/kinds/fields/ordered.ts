import { z } from 'zod'
import { celProblem } from '../../lib/cel.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { FieldProblem, Kind, RawManifest } from '../kind.ts'
import { freeText } from '../settings/field-schema.ts'
import { DEPENDS_ON, READY_WHEN } from './annotations.ts'
import { show } from './explain.ts'
import { line } from './text.ts'

const KEY = /^[A-Z][A-Za-z0-9]*(?:\/[a-z0-9][a-z0-9.-]*){1,2}$/

const fields = {
  dependsOn: z
    .array(z.string().max(400).regex(KEY, { error: 'a key like Machine/db-1' }))
    .max(LIMITS.dependencies)
    .optional(),
  /** Evaluated without side effects. */
  readyWhen: z
    .array(line.clone().register(freeText, { free: true }))
    .max(LIMITS.dependencies)
    .optional(),
}

interface Ordering {
  readonly dependsOn?: readonly string[] | undefined
  readonly readyWhen?: readonly string[] | undefined
}

const IN_SPEC = { dependsOn: ['spec', 'dependsOn'], readyWhen: ['spec', 'readyWhen'] }
const IN_ANNOTATIONS = {
  dependsOn: ['metadata', 'annotations', DEPENDS_ON],
  readyWhen: ['metadata', 'annotations', READY_WHEN],
}

/**
 * The kind with `dependsOn` and `readyWhen`. In croft's own kinds they are fields of the spec. The fields of the others
 * belong to Crossplane's provider, whose definition in a cluster would drop ours: there they are annotations.
 */
export function ordered<Spec>(kind: Kind<Spec>): Kind<Spec> {
  const own = kind.apiVersion.startsWith('croft.dev/')
  const orderedBy = own ? IN_SPEC : IN_ANNOTATIONS
  const read = (spec: Spec, manifest: RawManifest): Ordering => (own ? (spec as Ordering) : annotated(manifest))
  const added: Pick<Kind<Spec>, 'schema' | 'orderedBy' | 'check' | 'policy'> = {
    get schema() {
      return own ? extended(kind.schema) : kind.schema
    },
    orderedBy,
    check(spec, manifest) {
      const found = kind.check?.(spec, manifest) ?? []
      return [...found, ...orderingProblems(read(spec, manifest), orderedBy, own)]
    },
    policy(spec, manifest) {
      const { dependsOn = [], readyWhen = [] } = read(spec, manifest)
      return {
        ...kind.policy(spec, manifest),
        ...(dependsOn.length === 0 ? {} : { after: [...new Set(dependsOn)].sort() }),
        ...(readyWhen.length === 0 ? {} : { readyWhen }),
      }
    },
  }
  // Copy the other fields, but not the schema: some kinds build theirs on first use.
  const made: Partial<Record<keyof Kind<Spec>, unknown>> = added
  for (const name of Object.keys(kind) as (keyof Kind<Spec>)[]) if (!(name in added)) made[name] = kind[name]
  return made as Kind<Spec>
}

const schemas = new WeakMap<z.ZodType, z.ZodType>()

function extended<Spec>(schema: z.ZodType<Spec>): z.ZodType<Spec> {
  const known = schemas.get(schema)
  if (known !== undefined) return known as z.ZodType<Spec>
  if (!(schema instanceof z.ZodObject))
    throw new TypeError('only a kind whose spec is a block of fields can be ordered')
  const wider: z.ZodType = schema.extend(fields)
  schemas.set(schema, wider)
  return wider as z.ZodType<Spec>
}

function annotated({ metadata: { annotations } }: RawManifest): Ordering {
  const [keys, expression] = [annotations[DEPENDS_ON], annotations[READY_WHEN]]
  return {
    ...(keys === undefined ? {} : { dependsOn: keys.split(',').map((key) => key.trim()) }),
    ...(expression === undefined ? {} : { readyWhen: [expression] }),
  }
}

function orderingProblems(
  { dependsOn = [], readyWhen = [] }: Ordering,
  paths: typeof IN_SPEC,
  own: boolean,
): readonly FieldProblem[] {
  const at = (path: readonly string[], index: number) => (own ? [...path, index] : path)
  const keys = dependsOn.flatMap((key, index): readonly FieldProblem[] => {
    if (KEY.test(key)) return []
    const message = `${show(key)} is not a key of a declaration`
    return [{ code: 'bad-value', path: at(paths.dependsOn, index), message, hint: 'a key like Machine/db-1' }]
  })
  const expressions = readyWhen.flatMap((expression, index): readonly FieldProblem[] => {
    const wrong = celProblem(expression)
    return wrong === undefined
      ? []
      : [{ code: 'bad-expression', path: at(paths.readyWhen, index), message: `not an expression in CEL: ${wrong}` }]
  })
  return [...keys, ...expressions]
}
