import { isIP } from 'node:net'
import { compareEtcd } from '../../src/k3s/version.ts'
import { between } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { flagList, flagText } from './config-file.ts'
import { writeMember } from './disk.ts'
import { addRefusal, memberUp, minorOf, newMember, onTick, planTick } from './etcd.ts'
import { kubeletStarts, tellVoters } from './kubelet.ts'
import { mismatches } from './mismatch.ts'
import { hostOf, serverAt } from './network.ts'
import { after, sinceStart } from './process.ts'
import { putOut } from './put-out.ts'
import { adopt, apiUp, serverReady, supervisor } from './server-stages.ts'
import { givenToken, isShort, rightOf, TRUST_WARNING, tokenProblem } from './tokens.ts'

const BOOTSTRAP = 'Error: preparing server: failed to bootstrap cluster data'

/** Joins the servers that its configuration names: token, flags, then etcd, and a refusal at each of them is the end. */
export function join(process: K3sProcess): void {
  const { world, machine } = process.computer
  const url = flagText(process.flags, 'server')
  const token = givenToken(process.flags, machine.files, 'token')
  const host = hostOf(url)
  sinceStart(process, 300, () => {
    const server = serverAt(world, host)
    if (server === undefined) {
      const dial = `Get "${url}/cacerts": dial tcp ${host}:6443: connect: no route to host`
      sinceStart(process, 6_700, () =>
        process.exit(
          1,
          'fatal',
          `${BOOTSTRAP}: failed to check if bootstrap data has been initialized: failed to validate token: failed to get CA certs: ${dial}`,
        ),
      )
      return
    }
    const problem = tokenProblem(token, server, world.clock.now())
    if (problem !== undefined) {
      sinceStart(process, 480, () =>
        process.exit(
          1,
          'fatal',
          `${BOOTSTRAP}: failed to check if bootstrap data has been initialized: failed to validate token: ${problem}`,
        ),
      )
      return
    }
    if (isShort(token)) process.log('warning', TRUST_WARNING)
    process.log('info', 'Managed etcd cluster not yet initialized')
    if (isShort(token)) process.log('warning', TRUST_WARNING)
    const right = rightOf(token, server, world.clock.now())
    if (right === 'none') {
      process.log('warning', 'Skipping cluster configuration validation: not authorized')
      sinceStart(process, 2_270, () => process.exit(1, 'fatal', `${BOOTSTRAP}: not authorized`))
      return
    }
    const answeredMs = between(world.random, [400, 900]) + (machine.trouble.slowJoinMs ?? 0)
    sinceStart(process, answeredMs, () => compareAndJoin(process, server, right))
  })
}

function compareAndJoin(process: K3sProcess, server: K3sProcess, right: 'server' | 'agent'): void {
  const { world } = process.computer
  const { cluster } = server
  if (cluster === undefined || !server.alive) {
    process.exit(1, 'fatal', `${BOOTSTRAP}: server is not ready`)
    return
  }
  const different = mismatches(process.flags, cluster.config)
  if (different.length > 0) {
    for (const field of different) process.log('warning', `critical configuration mismatched: ${field}`)
    process.exit(
      1,
      'fatal',
      `${BOOTSTRAP}: failed to validate server configuration: critical configuration value mismatch between servers`,
    )
    return
  }
  if (right !== 'server') {
    process.exit(1, 'fatal', `${BOOTSTRAP}: forbidden`)
    return
  }
  if (minorOf(process.etcd) !== cluster.version && compareEtcd(process.etcd, `${cluster.version}.0`) < 0) {
    process.exit(2, 'fatal', 'invalid downgrade; server version is lower than determined cluster version')
    return
  }
  const newer = adopt(process, cluster)
  if (newer !== undefined) {
    process.exit(1, 'fatal', newer)
    return
  }
  process.cluster = cluster
  supervisor(process)
  const readyMs = nameTaken(process, cluster) ? 4_000 : between(world.random, world.k3s.timing.learnerMs)
  sinceStart(process, readyMs, () => addSelf(process, cluster))
}

const NAME_TAKEN =
  'Shutdown request received: "etcd cluster join failed: duplicate node name found, please use a unique name for this node"'

const MEMBERS_OF_ITSELF =
  'Waiting to retrieve etcd cluster member list: failed to get MemberList from server: Internal error occurred: failed to get etcd MemberList: context deadline exceeded'

/**
 * A name of the API resolves to all servers, and the resolver of a server puts its own address first: until its port is
 * open others answer, then it asks itself for the members of an etcd that waits for them.
 */
function asksItself({ flags }: K3sProcess): boolean {
  const host = hostOf(flagText(flags, 'server'))
  return isIP(host) === 0 && flagList(flags, 'tls-san').includes(host)
}

function nameTaken({ nodeName }: K3sProcess, cluster: EtcdCluster): boolean {
  return [...cluster.members.values()].some(({ name }) => name.replace(/-[0-9a-f]{8}$/, '') === nodeName)
}

/** Once a second until etcd takes it: one learner at a time. */
function addSelf(process: K3sProcess, cluster: EtcdCluster): void {
  const { world, machine } = process.computer
  if (nameTaken(process, cluster)) {
    sinceStart(process, 4_070, () => process.exit(0, 'error', NAME_TAKEN))
    return
  }
  if (asksItself(process)) {
    process.log('info', MEMBERS_OF_ITSELF)
    after(process, 5_000, () => addSelf(process, cluster))
    return
  }
  const refused = addRefusal(world, cluster)
  if (refused !== undefined) {
    process.log('info', `Waiting for other members to finish joining etcd cluster: ${refused}`)
    after(process, 1_000, () => addSelf(process, cluster))
    return
  }
  const member = newMember(world, cluster, process, true)
  process.log('info', `Adding member ${member.name}=https://${member.address}:2380 to etcd cluster`)
  process.member = member.id
  writeMember(machine.files, cluster.id, member.id, member.name)
  memberUp(world, cluster, member, process)
  planTick(world, cluster)
}

/** The leader makes voters of learners that have caught up, and throws out one that gets nowhere. */
onTick((world, cluster) => {
  const nowMs = world.clock.now()
  for (const member of cluster.members.values()) {
    if (!member.learner) continue
    const { process } = member
    const stuck = process === undefined || !process.alive || process.computer.machine.trouble.learnerStuck === true
    if (!stuck && nowMs - member.addedMs >= 1_000) {
      member.learner = false
      joined(process, cluster)
    } else if (stuck && nowMs - member.addedMs >= world.k3s.timing.learnerStuckMs) {
      cluster.members.delete(member.id)
      if (process !== undefined) putOut(process)
    }
  }
  tellVoters(nowMs, cluster)
  return [...cluster.members.values()].some(({ learner }) => learner)
})

function joined(process: K3sProcess, cluster: EtcdCluster): void {
  const { world } = process.computer
  const { timing } = world.k3s
  const leastMs = process.startedMs + between(world.random, timing.joinNodeMs) - world.clock.now()
  const readyMs = Math.max(between(world.random, timing.joinedReadyMs), leastMs)
  after(process, Math.max(0, readyMs - 3_000), () => apiUp(process, cluster))
  after(process, readyMs - 400, () => kubeletStarts(process, cluster))
  after(process, readyMs, () => serverReady(process, cluster))
}
