import { createHash } from 'node:crypto'
import type { Foreign } from '../../kubernetes/objects.ts'
import type { DescribedApi } from '../../source/compose/in-cluster.ts'
import type { ValueShape } from '../../source/compose/shape.ts'

/** Definitions with this label are croft's to change. */
export const DEFINED_BY = 'compose.croft.dev/definition'
export const DEFINITION_HASH = 'compose.croft.dev/hash'

const PRESERVE = { 'x-kubernetes-preserve-unknown-fields': true }
const LIMITS = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'description',
] as const

/** The kind of an API as a cluster defines it, from all versions of it. Pure. */
export function instanceDefinition(versions: readonly DescribedApi[]): Foreign | undefined {
  const [first] = versions
  if (first === undefined) return undefined
  const { kind, serving, definition } = first
  const group = groupOf(first)
  const stored = versions.findLast((one) => one.serving.stored) ?? versions.at(-1)
  const spec = {
    group,
    scope: serving.scope,
    names: {
      kind,
      listKind: `${kind}List`,
      plural: serving.plural,
      singular: kind.toLowerCase(),
      ...(serving.shortNames.length === 0 ? {} : { shortNames: serving.shortNames }),
      ...(serving.categories.length === 0 ? {} : { categories: serving.categories }),
    },
    versions: versions.map((one) => ({
      name: versionOf(one),
      served: true,
      storage: one === stored,
      subresources: { status: {} },
      additionalPrinterColumns: COLUMNS,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          description: one.summary,
          properties: {
            apiVersion: { type: 'string' },
            kind: { type: 'string' },
            metadata: { type: 'object' },
            spec: schemaOf(one.spec),
            status: { type: 'object', ...PRESERVE },
          },
        },
      },
    })),
  }
  const hash = createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 16)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${serving.plural}.${group}`,
      labels: { 'app.kubernetes.io/part-of': 'croft', [DEFINED_BY]: definition.slice(definition.indexOf('/') + 1) },
      annotations: { [DEFINITION_HASH]: hash },
    },
    spec,
  }
}

const CONDITION = (type: string) => `.status.conditions[?(@.type=="${type}")].status`
const COLUMNS = [
  { name: 'Synced', type: 'string', jsonPath: CONDITION('Synced') },
  { name: 'Ready', type: 'string', jsonPath: CONDITION('Ready') },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]

export function groupOf({ apiVersion }: Pick<DescribedApi, 'apiVersion'>): string {
  return apiVersion.split('/')[0] ?? ''
}

function versionOf({ apiVersion }: Pick<DescribedApi, 'apiVersion'>): string {
  return apiVersion.split('/')[1] ?? ''
}

/** Without defaults: an object stays as its author wrote it, and croft applies them itself. */
function schemaOf(shape: ValueShape): Foreign {
  const limits = Object.fromEntries(LIMITS.flatMap((name) => (shape[name] === undefined ? [] : [[name, shape[name]]])))
  const { type, properties, additionalProperties } = shape
  if (type === undefined) return PRESERVE
  const fields =
    properties === undefined
      ? typeof additionalProperties === 'object'
        ? { additionalProperties: schemaOf(additionalProperties) }
        : PRESERVE
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, schemaOf(one)])),
          ...(additionalProperties === undefined ? {} : PRESERVE),
        }
  return {
    type,
    ...limits,
    ...(shape.enum === undefined ? {} : { enum: shape.enum }),
    ...(shape.required === undefined || shape.required.length === 0 ? {} : { required: shape.required }),
    ...(type === 'array' ? { items: schemaOf(shape.items ?? {}) } : {}),
    ...(type === 'object' ? fields : {}),
  }
}
