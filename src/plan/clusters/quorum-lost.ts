import { majority } from '../../lib/majority.ts'
import { type ClusterSituation, localOf, type NodeView } from './view.ts'

/** Reports whether fewer voters are up than the majority. An unknown voter may be up, so it proves no loss. */
export function quorumLost(view: ClusterSituation): boolean {
  if (!view.formed) return false
  if (view.members === 'unknown' || view.members.length === 0)
    return dataGone(view) || majorityAway(view)?.certain === true
  const voters = view.members.filter(({ learner }) => !learner)
  const down = voters.filter(({ up }) => up === 'no').length
  return voters.length - down < majority(voters.length)
}

/** Reports whether no server holds data of the cluster: the machines are gone or were recreated. */
function dataGone({ servers, observed, spec }: ClusterSituation): boolean {
  if (observed.api === 'yes' || observed.identity?.formed !== true) return false
  const declared = servers.filter((node) => node.spec !== undefined)
  return (
    declared.length === spec.servers.length &&
    declared.every((node) => node.machine.exists === 'no' || localOf(node)?.data === 'none')
  )
}

/**
 * Returns what the machines show of a lost majority when etcd does not answer: too many are off, or invisible while
 * others are visible. Returns undefined if enough run, if none is visible, or before the cluster was formed.
 */
export function majorityAway(
  view: ClusterSituation,
): { readonly certain: boolean; readonly text: string; readonly next: string } | undefined {
  const { members, identity, api } = view.observed
  if (members !== 'unknown' || identity?.formed !== true || api === 'yes') return undefined
  const voters = votersOf(view)
  const needed = majority(voters.length)
  const named = (nodes: readonly NodeView[]) => nodes.map(({ name }) => name).join(', ')
  const off = voters.filter(({ machine }) => machine.power === 'off')
  const on = voters.filter(({ machine }) => machine.power === 'on')
  const needs = `and etcd needs ${needed} that run`
  if (off.length > 0 && voters.length - off.length < needed)
    return {
      certain: true,
      text: `${off.length} of ${voters.length} servers are off (${named(off)}) ${needs}`,
      next: `start ${named(off)}`,
    }
  // If croft sees none of them, croft itself is cut off.
  if (on.length === 0 || on.length >= needed) return undefined
  const away = voters.filter((node) => !on.includes(node))
  return {
    certain: false,
    text: `${away.length} of ${voters.length} servers are not seen (${named(away)}) ${needs}`,
    next: `bring ${named(away)} back`,
  }
}

/** Returns the voters that a running server reports; otherwise the declared servers. */
function votersOf({ servers }: ClusterSituation): readonly NodeView[] {
  const told = new Set(servers.flatMap((node) => localOf(node)?.etcd?.voters.map((voter) => voter.node) ?? []))
  return servers.filter(({ name, spec }) => (told.size === 0 ? spec !== undefined : told.has(name)))
}
