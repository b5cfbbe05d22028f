import type { z } from 'zod'
import { type ChangeReference, changedTree, mapped } from '../../model/desired-secrets.ts'
import type { SecretReference } from '../../model/secret.ts'
import type { Tree } from '../../model/vm.ts'
import { userData } from '../machines/fields.ts'
import { KINDS } from '../registry.ts'
import { secretReference } from './ssh.ts'

const SCHEMAS = new Map(KINDS.map(({ kind, schema }) => [kind, schema]))

/**
 * Returns the spec of a valid manifest with each reference to a secret changed. The schema says where one stands, never
 * its shape: text of others (values of a chart, objects, labels) stays as it is written.
 */
export function changeReferences(kind: string, spec: unknown, change: ChangeReference): unknown {
  const schema = SCHEMAS.get(kind)
  return schema === undefined ? spec : changed(schema, spec, change)
}

/** Returns the secrets that a valid manifest names. What its kind makes of it is judged again (`secretsOf`). */
export function writtenSecrets(kind: string, spec: unknown): readonly SecretReference[] {
  const found = new Set<SecretReference>()
  changeReferences(kind, spec, (reference) => {
    found.add(reference)
    return reference
  })
  return [...found]
}

function changed(schema: z.core.$ZodType, value: unknown, change: ChangeReference): unknown {
  if (value === null || typeof value !== 'object') return value
  if (schema === secretReference) return change(value as SecretReference)
  if (schema === userData) return changedTree(value as Tree, change)
  const def = schema._zod.def as unknown as Record<string, unknown> & { readonly type: string }
  const inner = (name: string) => def[name] as z.core.$ZodType
  switch (def.type) {
    case 'object': {
      const { shape } = schema as z.ZodObject
      return mapped(value, (one, name) => {
        const field = Object.hasOwn(shape, name) ? shape[name] : undefined
        return field === undefined ? one : changed(field, one, change)
      })
    }
    case 'array':
      return mapped(value, (one) => changed(inner('element'), one, change))
    case 'record':
      return mapped(value, (one) => changed(inner('valueType'), one, change))
    case 'union': {
      for (const option of def.options as readonly z.core.$ZodType[]) {
        const made = changed(option, value, change)
        if (made !== value) return made
      }
      return value
    }
    case 'pipe':
      return changed(inner('out')._zod.def.type === 'transform' ? inner('in') : inner('out'), value, change)
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
      return changed(inner('innerType'), value, change)
    default:
      return value
  }
}
