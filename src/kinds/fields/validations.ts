import { z } from 'zod'

/** Kubernetes' extension of schemas; other readers ignore it. */
export const VALIDATIONS = 'x-kubernetes-validations'

/** Rules of a schema beyond its fields, also in CEL, so that the Kubernetes API checks them too. */
export const validations = z.registry<{ readonly rule: string; readonly message: string }>()

/** A block in which exactly one of some fields stands; without names, of all. */
export function exactlyOne<Shape extends z.ZodRawShape>(shape: Shape, names: readonly string[] = Object.keys(shape)) {
  const message = `one of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  const isOne = (block: Readonly<Record<string, unknown>>) =>
    names.filter((name) => block[name] !== undefined).length === 1
  const schema = z.strictObject(shape).refine(isOne, { error: message })
  const present = names.map((name) => `has(self.${name})`).join(', ')
  schema.register(validations, { rule: `[${present}].exists_one(one, one)`, message })
  return schema
}
