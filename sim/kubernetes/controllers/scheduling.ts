import { conditionsOf, type KubeObject, list, selects, type Tree, text, tree, trees } from '../object.ts'

/** Do these tolerations bear all taints that keep pods away? */
export function tolerates(tolerations: readonly Tree[], taints: unknown): boolean {
  return trees(taints).every(
    (taint) =>
      taint.effect === 'PreferNoSchedule' ||
      tolerations.some(
        ({ key, operator, value, effect }) =>
          (key === undefined || key === taint.key) &&
          (effect === undefined || effect === '' || effect === taint.effect) &&
          (operator === 'Exists' || text(value) === text(taint.value)),
      ),
  )
}

/** Does the pod want to be on such a node: its selector and the affinity it insists on. */
export function nodeTakes(node: KubeObject, podSpec: Tree): boolean {
  if (!selects({ matchLabels: tree(podSpec.nodeSelector) }, node.metadata.labels)) return false
  const required = tree(tree(tree(podSpec.affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution)
  const terms = trees(required.nodeSelectorTerms)
  if (terms.length === 0) return true
  return terms.some(
    ({ matchExpressions, matchFields }) =>
      selects({ matchExpressions }, node.metadata.labels) &&
      trees(matchFields).every(({ values }) => list(values).includes(node.metadata.name)),
  )
}

export interface Placement {
  readonly node?: string
  readonly message?: string
}

/** The node with the fewest pods among those that fit; or why none does, in the scheduler's words. */
export function place(pod: KubeObject, nodes: readonly KubeObject[], pods: readonly KubeObject[]): Placement {
  const spec = tree(pod.spec)
  const tolerations = trees(spec.tolerations)
  let [cordoned, unmatched, tainted, crowded] = [0, 0, 0, 0]
  const fitting: { name: string; load: number }[] = []
  for (const node of nodes) {
    const { name } = node.metadata
    const notReady = conditionsOf(node).some(({ type, status }) => type === 'Ready' && status !== 'True')
    if (tree(node.spec).unschedulable === true) cordoned += 1
    else if (!nodeTakes(node, spec)) unmatched += 1
    else if (!tolerates(tolerations, noExecuteAside(node)) || (notReady && spec.hostNetwork !== true)) tainted += 1
    else if (repels(pod, name, pods)) crowded += 1
    else fitting.push({ name, load: pods.filter((one) => tree(one.spec).nodeName === name).length })
  }
  const [best] = fitting.sort((a, b) => a.load - b.load || (a.name < b.name ? -1 : 1))
  if (best !== undefined) return { node: best.name }
  const parts = [
    [cordoned, 'node(s) were unschedulable'],
    [tainted, 'node(s) had untolerated taint(s)'],
    [crowded, "node(s) didn't match pod anti-affinity rules"],
    [unmatched, "node(s) didn't match Pod's node affinity/selector"],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, why]) => `${count} ${why}`)
  const all = nodes.length
  return {
    message: `0/${all} nodes are available: ${parts.join(', ')}. no new claims to deallocate, preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`,
  }
}

function noExecuteAside(node: KubeObject): unknown {
  return tree(node.spec).taints
}

function repels(pod: KubeObject, node: string, pods: readonly KubeObject[]): boolean {
  const rules = trees(
    tree(tree(tree(pod.spec).affinity).podAntiAffinity).requiredDuringSchedulingIgnoredDuringExecution,
  )
  return rules.some(({ labelSelector, topologyKey }) =>
    pods.some(
      (other) =>
        topologyKey === 'kubernetes.io/hostname' &&
        other.metadata.name !== pod.metadata.name &&
        other.metadata.namespace === pod.metadata.namespace &&
        tree(other.spec).nodeName === node &&
        selects(labelSelector, other.metadata.labels),
    ),
  )
}
