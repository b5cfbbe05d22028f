import { isPodReady } from '../k3s/kubelet.ts'
import type { ApiCall } from './call.ts'
import { list, selects, text, tree, trees } from './object.ts'
import { ApiStatus } from './status.ts'
import { all, find, type Store } from './store.ts'

const CONFIGURATIONS = [
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
] as const

/** Requires that the webhooks of a write have a running pod: simulated pods never refuse, but one must answer. */
export function passWebhooks({ cluster: { store }, resource }: ApiCall, operation: 'CREATE' | 'UPDATE'): void {
  for (const place of CONFIGURATIONS) {
    for (const configuration of all(store, place)) {
      for (const hook of trees(configuration.webhooks)) {
        if (hook.failurePolicy === 'Ignore') continue
        const asked = trees(hook.rules).some(
          (rule) =>
            has(rule.apiGroups, resource.group) &&
            has(rule.apiVersions, resource.version) &&
            has(rule.operations, operation) &&
            (has(rule.resources, resource.plural) || has(rule.resources, '*/*')),
        )
        const service = tree(tree(hook.clientConfig).service)
        if (asked && !answers(store, text(service.namespace), text(service.name)))
          throw new ApiStatus(
            500,
            'InternalError',
            `Internal error occurred: failed calling webhook "${text(hook.name)}": failed to call webhook: Post "https://${text(service.name)}.${text(service.namespace)}.svc:443/?timeout=10s": no endpoints available for service "${text(service.name)}"`,
          )
      }
    }
  }
}

function has(values: unknown, one: string): boolean {
  const all = list(values)
  return all.includes(one) || all.includes('*')
}

function answers(store: Store, namespace: string, name: string): boolean {
  const service = find(store, '/services', namespace, name)
  if (service === undefined) return false
  const selector = { matchLabels: tree(service.spec).selector }
  return all(store, '/pods').some(
    (pod) => pod.metadata.namespace === namespace && isPodReady(pod) && selects(selector, pod.metadata.labels),
  )
}
