import { z } from 'zod'

/** Marks the schemas that may be written as a list of one, for the JSON Schema. */
export const oneBlock = z.registry<{ readonly block: true }>()
/** Marks the schemas that may be written as a bare object instead of a list. */
export const manyBlocks = z.registry<{ readonly blocks: true }>()

/**
 * Reads Terraform's blocks in both forms, `cpu: {cores: 4}` and `cpu: [{cores: 4}]`: they reach Kubernetes as lists
 * even if only one is possible. An empty list counts as absent.
 */
export function block<Schema extends z.ZodType>(schema: Schema) {
  const read = z.preprocess((value, context) => {
    if (!Array.isArray(value)) return value
    if (value.length > 1) {
      context.issues.push({ code: 'custom', message: `one block, not ${value.length}`, input: value })
      return z.NEVER
    }
    return value[0]
  }, schema.optional())
  read.register(oneBlock, { block: true })
  return read.optional()
}

/** Blocks that may be repeated: a list, or a bare object for a single one. */
export function blocks<Schema extends z.ZodType>(schema: Schema, max: number) {
  const read = z.preprocess(
    (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? [value] : value),
    z.array(schema).max(max),
  )
  read.register(manyBlocks, { blocks: true })
  return read.optional()
}
