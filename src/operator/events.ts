import { createHash } from 'node:crypto'
import { at, type Foreign, nameOf, objectName } from '../kubernetes/objects.ts'
import { maskEvent } from '../model/masked/masked-event.ts'
import type { NewEvent } from '../model/record.ts'
import type { DeclaredObject } from './objects.ts'

/** Returns a Kubernetes Event about an object. A repeated message has the same name, so that it is counted. Pure. */
export function eventFor({ served, object }: DeclaredObject, told: NewEvent, from: string): Foreign {
  const event = maskEvent(told)
  const name = objectName(object) ?? ''
  const namespace = nameOf(at(object, 'metadata', 'namespace'))
  const said = createHash('sha256').update(`${event.reason}\0${event.message}`).digest('hex').slice(0, 16)
  const time = `${new Date(event.atMs).toISOString().slice(0, 19)}Z`
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events about cluster-scoped objects are in `default`.
    metadata: { name: `${name.slice(0, 200)}.${said}`, namespace: namespace ?? 'default' },
    involvedObject: {
      apiVersion: served.apiVersion,
      kind: served.kind.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid: at(object, 'metadata', 'uid'),
      resourceVersion: at(object, 'metadata', 'resourceVersion'),
    },
    type: event.type,
    reason: event.reason.slice(0, 128),
    message: event.message.slice(0, 1024),
    source: { component: 'croft' },
    reportingComponent: 'croft.dev/operator',
    reportingInstance: from,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  }
}
