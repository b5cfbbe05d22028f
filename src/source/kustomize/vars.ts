import { LIMITS } from '../../lib/limits.ts'
import { isFields } from '../manifest.ts'
import type { Configuration } from './configuration.ts'
import { groupVersionOf } from './field-paths.ts'
import { PatchFailed } from './json-patch.ts'
import { identitiesOf, type KustomizeItem, type ObjectFields } from './objects.ts'
import { splitPath, stepInto } from './replacements.ts'
import type { Variable } from './schema.ts'
import { editFields } from './transform.ts'

/** Substitutes `$(NAME)` by the values of `vars`, at the very end, when all names are final. */
export function resolveVars(
  items: readonly KustomizeItem[],
  vars: readonly Variable[],
  config: Configuration,
): readonly KustomizeItem[] {
  if (vars.length === 0) return items
  const values = new Map(vars.map((one) => [one.name, variableValue(items, one)]))
  const expand = (value: unknown): unknown => {
    if (isFields(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, typeof one === 'string' ? put(one, values) : one]),
      )
    return typeof value === 'string' ? put(value, values) : value
  }
  return items.map((item) => ({ ...item, object: editFields(item.object, config.varReference, expand, undefined) }))
}

/** `$(NAME)` alone becomes the value with its type; within a text, its text form. `$$` escapes `$`. */
function put(text: string, values: ReadonlyMap<string, unknown>): unknown {
  const whole = /^\$\(([^()]+)\)$/.exec(text)?.[1]
  if (whole !== undefined && values.has(whole)) return values.get(whole)
  let made = text.length
  return text.replace(/\$\$|\$\(([^()]*)\)/g, (found, name: string | undefined) => {
    if (name === undefined) return '$'
    if (!values.has(name)) return found
    const value = String(values.get(name))
    made += value.length
    if (made > LIMITS.builtTextLength)
      throw new PatchFailed(`variables make a text of more than ${LIMITS.builtTextLength} characters`)
    return value
  })
}

function variableValue(items: readonly KustomizeItem[], { name, objref, fieldref }: Variable): unknown {
  const of = groupVersionOf(objref.apiVersion)
  const group = objref.group ?? (objref.apiVersion === undefined ? undefined : of.group)
  const version = objref.version ?? (objref.apiVersion === undefined ? undefined : of.version)
  const found = items.filter((item) => {
    const own = groupVersionOf(item.object.apiVersion)
    return (
      item.object.kind === objref.kind &&
      (group ?? own.group) === own.group &&
      (version ?? own.version) === own.version &&
      identitiesOf(item).some(
        (one) => one.name === objref.name && (objref.namespace ?? one.namespace) === one.namespace,
      )
    )
  })
  const [only] = found
  if (only === undefined || found.length > 1)
    throw new PatchFailed(
      `the variable ${name} is of ${objref.kind} ${objref.name}, which is there ${found.length} times`,
    )
  const path = fieldref?.fieldpath ?? fieldref?.fieldPath ?? 'metadata.name'
  const value = splitPath(path.replaceAll(/\[(\d+)\]/g, '.$1')).reduce<unknown>(stepInto, only.object as ObjectFields)
  if (value === undefined) throw new PatchFailed(`the variable ${name}: ${objref.kind} ${objref.name} has no ${path}`)
  return value
}
