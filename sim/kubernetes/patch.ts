import { isRecord } from '../../src/lib/is-record.ts'
import { ApiStatus } from './status.ts'

type Json = unknown
type Mapping = { [key: string]: Json }

/** RFC 7396. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isRecord(patch)) return patch
  const result: Mapping = isRecord(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = mergePatch(result[key], value)
  }
  return result
}

/** RFC 6902, with the operations that clients send. */
export function jsonPatch(target: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw new ApiStatus(400, 'BadRequest', 'a JSON patch is a list of operations')
  let result = structuredClone(target)
  for (const operation of operations as Mapping[]) {
    const path = String(operation.path)
    const steps = path
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = steps.pop() ?? ''
    let holder: Json = result
    for (const step of steps) holder = isRecord(holder) ? holder[step] : (holder as Json[])[Number(step)]
    const op = String(operation.op)
    if (steps.length === 0 && path === '') {
      result = operation.value
      continue
    }
    if (holder === undefined || holder === null) throw unprocessable(`the path ${path} does not exist`)
    const value = Array.isArray(holder)
      ? holder[last === '-' ? holder.length : Number(last)]
      : (holder as Mapping)[last]
    if (op === 'test') {
      if (JSON.stringify(value) !== JSON.stringify(operation.value)) throw unprocessable(`testing value ${path} failed`)
    } else if (op === 'remove') {
      if (value === undefined) throw unprocessable(`the path ${path} does not exist`)
      if (Array.isArray(holder)) holder.splice(Number(last), 1)
      else delete (holder as Mapping)[last]
    } else if (op === 'add' && Array.isArray(holder)) {
      holder.splice(last === '-' ? holder.length : Number(last), 0, operation.value)
    } else if (Array.isArray(holder)) holder[Number(last)] = operation.value
    else (holder as Mapping)[last] = operation.value
  }
  return result
}

function unprocessable(why: string): ApiStatus {
  return new ApiStatus(422, 'Invalid', `the server rejected our request due to an error in our request: ${why}`)
}

/** By which field the members of a list are told apart, where lists are merged; other lists are replaced whole. */
export const MERGE_KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  ephemeralContainers: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
  volumeDevices: 'devicePath',
  ports: 'containerPort|port',
  imagePullSecrets: 'name',
  hostAliases: 'ip',
  conditions: 'type',
  addresses: 'type',
  ownerReferences: 'uid',
  secrets: 'name',
  topologySpreadConstraints: 'topologyKey',
}

/** Lists of plain values that are merged as sets. */
const SETS = new Set(['finalizers', 'podCIDRs'])

/** Kubernetes' own form of a merge patch: lists of known fields are merged by their keys. */
export function strategicPatch(target: Json, patch: Json, field = ''): Json {
  if (Array.isArray(patch)) return strategicList(Array.isArray(target) ? target : [], patch, field)
  if (!isRecord(patch)) return patch
  if (patch.$patch === 'replace') {
    const { $patch: _, ...rest } = patch
    return rest
  }
  const result: Mapping = isRecord(target) ? { ...target } : {}
  const retained = patch.$retainKeys
  if (Array.isArray(retained)) for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key]
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$retainKeys' || key.startsWith('$setElementOrder/') || key === '$patch') continue
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const name = key.slice('$deleteFromPrimitiveList/'.length)
      const before = result[name]
      if (Array.isArray(before)) result[name] = before.filter((one) => !(value as Json[]).includes(one))
    } else if (value === null) delete result[key]
    else result[key] = strategicPatch(result[key], value, key)
  }
  return result
}

function strategicList(target: readonly Json[], patch: readonly Json[], field: string): Json[] {
  if (SETS.has(field)) return [...new Set([...target, ...patch])]
  const keys = MERGE_KEYS[field]?.split('|')
  const key = keys?.find((one) => patch.every((entry) => isRecord(entry) && (one in entry || '$patch' in entry)))
  if (key === undefined) return [...patch]
  const result = [...target]
  for (const entry of patch as Mapping[]) {
    if (entry.$patch === 'replace') return patch.filter((one) => one !== entry) as Json[]
    const at = result.findIndex((one) => isRecord(one) && one[key] === entry[key])
    if (entry.$patch === 'delete') {
      if (at >= 0) result.splice(at, 1)
    } else if (at < 0) result.push(entry)
    else result[at] = strategicPatch(result[at], entry, '')
  }
  return result
}
