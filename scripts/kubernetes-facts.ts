/**
 * Writes src/source/compose/kubernetes-facts.ts: the fields of the objects that every cluster knows, and their types, from
 * the descriptions of the API (OpenAPI 3) in a checkout of Kubernetes. Only names and types go in, no sentence.
 *
 *   node bin/run scripts/kubernetes-facts.ts VERSION CHECKOUT/api/openapi-spec/v3
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const APIS = [
  'v1',
  'apps/v1',
  'autoscaling/v1',
  'autoscaling/v2',
  'batch/v1',
  'networking.k8s.io/v1',
  'policy/v1',
  'rbac.authorization.k8s.io/v1',
  'scheduling.k8s.io/v1',
  'storage.k8s.io/v1',
] as const

interface Schema {
  readonly type?: string
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly format?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

const LETTERS: Readonly<Record<string, string>> = { string: 's', integer: 'i', number: 'n', boolean: 'b' }
/** What every object has, and what is checked without these tables. */
const ENVELOPE = new Set(['apiVersion', 'kind', 'metadata'])

const [version = '', folder = ''] = process.argv.slice(2)
/** Whole names by the short ones, and the fields by the short ones. */
const types = new Map<string, string>()
const lines = new Map<string, string>()
const kinds: string[] = []

for (const api of APIS) {
  const path = api === 'v1' ? 'api__v1' : `apis__${api.replace('/', '__')}`
  const { components } = JSON.parse(readFileSync(join(folder, `${path}_openapi.json`), 'utf8')) as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  }
  const { schemas } = components
  for (const schema of Object.values(schemas)) {
    const own = schema['x-kubernetes-group-version-kind']?.[0]
    if (own === undefined || (own.group === '' ? own.version : `${own.group}/${own.version}`) !== api) continue
    if (schema.properties?.metadata === undefined || schema.properties.items !== undefined) continue
    kinds.push(`${api} ${own.kind}: ${fieldsOf(schema, schemas, ENVELOPE)}`)
  }
}

const inOrder = (all: Iterable<string>) => [...all].toSorted((a, b) => (a < b ? -1 : 1)).join('\n')
writeFileSync(
  new URL('../src/source/compose/kubernetes-facts.ts', import.meta.url),
  `/*
 * Fields and types of the objects that every cluster of Kubernetes ${version} knows. Written by scripts/kubernetes-facts.ts.
 * s: text, i: whole number, n: number, b: true or false, *: anything, []: list of, {}: map to; else the name of a block.
 */

export const KUBERNETES_KINDS = \`
${inOrder(kinds)}
\`

export const KUBERNETES_BLOCKS = \`
${inOrder([...lines].map(([name, fields]) => `${name}: ${fields}`))}
\`
`,
)

function fieldsOf(
  { properties = {} }: Schema,
  schemas: Readonly<Record<string, Schema>>,
  without: ReadonlySet<string> = new Set(),
): string {
  return Object.entries(properties)
    .filter(([name]) => !without.has(name))
    .map(([name, one]) => `${name} ${typeOf(one, schemas)}`)
    .join(', ')
}

function typeOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): string {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref
  if (ref !== undefined) return named(ref.slice(ref.lastIndexOf('/') + 1), schemas)
  if (schema.oneOf !== undefined || schema.format === 'int-or-string') return '*'
  if (schema.type === 'array') return `[]${typeOf(schema.items ?? {}, schemas)}`
  if (schema.type === 'object')
    return schema.additionalProperties === undefined ? '*' : `{}${typeOf(schema.additionalProperties, schemas)}`
  return LETTERS[schema.type ?? ''] ?? '*'
}

/** The last word of a name; with its group where two groups have the same word for two things. */
function named(name: string, schemas: Readonly<Record<string, Schema>>): string {
  const schema = schemas[name] ?? {}
  if (schema.properties === undefined) return typeOf(schema, schemas)
  const [word = '', , group = ''] = name.split('.').reverse()
  for (const called of [word, `${group}-${word}`]) {
    const known = types.get(called)
    if (known === undefined) {
      // There before its fields are: they may name it.
      types.set(called, name)
      lines.set(called, fieldsOf(schema, schemas))
      return called
    }
    if (known === name) return called
  }
  throw new Error(`${name}: two types would have the same name`)
}
