import { z } from 'zod'
import { described } from './descriptions/describe.ts'
import { descriptionsOf } from './descriptions/registry.ts'
import { manyBlocks, oneBlock } from './fields/block.ts'
import { VALIDATIONS, validations } from './fields/validations.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './registry.ts'

type JsonSchema = Record<string, unknown>

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** Returns the JSON Schema for editors: of one kind, or of all, selected by apiVersion and kind. */
export function jsonSchema(kind?: Kind): JsonSchema {
  if (kind !== undefined) return { $schema: DIALECT, ...objectSchema(kind) }
  return { $schema: DIALECT, title: 'croft manifest', oneOf: KINDS.map(objectSchema) }
}

function objectSchema(kind: Kind): JsonSchema {
  return {
    title: kind.kind,
    description: kind.summary,
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { enum: apiVersions(kind) },
      kind: { const: kind.kind },
      metadata: METADATA,
      spec: describedSpec(kind),
      status: { description: 'Read over.' },
    },
    additionalProperties: false,
  }
}

const TEXTS: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } }

const METADATA: JsonSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$' },
    namespace: { type: 'string' },
    labels: TEXTS,
    annotations: TEXTS,
  },
}

/** Every apiVersion that a kind accepts, tried out rather than repeated. */
function apiVersions(kind: Kind): readonly string[] {
  const [group = '', version = ''] = kind.apiVersion.split('/')
  const first = group.split('.')[0] ?? ''
  const groups = [
    group,
    ...['', '.proxmoxbpg'].flatMap((provider) => [
      `${first}${provider}.crossplane.io`,
      `${first}${provider}.m.crossplane.io`,
    ]),
  ]
  const candidates = groups.flatMap((name) => [`${name}/${version}`, `${name}/v1alpha1`, `${name}/v1beta1`])
  return [...new Set(candidates)].filter((candidate) => kind.accepts(candidate))
}

/** Returns the schema of `spec` with descriptions. */
export function describedSpec(kind: Kind): JsonSchema {
  return described(specSchema(kind.schema), descriptionsOf(kind) ?? {})
}

function specSchema(schema: z.ZodType): JsonSchema {
  const result = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: json }) {
      const written = zodSchema as unknown as z.ZodType
      const rule = validations.get(written)
      if (rule !== undefined) Object.assign(json, { [VALIDATIONS]: [rule] })
      const known = oneBlock.has(written) || manyBlocks.has(written)
      if (!known) return
      const { ...plain } = json
      for (const key of Object.keys(json)) delete (json as JsonSchema)[key]
      json.anyOf = oneBlock.has(written)
        ? [plain, { type: 'array', maxItems: 1, items: plain }]
        : [plain, ...(plain.items === undefined ? [] : [plain.items as typeof plain])]
    },
  })
  const { $schema: _dialect, ...rest } = result
  return rest
}
