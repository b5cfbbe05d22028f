/**
 * One sentence for each field of a kind, by its path below spec: `upgrade.drain.timeout`. Items of a list have no
 * index, and the values of a map are `*`: `bindings.networks.*.bridge`.
 */
export type Descriptions = Readonly<Record<string, string>>

/** Descriptions of fields that only one hypervisor has. */
export interface HypervisorTexts {
  /** For the kinds that only it has. */
  readonly kinds: Readonly<Record<string, Descriptions>>
  /** For its block in a Machine, a MachineClass and a node. */
  readonly hardware: Descriptions
  /** For its block in a Machine alone. */
  readonly machine: Descriptions
}

type SchemaPart = Readonly<Record<string, unknown>>

/** Returns the descriptions with a path in front. */
export function under(path: string, descriptions: Descriptions): Descriptions {
  return Object.fromEntries(Object.entries(descriptions).map(([field, text]) => [`${path}.${field}`, text]))
}

/** The schema of a spec, with a description on every field that has one. */
export function described(schema: SchemaPart, descriptions: Descriptions): SchemaPart {
  return describedAt(schema, [], descriptions, schema)
}

function describedAt(
  node: SchemaPart,
  path: readonly string[],
  descriptions: Descriptions,
  root: SchemaPart,
): SchemaPart {
  const at = (value: unknown, to: readonly string[]) => describedAt(nodeOf(value), to, descriptions, root)
  if (typeof node.$ref === 'string') {
    // A definition that two fields share means something else in each: here it becomes a part of the field.
    const { $ref, ...own } = node
    return hasFieldsBelow(path, descriptions) ? at({ ...target(root, $ref as string), ...own }, path) : node
  }
  const result: Record<string, unknown> = { ...node }
  for (const name of ['anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(node[name])) result[name] = node[name].map((one) => at(one, path))
  if (isNode(node.items)) result.items = at(node.items, path)
  if (isNode(node.additionalProperties)) result.additionalProperties = at(node.additionalProperties, [...path, '*'])
  if (isNode(node.properties))
    result.properties = Object.fromEntries(
      Object.entries(node.properties).map(([name, field]) => {
        const to = [...path, name]
        const description = descriptions[to.join('.')]
        return [name, { ...at(field, to), ...(description === undefined ? {} : { description }) }]
      }),
    )
  return result
}

function hasFieldsBelow(path: readonly string[], descriptions: Descriptions): boolean {
  const start = path.map((part) => `${part}.`).join('')
  return Object.keys(descriptions).some((field) => field.startsWith(start))
}

function target(root: SchemaPart, reference: string): SchemaPart {
  const parts = reference.split('/').slice(1)
  return nodeOf(parts.reduce<unknown>((node, part) => nodeOf(node)[part], root))
}

function nodeOf(value: unknown): SchemaPart {
  return isNode(value) ? value : {}
}

function isNode(value: unknown): value is SchemaPart {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
