import { type Finding, merge, NOTHING, stepOn } from './finding.ts'
import { kubeOf, type View } from './view.ts'

/**
 * What is left to write down or clear away after a join. It stands in nobody's way, so it is done beside whatever else is
 * due.
 */
export function housekeeping(view: View): Finding {
  const { identity, api, orders } = view.observed
  if (orders.hold !== undefined || api !== 'yes' || identity === undefined) return NOTHING
  const first = view.servers.find(({ name }) => name === identity.firstServer) ?? view.servers[0]
  const formed =
    identity.formed || first === undefined
      ? NOTHING
      : stepOn(view, first, 'note-formed', {
          summary: `write down that ${view.spec.name} is formed`,
          reason: 'its API answers',
          awaits: 'the record that says so',
        })
  const tokens = [...view.servers, ...view.agents]
    .filter((node) => node.joinToken === true && kubeOf(node)?.ready === 'yes')
    .map((node) =>
      stepOn(view, node, 'delete-join-token', {
        summary: `delete the token that ${node.name} came in with`,
        reason: `${node.name} is in`,
        awaits: 'no bootstrap token of it',
      }),
    )
  return merge([formed, ...tokens])
}
