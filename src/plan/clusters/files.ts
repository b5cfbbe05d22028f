import { CONFIG_FILE, configHash } from '../../k3s/config.ts'
import { type FileDifference, fileDifference } from '../../k3s/node-files.ts'
import type { LocalK3s } from '../../model/observed-cluster.ts'
import { type ClusterFinding, firstOf, merge, NOTHING, stepOn } from './finding.ts'
import { type ClusterSituation, isWell, kubeOf, localOf, type NodeView } from './view.ts'

/**
 * Writes croft's optional files of a node as a complete set: kube-vip's manifest, the mount and the Secret of backups,
 * mirrors. If the configuration changes too, that step writes them. Files are removed from one server at a time: K3s
 * deletes their objects with the last one, and two at once would each take the other for it.
 */
export function filesPut(view: ClusterSituation, { steps }: ClusterFinding): ClusterFinding {
  const { api, requests } = view.observed
  if (requests.hold !== undefined || api !== 'yes') return NOTHING
  const taken = new Set(steps.map(({ node }) => node))
  const due = [...view.servers, ...view.agents].flatMap((node) => {
    const difference = taken.has(node.name) ? undefined : differenceOn(view, node)
    return difference === undefined ? [] : [{ node, difference }]
  })
  const isRemoval = ({ node, difference }: Due) => node.role === 'server' && difference.remove.length > 0
  return merge([
    firstOf(due.filter(isRemoval).map((one) => () => stepFor(view, one))),
    ...due.filter((one) => !isRemoval(one)).map((one) => stepFor(view, one)),
  ])
}

/**
 * A first server has `cluster-init` only while it is alone: with it, a start on an empty disk forms a second cluster of
 * the same ids. A single server needs it: without it, an empty disk would start SQLite.
 */
function changesArrival({ members, spec }: ClusterSituation, node: NodeView, local: LocalK3s): boolean {
  if (node.role !== 'server' || local.begins === undefined || members === 'unknown') return false
  const voters = members.filter(({ learner }) => !learner)
  const alone = spec.servers.length === 1
  if (local.begins) return !alone && voters.some((member) => member.node !== node.name && member.up === 'yes')
  return alone && local.datastore === 'etcd' && voters.every((member) => member.node === node.name)
}

interface Due {
  readonly node: NodeView
  readonly difference: FileDifference
}

function differenceOn(view: ClusterSituation, node: NodeView): FileDifference | undefined {
  const [kube, local] = [kubeOf(node), localOf(node)]
  if (node.spec === undefined || node.becomes !== undefined || kube === undefined || kube.work !== undefined)
    return undefined
  if (local?.files === undefined || local.configHash !== configHash(view.spec, node.spec) || !isWell(node))
    return undefined
  const { put, remove } = fileDifference(view.spec, node.spec, local.files)
  const difference = { put: changesArrival(view, node, local) ? [CONFIG_FILE, ...put] : put, remove }
  return difference.put.length + difference.remove.length === 0 ? undefined : difference
}

function stepFor(view: ClusterSituation, { node, difference: { put, remove } }: Due): ClusterFinding {
  const words = [...put, ...remove.map((path) => `without ${path}`)].join(', ')
  return stepOn(view, node, 'put-files', {
    summary: `write files of ${node.name}: ${words}`,
    reason: put.includes(CONFIG_FILE)
      ? 'its configuration says another way into the cluster than it has now'
      : "croft's files on it are not as declared",
    awaits: `${node.name} with the declared files`,
  })
}
