import { snapshotName } from '../../../k3s/snapshot-name.ts'
import { defined } from '../../../lib/defined.ts'
import type { Random } from '../../../lib/random.ts'
import type { EtcdMember, ObservedCluster, ObservedNode, YesNoUnknown } from '../../../model/observed-cluster.ts'
import { answers, isMemberUp, votersUp, type World } from './world.ts'

/**
 * Returns croft's observation of the world. With `doubt` any fact may be unknown, and a server that croft itself
 * stopped may still appear up, since caches are slow. It never invents things, and does not hide what others stopped.
 */
export function observe(world: World, random: Random, doubt: number): ObservedCluster {
  const doubtful = () => doubt > 0 && random.next() < doubt
  const { held } = votersUp(world)
  const api: YesNoUnknown = held ? (doubtful() ? 'unknown' : 'yes') : doubtful() ? 'unknown' : 'no'
  const blind = api !== 'yes'
  const names = new Set([
    ...world.spec.servers.map(({ name }) => name),
    ...world.spec.agents.map(({ name }) => name),
    ...world.machines.keys(),
    ...world.kubes.keys(),
  ])
  const members = world.members.map((member): EtcdMember => {
    const stale = world.downByCroft.has(member.node) && doubtful()
    const up: YesNoUnknown = doubtful() ? 'unknown' : isMemberUp(world, member) || stale ? 'yes' : 'no'
    return { id: member.id, name: `${member.node}-${member.id}`, node: member.node, learner: member.learner, up }
  })
  return {
    api,
    ...(world.identity === undefined ? {} : { identity: { ...world.identity } }),
    nodes: [...names].map((name) => observeNode(world, name, blind, doubtful)),
    members: blind || doubtful() ? 'unknown' : members,
    membershipChanged: 'yes',
    snapshots: blind
      ? 'unknown'
      : world.snapshots.map(({ atMs, node }) => ({ name: snapshotName(atMs), atMs, node, tokenKept: 'yes' })),
    checks: [],
    requests: world.requests,
  }
}

function observeNode(world: World, name: string, blind: boolean, doubtful: () => boolean): ObservedNode {
  const machine = world.machines.get(name)
  const kube = world.kubes.get(name)
  const remediation = world.remediated.get(name)
  const seen = machine !== undefined && answers(world, machine) && !doubtful()
  return {
    name,
    role: name.startsWith('s') ? 'server' : 'agent',
    machine: {
      exists: doubtful() ? 'unknown' : machine === undefined ? 'no' : 'yes',
      power: machine === undefined || doubtful() ? 'unknown' : machine.on ? 'on' : 'off',
      ours: true,
      ...(machine === undefined ? {} : { createdMs: machine.createdMs, machineId: `id-${machine.createdMs}-${name}` }),
      ...(machine?.wants === undefined ? {} : { wantsRestart: machine.wants }),
    },
    kube:
      blind || doubtful()
        ? 'unknown'
        : kube === undefined
          ? 'absent'
          : {
              createdMs: kube.createdMs,
              ready: doubtful() ? 'unknown' : kube.ready ? 'yes' : 'no',
              readySinceMs: kube.readySinceMs,
              version: kube.version,
              unschedulable: kube.unschedulable,
              podsToMove: doubtful() ? 'unknown' : kube.pods,
              podCidrs: [],
              internalIps: [],
              ...defined({ work: kube.work, changedMs: kube.changedMs }),
            },
    k3s: seen
      ? {
          service: machine.service,
          sinceMs: machine.sinceMs,
          version: machine.version,
          data: machine.data,
          ...defined({
            fetched: machine.fetched,
            datastore: machine.member === undefined ? undefined : ('etcd' as const),
          }),
        }
      : 'unknown',
    passwordSecret: blind || doubtful() ? 'unknown' : world.secrets.has(name) ? 'yes' : 'no',
    ...defined({ remediation, tried: world.tried.get(name) }),
  }
}
