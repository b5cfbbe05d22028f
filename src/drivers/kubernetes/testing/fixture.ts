import assert from 'node:assert/strict'
import type { Foreign } from '../../../kubernetes/objects.ts'
import { DEFAULT_POLICY } from '../../../model/declaration.ts'
import type { KubeObject, WantedObject } from '../../../model/kube-object.ts'
import type { ObservedResource, Resource } from '../../../model/resource.ts'
import { type ShownCall, shownCall } from '../../../model/shown-step.ts'
import type { Step } from '../../../model/step.ts'
import { marked, type ObjectDetails } from '../marks.ts'

/* One small object, wanted and observed, for tests of the rules. */

export const MAP: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace: 'n' },
  data: { a: '1' },
}

export function wanted(object: KubeObject = MAP, more: Partial<WantedObject> = {}): WantedObject {
  return { cluster: 'homelab', addon: 'x', object, plural: 'configmaps', deletion: 'Delete', ...more }
}

export function resource(one: WantedObject): Resource {
  return {
    key: 'Addon/x@ConfigMap/n/m',
    uid: '0123456789abcdef',
    kind: 'Addon',
    name: 'x/m',
    driver: 'kubernetes',
    connection: 'cluster/homelab',
    estate: 'default',
    desired: { type: 'object', object: one },
    needs: [],
    policy: DEFAULT_POLICY,
    origin: { file: 'a', line: 1, column: 1 },
    generation: 'g',
  }
}

export function seen(look: ObjectDetails): ObservedResource {
  const about = { connection: 'cluster/homelab', type: 'object', list: 'v1 ConfigMap', host: 'homelab' } as const
  return { ...about, externalId: 'ConfigMap/n/m', close: { config: { look }, atMs: 1 } }
}

export const manager = (name: string, fieldsV1: object, operation = 'Apply') => ({ manager: name, operation, fieldsV1 })
export const DATA = { 'f:data': { 'f:a': {} } }

/** As the server shows it after our apply. */
export function applied(
  one: WantedObject,
  managedFields: readonly object[] = [manager('croft', DATA)],
  more: Foreign = {},
): Foreign {
  const object = marked(resource(one), one)
  return { ...object, ...more, metadata: { ...object.metadata, managedFields } }
}

/** Returns a step's call as plans show it. */
export function shown(step: Step | undefined): ShownCall {
  assert.ok(step)
  return shownCall(step)
}
