import { z } from 'zod'
import { eachInSteps, type Steps } from '../lib/in-turns.ts'
import { shownJson } from './shown-json.ts'

/*
 * An answer may have thousands of lines of foreign text. Each line of a list is a separate step, so that a long list
 * does not keep other requests waiting.
 */

/** The answer as its schema has it. Throws what `schema.parse` throws. */
export function* checking(schema: z.ZodType, answer: unknown): Steps<unknown> {
  if (!(schema instanceof z.ZodObject) || answer === null || typeof answer !== 'object') return schema.parse(answer)
  const lists: [string, unknown[]][] = []
  for (const [name, value] of Object.entries(answer)) {
    const line = Array.isArray(value) ? lineOf(schema.shape[name] as z.ZodType | undefined) : undefined
    if (line === undefined) continue
    lists.push([name, yield* eachInSteps(value as unknown[], (one) => line.parse(one))])
  }
  const rest = schema.parse({ ...answer, ...Object.fromEntries(lists.map(([name]) => [name, []])) })
  // Restore the order of the schema.
  return { ...(rest as object), ...Object.fromEntries(lists) }
}

/** The answer as JSON for the page. */
export function* writing(answer: unknown): Steps<string> {
  if (answer === null || typeof answer !== 'object' || Array.isArray(answer)) return shownJson(answer)
  const fields: string[] = []
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue
    const text = Array.isArray(value)
      ? `[${(yield* eachInSteps(value as unknown[], (one) => shownJson(one ?? null))).join(',')}]`
      : shownJson({ [name]: value }).slice(JSON.stringify(name).length + 2, -1)
    fields.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${fields.join(',')}}`
}

function lineOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodOptional) return lineOf(schema.unwrap() as z.ZodType)
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : undefined
}
