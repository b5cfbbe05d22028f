import { configHash } from '../../src/k3s/config.ts'
import type { NodeSpec } from '../../src/model/cluster.ts'
import type { ObservedCluster } from '../../src/model/observed-cluster.ts'
import { declarationOf } from './actor.ts'
import { answers, type Git, isUp, type KubeNodeState, type NodeState, type World } from './world.ts'

/** What croft believes of etcd, held against what is: never another cluster of the same name. */
export function believes(world: World, { members }: ObservedCluster): readonly string[] {
  if (members === 'unknown' || world.members.length === 0) return []
  const believed = members.filter(({ learner }) => !learner).length
  const voters = world.members.filter(({ learner }) => !learner).length
  if (believed * 2 > voters) return []
  return [`croft believes in ${believed} of ${voters} voters`]
}

/** Everything is as Git says. */
export function isAsDeclared(world: World): boolean {
  const { git, members, kubes, nodes } = world
  const { spec } = declarationOf(git)
  const declared = new Map([...spec.servers, ...spec.agents].map((node) => [node.name, node]))
  const voters = members.filter(({ learner }) => !learner)
  return (
    world.hold === undefined &&
    world.command === undefined &&
    world.record?.password === world.token &&
    (world.datastore !== 'etcd' || voters.length === spec.servers.length) &&
    members.length === voters.length &&
    members.every((member) => isUp(world, member) && declared.get(member.node)?.role === 'server') &&
    Object.keys(kubes).every((name) => declared.has(name)) &&
    Object.values(nodes).every(({ name, exists }) => !exists || declared.has(name)) &&
    [...declared].every(([name, node]) => {
      const [kube, state] = [kubes[name], nodes[name]]
      if (kube === undefined || state === undefined || !answers(world, state)) return false
      const marked = Object.keys(kube.annotations).some((key) => key === 'croft.dev/work')
      const runs = state.running
      return (
        kube.ready &&
        !marked &&
        !kube.unschedulable &&
        kube.version === git.version &&
        // What starts after a power cut.
        state.program === git.version &&
        state.service === 'running' &&
        (node.role === 'agent' || state.config?.token === world.token) &&
        runs?.hash === configHash(spec, node) &&
        hasFiles(git, state) &&
        hasLabels(node, kube)
      )
    })
  )
}

/** Nothing of what left Git stays. */
function hasFiles({ mirror }: Git, { files }: NodeState): boolean {
  const paths = Object.keys(files)
  return mirror === true ? paths.join(' ') === '/etc/rancher/k3s/registries.yaml' : paths.length === 0
}

function hasLabels(node: NodeSpec, { labels, taints }: KubeNodeState): boolean {
  const word = node.labels['example.org/for']
  return (
    labels['example.org/for'] === word &&
    taints.length === node.taints.length &&
    taints.every((taint) => node.taints.includes(taint))
  )
}
