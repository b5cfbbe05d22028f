import { type Foreign, isRecord, recordsOf } from '../../kubernetes/objects.ts'

/** A tree of fields as Kubernetes writes down who keeps them: `f:spec`, `k:{"name":"c"}`, `v:"x"`. */
export type FieldTree = Foreign

export const MANAGER = 'croft'

/** What we keep of an object, by its own account; undefined when it says nothing about us. */
export function ownedBy(object: Foreign, manager: string): FieldTree | undefined {
  const entry = entriesOf(object).find((one) => one.manager === manager && one.operation === 'Apply')
  return entry === undefined || !isRecord(entry.fieldsV1) ? undefined : entry.fieldsV1
}

/** Who keeps which fields; status is its controller's and no question of ours. */
export function entriesOf(object: Foreign): readonly Foreign[] {
  const metadata = isRecord(object.metadata) ? object.metadata : {}
  return recordsOf(metadata.managedFields).filter((entry) => entry.subresource !== 'status')
}

/** Every field that anybody keeps: tells how the server takes each list apart. */
export function allFields(object: Foreign): FieldTree {
  let all: FieldTree = {}
  for (const { fieldsV1 } of entriesOf(object)) if (isRecord(fieldsV1)) all = joined(all, fieldsV1)
  return all
}

function joined(a: FieldTree, b: FieldTree): FieldTree {
  const result: Record<string, unknown> = { ...a }
  for (const [step, inner] of Object.entries(b)) {
    const there = result[step]
    result[step] = isRecord(there) && isRecord(inner) ? joined(there, inner) : inner
  }
  return result
}

/** The single fields of a tree, as texts of steps. */
export function leavesOf(tree: FieldTree | undefined): ReadonlySet<string> {
  const found = new Set<string>()
  const walk = (value: unknown, path: readonly string[]) => {
    const entries = Object.entries(isRecord(value) ? value : {}).filter(([step]) => step !== '.')
    if (entries.length === 0 && path.length > 0) found.add(path.join('\n'))
    for (const [step, inner] of entries) walk(inner, [...path, step])
  }
  walk(tree ?? {}, [])
  return found
}

/** `spec.template.spec.containers[name=c].image`, for people. */
export function shownPath(path: string): string {
  return path
    .split('\n')
    .map((step) => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`
      if (!step.startsWith('k:')) return `[${step.slice(2)}]`
      try {
        const key: unknown = JSON.parse(step.slice(2))
        const parts = Object.entries(isRecord(key) ? key : {}).map(([name, value]) => `${name}=${String(value)}`)
        return `[${parts.join(',')}]`
      } catch {
        return '[?]'
      }
    })
    .join('')
    .replace(/^\./, '')
}

/** The entry of a list that a step like `k:{"name":"c"}` names. */
export function entryAt(list: readonly unknown[], step: string): unknown {
  try {
    const key: unknown = JSON.parse(step.slice(2))
    if (!isRecord(key)) return undefined
    const names = Object.entries(key)
    return list.find((entry) => isRecord(entry) && names.every(([name, value]) => matches(entry[name], value, name)))
  } catch {
    return undefined
  }
}

/** A port without a protocol is one of TCP: the server fills it in, a person leaves it out. */
function matches(found: unknown, wanted: unknown, name: string): boolean {
  return found === wanted || (name === 'protocol' && found === undefined && wanted === 'TCP')
}
