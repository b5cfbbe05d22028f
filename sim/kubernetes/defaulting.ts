import type { ApiCall } from './call.ts'
import { type KubeObject, list, stamp, text, tree, trees } from './object.ts'
import { ApiStatus } from './status.ts'
import { update } from './store.ts'

/** Adds the defaults of the API to a new object, as far as a client of the simulator reads them. */
export function fillIn(call: ApiCall, object: KubeObject): KubeObject {
  const spec = tree(object.spec)
  switch (object.kind) {
    case 'Secret': {
      const { stringData, data, ...rest } = object
      const encoded = Object.entries(tree(stringData)).map(([key, value]) => [
        key,
        Buffer.from(text(value)).toString('base64'),
      ])
      const all = { ...tree(data), ...Object.fromEntries(encoded) }
      return {
        ...rest,
        ...(Object.keys(all).length === 0 ? {} : { data: all }),
        type: object.type ?? 'Opaque',
      } as KubeObject
    }
    case 'Namespace': {
      const labels = { 'kubernetes.io/metadata.name': object.metadata.name, ...object.metadata.labels }
      return {
        ...object,
        metadata: { ...object.metadata, labels },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      }
    }
    case 'Deployment':
      return {
        ...object,
        spec: {
          replicas: 1,
          revisionHistoryLimit: 10,
          progressDeadlineSeconds: 600,
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
          ...spec,
        },
        status: {},
      }
    case 'StatefulSet':
      return { ...object, spec: { replicas: 1, podManagementPolicy: 'OrderedReady', ...spec }, status: { replicas: 0 } }
    case 'DaemonSet':
      return {
        ...object,
        spec: {
          revisionHistoryLimit: 10,
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
          ...spec,
        },
        status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
      }
    case 'Pod':
      return {
        ...object,
        spec: {
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          schedulerName: 'default-scheduler',
          ...spec,
        },
        status: { phase: 'Pending', qosClass: 'BestEffort' },
      }
    case 'PodDisruptionBudget':
      return { ...object, status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } }
    case 'PersistentVolumeClaim':
      return { ...object, status: { phase: 'Pending' } }
    case 'Service': {
      const number = 20 + (call.cluster.store.revision % 200)
      const clusterIP = spec.clusterIP ?? `10.43.0.${number}`
      return {
        ...object,
        spec: { type: 'ClusterIP', sessionAffinity: 'None', clusterIP, clusterIPs: [clusterIP], ...spec },
        status: { loadBalancer: {} },
      }
    }
    default:
      return object
  }
}

/** Changes that the API does not take from anybody. */
export function refuseChange({ resource }: ApiCall, before: KubeObject, next: KubeObject): void {
  const { name } = before.metadata
  if (before.immutable === true && JSON.stringify(before.data) !== JSON.stringify(next.data))
    throw invalid(resource.kind, name, 'data: Forbidden: field is immutable when `immutable` is set')
  if (/^(Deployment|StatefulSet|DaemonSet|ReplicaSet)$/.test(resource.kind)) {
    const selector = (object: KubeObject) => JSON.stringify(tree(object.spec).selector)
    if (selector(before) !== selector(next))
      throw invalid(resource.kind, name, 'spec.selector: Invalid value: field is immutable')
  }
}

function invalid(kind: string, name: string, why: string): ApiStatus {
  return new ApiStatus(422, 'Invalid', `${kind} "${name}" is invalid: ${why}`, { name, kind })
}

const ESTABLISH_MS = 600

/** A definition is taken at once and served a moment later. */
export function establish({ cluster, process }: ApiCall, definition: KubeObject): void {
  const { clock } = process.computer.world
  clock.schedule(clock.now() + ESTABLISH_MS, () => {
    update(
      cluster.store,
      'apiextensions.k8s.io/customresourcedefinitions',
      undefined,
      definition.metadata.name,
      (object) => {
        const spec = tree(object.spec)
        const at = stamp(clock.now())
        return {
          ...object,
          status: {
            acceptedNames: spec.names,
            storedVersions: trees(spec.versions)
              .filter(({ storage }) => storage === true)
              .map(({ name }) => name),
            conditions: [
              {
                type: 'NamesAccepted',
                status: 'True',
                lastTransitionTime: at,
                reason: 'NoConflicts',
                message: 'no conflicts found',
              },
              {
                type: 'Established',
                status: 'True',
                lastTransitionTime: at,
                reason: 'InitialNamesAccepted',
                message: 'the initial names have been accepted',
              },
              ...list(tree(object.status).conditions).filter(
                (one) => !/^(NamesAccepted|Established)$/.test(text(tree(one).type)),
              ),
            ],
          },
        }
      },
    )
  })
}
