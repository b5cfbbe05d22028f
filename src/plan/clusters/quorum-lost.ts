import { majority } from './etcd-rules.ts'
import { type ClusterSituation, localOf } from './view.ts'

/** Known to have fewer voters up than it needs. One of which nothing is known may be up: that is no certain loss. */
export function quorumLost(view: ClusterSituation): boolean {
  if (!view.formed) return false
  if (view.members === 'unknown' || view.members.length === 0) return dataGone(view)
  const voters = view.members.filter(({ learner }) => !learner)
  const down = voters.filter(({ up }) => up === 'no').length
  return voters.length - down < majority(voters.length)
}

/** No server is left that holds anything of the cluster: its machines are gone, or were made anew. */
function dataGone({ servers, observed, spec }: ClusterSituation): boolean {
  if (observed.api === 'yes' || observed.identity?.formed !== true) return false
  const declared = servers.filter((node) => node.spec !== undefined)
  return (
    declared.length === spec.servers.length &&
    declared.every((node) => node.machine.exists === 'no' || localOf(node)?.data === 'none')
  )
}
