/** A Kubernetes object as JSON. Those in a store are never changed: a change is a new object. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Metadata
  readonly spec?: unknown
  readonly status?: unknown
  readonly [field: string]: unknown
}

export interface Metadata {
  readonly name: string
  readonly namespace?: string
  readonly generateName?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFields[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFields {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly time?: string
  readonly fieldsType: 'FieldsV1'
  readonly fieldsV1: Tree
  readonly subresource?: string
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastHeartbeatTime?: string
  readonly lastTransitionTime?: string
  readonly lastProbeTime?: string | null
  readonly observedGeneration?: number
}

export type Tree = { readonly [key: string]: unknown }

/** The object behind a field, or an empty one. */
export function tree(value: unknown): Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {}
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function trees(value: unknown): readonly Tree[] {
  return list(value).map(tree)
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** `2026-11-15T01:32:27Z`: Kubernetes counts whole seconds. */
export function stamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

export function microStamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  return list(tree(object.status).conditions) as readonly Condition[]
}

/** With this condition in place of the one of its type; the moment of change moves only when the status does. */
export function withCondition(conditions: readonly Condition[], next: Condition): readonly Condition[] {
  const before = conditions.find(({ type }) => type === next.type)
  const kept =
    before?.status === next.status && before.lastTransitionTime !== undefined
      ? { ...next, lastTransitionTime: before.lastTransitionTime }
      : next
  return before === undefined ? [...conditions, kept] : conditions.map((one) => (one === before ? kept : one))
}

/** Does a label selector (`matchLabels`, `matchExpressions`) choose these labels? An empty one chooses everything. */
export function selects(selector: unknown, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { matchLabels, matchExpressions } = tree(selector)
  const has = labels ?? {}
  if (!Object.entries(tree(matchLabels)).every(([key, value]) => has[key] === value)) return false
  return trees(matchExpressions).every(({ key, operator, values }) => {
    const value = has[text(key)]
    if (operator === 'Exists') return value !== undefined
    if (operator === 'DoesNotExist') return value === undefined
    const named = value !== undefined && list(values).includes(value)
    return operator === 'In' ? named : !named
  })
}
