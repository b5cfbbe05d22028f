import type { WireResponse } from '../../src/lib/wire.ts'
import type { ApiCall } from './call.ts'
import { podsOf } from './controllers/budgets.ts'
import { endPod } from './controllers/owned-pods.ts'
import { selects, text, tree } from './object.ts'
import { ApiStatus, json, notFound } from './status.ts'
import { all, find, put } from './store.ts'

/** Asks a pod to go; its budget may say no. Asking again for one that is going already is granted. */
export function evict(call: ApiCall): WireResponse {
  const { cluster, namespace, name = '', query, process } = call
  const { store } = cluster
  const { world } = process.computer
  const pod = find(store, '/pods', namespace, name)
  if (pod === undefined) throw notFound('pods', name)
  const granted = json(
    201,
    `${JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 })}\n`,
  )
  if (
    pod.metadata.deletionTimestamp !== undefined ||
    /^(Succeeded|Failed|Pending)$/.test(text(tree(pod.status).phase))
  ) {
    if (pod.metadata.deletionTimestamp === undefined && !query.has('dryRun')) endPod(world, cluster, pod)
    return granted
  }
  const budgets = all(store, 'policy/poddisruptionbudgets').filter(
    (budget) => budget.metadata.namespace === namespace && selects(tree(budget.spec).selector, pod.metadata.labels),
  )
  if (budgets.length > 1)
    throw new ApiStatus(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  const [budget] = budgets
  if (budget !== undefined) {
    const status = tree(budget.status)
    const blocked = process.computer.world.k3s.blockedEvictions.has(`${namespace}/${name}`)
    if (blocked || Number(status.disruptionsAllowed ?? 0) < 1) {
      const needs = Number(status.desiredHealthy ?? 0)
      const has = podsOf(cluster, budget).length === 0 ? 0 : Number(status.currentHealthy ?? 0)
      const message = `The disruption budget ${budget.metadata.name} needs ${needs} healthy pods and has ${has} currently`
      throw tooMany(message)
    }
    if (!query.has('dryRun'))
      put(store, 'policy/poddisruptionbudgets', {
        ...budget,
        status: { ...status, disruptionsAllowed: Number(status.disruptionsAllowed) - 1 },
      })
  } else if (world.k3s.blockedEvictions.has(`${namespace}/${name}`))
    throw tooMany('The disruption budget sim needs 1 healthy pods and has 1 currently')
  if (!query.has('dryRun')) endPod(world, cluster, pod)
  return granted
}

function tooMany(message: string): ApiStatus {
  return new ApiStatus(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
  })
}
