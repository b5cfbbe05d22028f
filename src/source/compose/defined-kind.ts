import type { DefinedApi } from './api.ts'
import type { ValueShape } from './shape.ts'

type EditorSchema = Readonly<Record<string, unknown>>

/** A kind that files define, in the words in which people ask about kinds. */
export function definedKind({ kind, apiVersion, summary, spec }: DefinedApi) {
  const schema: EditorSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: kind,
    description: summary,
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { enum: [apiVersion] },
      kind: { const: kind },
      metadata: { type: 'object', required: ['name'] },
      spec: closed(spec),
      status: { description: 'Read over.' },
    },
    additionalProperties: false,
  }
  return { kind, apiVersion, summary, plural: `${kind.toLowerCase()}s`, shortNames: [], schema }
}

/** Returns the schema with undefined fields forbidden, so that editors mark them. */
function closed({ properties, items, additionalProperties, ...rest }: ValueShape): EditorSchema {
  const inner = typeof additionalProperties === 'object' ? closed(additionalProperties) : additionalProperties
  const fields =
    properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, closed(one)])) }
  return {
    ...rest,
    ...fields,
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(rest.type === 'object' ? { additionalProperties: inner ?? false } : {}),
  }
}
