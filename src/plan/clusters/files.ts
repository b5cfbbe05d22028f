import { configHash } from '../../k3s/config.ts'
import { fileDifference } from '../../k3s/node-files.ts'
import { type ClusterFinding, merge, NOTHING, stepOn } from './finding.ts'
import { type ClusterSituation, isWell, kubeOf, localOf, type NodeView } from './view.ts'

/**
 * Croft's optional files of a node are declared whole: kube-vip's manifest, the mount and the Secret of backups, mirrors.
 * Where the configuration changes too, that step writes them.
 */
export function filesPut(view: ClusterSituation, { steps }: ClusterFinding): ClusterFinding {
  const { api, requests } = view.observed
  if (requests.hold !== undefined || api !== 'yes') return NOTHING
  const taken = new Set(steps.map(({ node }) => node))
  return merge([...view.servers, ...view.agents].map((node) => (taken.has(node.name) ? NOTHING : filesOf(view, node))))
}

function filesOf(view: ClusterSituation, node: NodeView): ClusterFinding {
  const [kube, local] = [kubeOf(node), localOf(node)]
  if (node.spec === undefined || node.becomes !== undefined || kube === undefined || kube.work !== undefined)
    return NOTHING
  if (local?.files === undefined || local.configHash !== configHash(view.spec, node.spec) || !isWell(node))
    return NOTHING
  const { put, remove } = fileDifference(view.spec, node.spec, local.files)
  if (put.length + remove.length === 0) return NOTHING
  const words = [...put, ...remove.map((path) => `without ${path}`)].join(', ')
  return stepOn(view, node, 'put-files', {
    summary: `write files of ${node.name}: ${words}`,
    reason: "croft's files on it are not as declared",
    awaits: `${node.name} with the declared files`,
  })
}
