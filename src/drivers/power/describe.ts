import type { KubernetesClient } from '../../kubernetes/client.ts'
import {
  annotationsOf,
  at,
  type Foreign,
  labelsOf,
  nameOf,
  objectName,
  recordOf,
  recordsOf,
  stringMapOf,
} from '../../kubernetes/objects.ts'
import type { PowerSpec, WorkloadTier } from '../../model/power.ts'
import { tierOf, type WorkloadTraits } from './tiers.ts'

/** Lists one kind. Undefined: unreadable. */
export function listing(client: KubernetesClient, signal: AbortSignal) {
  return async (path: string): Promise<readonly Foreign[] | undefined> => {
    const asked = await client.list(path, {}, signal)
    // A kind without a definition has no objects.
    if (asked.is === 'error' && asked.status === 404) return []
    return asked.is === 'answer' ? asked.value : undefined
  }
}

/** Returns the traits of a workload that a person sees as one, whether it is read as a workload or as a pod. */
export function describe(object: Foreign, kind: string, answering: readonly Selector[] = []): WorkloadTraits {
  const pod = kind === 'Pod' ? object : recordOf(at(object, 'spec', 'template'))
  const namespace = nameOf(at(object, 'metadata', 'namespace')) ?? 'default'
  const podLabels = labelsOf(pod)
  return {
    namespace,
    name: objectName(object) ?? '',
    kind,
    labels: new Map([...podLabels, ...labelsOf(object)]),
    containers: recordsOf(at(pod, 'spec', 'containers')).flatMap(({ name }) => nameOf(name) ?? []),
    claims:
      recordsOf(at(object, 'spec', 'volumeClaimTemplates')).length > 0 ||
      recordsOf(at(pod, 'spec', 'volumes')).some((volume) => volume.persistentVolumeClaim !== undefined),
    answersWebhooks: answering.some((one) => one.namespace === namespace && selects(one.labels, podLabels)),
  }
}

/** Selects the pods of a webhook's Service. */
export interface Selector {
  readonly namespace: string
  readonly labels: ReadonlyMap<string, string>
}

/** Returns the pods behind webhooks that must answer before some objects can be written. */
export async function answeringWebhooks(list: ReturnType<typeof listing>): Promise<readonly Selector[]> {
  const [validating = [], mutating = [], services = []] = await Promise.all([
    list('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'),
    list('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'),
    list('/api/v1/services'),
  ])
  const asked = new Set(
    [...validating, ...mutating]
      .flatMap(({ webhooks }) => recordsOf(webhooks))
      .filter(({ failurePolicy }) => failurePolicy !== 'Ignore')
      .map((one) => recordOf(at(one, 'clientConfig', 'service')))
      .map(({ namespace, name }) => `${String(namespace)}/${String(name)}`),
  )
  return services.flatMap((service) => {
    const namespace = nameOf(at(service, 'metadata', 'namespace')) ?? 'default'
    const labels = stringMapOf(at(service, 'spec', 'selector'))
    return labels.size > 0 && asked.has(`${namespace}/${objectName(service) ?? ''}`) ? [{ namespace, labels }] : []
  })
}

export function selects(wanted: ReadonlyMap<string, string>, labels: ReadonlyMap<string, string>): boolean {
  return [...wanted].every(([key, value]) => labels.get(key) === value)
}

/**
 * Returns the tier of a pod that a drain must move. Undefined for one that stays: finished, of a DaemonSet, static, or
 * part of the node itself: DNS, storage and the network stop and start with it.
 */
export function goingTier(pod: Foreign, spec: PowerSpec, answering: readonly Selector[]): WorkloadTier | undefined {
  if (isOver(pod) || annotationsOf(pod).has('kubernetes.io/config.mirror')) return undefined
  const owners = recordsOf(at(pod, 'metadata', 'ownerReferences'))
  if (owners.some(({ kind, controller }) => kind === 'DaemonSet' && controller === true)) return undefined
  const tier = tierOf(describe(pod, 'Pod', answering), spec.rules)
  return tier === 'system' || tier === 'storage' ? undefined : tier
}

export function isOver(pod: Foreign): boolean {
  const phase = at(pod, 'status', 'phase')
  return phase === 'Succeeded' || phase === 'Failed'
}
