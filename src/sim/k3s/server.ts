import { createHash } from 'node:crypto'
import { compareEtcd } from '../../k3s/version.ts'
import { seedObjects } from '../kubernetes/defaults.ts'
import { applyManifests } from '../kubernetes/manifests.ts'
import { askReconcile } from '../kubernetes/reconcile.ts'
import { between, hexDigits } from '../world/chance.ts'
import { completeAuthorities, readAuthorities, writeAuthorities } from './authorities.ts'
import { flagText, isSet } from './config-file.ts'
import { DATA, DB, memberOnDisk, moveFolder, RESET_FLAG, TOMBSTONE, writeMember } from './disk.ts'
import {
  addRefusal,
  createEtcd,
  isWritable,
  memberUp,
  minorOf,
  newMember,
  onTick,
  planTick,
  whenWritable,
} from './etcd.ts'
import { kubeletStarts, tellVoters } from './kubelet.ts'
import { mismatches } from './mismatch.ts'
import { hostOf, listen, serverAt } from './network.ts'
import { keepNodePassword } from './node-password.ts'
import { after, sinceStart } from './process.ts'
import { putOut } from './put-out.ts'
import {
  givenToken,
  isShort,
  passwordOf,
  rightOf,
  TRUST_WARNING,
  tokenHash,
  tokenProblem,
  writeTokens,
} from './tokens.ts'
import type { Encryption, EtcdCluster, K3sProcess, Member } from './types.ts'

/** `k3s server`: takes up its data, joins others, or begins a cluster, in that order. */
export function startServer(process: K3sProcess): void {
  const { files } = process.computer.machine
  process.log('info', `Starting k3s ${process.version}`)
  if (files.read(TOMBSTONE) !== undefined) {
    if (flagText(process.flags, 'server') === '') {
      after(process, 400, () =>
        process.exit(
          1,
          'fatal',
          'Error: preparing server: tombstone file has been detected but --server is empty: server must be set to rejoin the cluster',
        ),
      )
      return
    }
    process.log('info', `tombstone file has been detected, removing ${DATA_DIR}/server/db to rejoin the cluster`)
    const seconds = Math.floor(process.computer.world.clock.now() / 1000)
    moveFolder(files, `${DB}/etcd`, `${DB}/etcd-backup-${seconds}`)
    files.remove(`${DB}/etcd-backup-${seconds}/tombstone`)
  }
  const data = memberOnDisk(files)
  const known = data === undefined ? undefined : process.computer.world.k3s.clusters.get(data.cluster)
  if (known !== undefined && data !== undefined) takeUpData(process, known, data.member)
  else if (flagText(process.flags, 'server') !== '') join(process)
  else begin(process)
}

function supervisor(process: K3sProcess): void {
  const { world } = process.computer
  sinceStart(process, between(world.random, world.k3s.timing.supervisorMs), () => {
    process.phase = 'supervisor'
    listen(process)
  })
}

/** A new cluster. Files that somebody put there before make it the cluster that was meant. */
function begin(process: K3sProcess): void {
  const { world, machine } = process.computer
  const given =
    givenToken(process.flags, machine.files, 'token') || (machine.files.text(`${DATA}/server/token`) ?? '').trim()
  process.password = given === '' ? hexDigits(world.random, 32) : passwordOf(given)
  const agentToken = givenToken(process.flags, machine.files, 'agent-token')
  process.agentPassword = agentToken === '' ? undefined : passwordOf(agentToken)
  if (process.password === '') {
    after(process, 300, () =>
      process.exit(
        1,
        'fatal',
        'Error: preparing server: failed to normalize server token; must be in format K10<CA-HASH>::<USERNAME>:<PASSWORD> or <PASSWORD>',
      ),
    )
    return
  }
  process.files = completeAuthorities(world, readAuthorities(machine.files))
  writeAuthorities(machine.files, process.files)
  const cluster = createEtcd(world, {
    bootstrap: {
      tokenHash: tokenHash(process.password),
      files: process.files,
      password: process.password,
      agentPassword: process.agentPassword,
    },
    encryption: newEncryption(process),
    config: process.flags,
    etcd: process.etcd,
  })
  process.cluster = cluster
  process.encryptionHash = shownEncryption(cluster)
  supervisor(process)
  sinceStart(process, 500, () => {
    const member = newMember(world, cluster, process, false)
    writeMember(machine.files, cluster.id, member.id, member.name)
    writeTokens(process)
    process.member = member.id
    sinceStart(process, 1_500, () => memberUp(world, cluster, member, process))
  })
  const readyMs = between(world.random, world.k3s.timing.firstReadyMs)
  sinceStart(process, between(world.random, world.k3s.timing.apiserverUpMs), () => apiUp(process, cluster))
  sinceStart(process, readyMs - 500, () => kubeletStarts(process, cluster))
  sinceStart(process, readyMs, () => serverReady(process, cluster))
}

function newEncryption(process: K3sProcess): Encryption {
  const { world } = process.computer
  const hash = createHash('sha256').update(hexDigits(world.random, 32)).digest('hex')
  return { enabled: isSet(process.flags, 'secrets-encryption'), stage: 'start', hash, key: 'aescbckey' }
}

export function shownEncryption({ encryption }: EtcdCluster): string | undefined {
  return encryption.enabled ? `${encryption.stage}-${encryption.hash}` : undefined
}

/** Its own data decides; where it was told to join is only a help to find the others. */
function takeUpData(process: K3sProcess, cluster: EtcdCluster, id: string): void {
  const { world, machine } = process.computer
  const { files } = machine
  const given = givenToken(process.flags, files, 'token') || (files.text(`${DATA}/server/token`) ?? '').trim()
  process.cluster = cluster
  if (tokenHash(passwordOf(given)) !== cluster.bootstrap.tokenHash) {
    after(process, 2_400, () =>
      process.exit(
        1,
        'fatal',
        'Error: preparing server: failed to bootstrap cluster data: failed to reconcile with local datastore: bootstrap data already found and encrypted with different token',
      ),
    )
    return
  }
  if (compareEtcd(process.etcd, `${cluster.version}.0`) < 0) {
    after(process, 2_000, () =>
      process.exit(2, 'fatal', 'invalid downgrade; server version is lower than determined cluster version'),
    )
    return
  }
  adopt(process, cluster)
  supervisor(process)
  const member = cluster.members.get(id)
  if (member === undefined) {
    sinceStart(process, 3_000, () => putOut(process))
    return
  }
  process.member = id
  const startMs = world.clock.now()
  sinceStart(process, 2_000, () => {
    memberUp(world, cluster, member, process)
    process.phase = 'waiting'
    if (!isWritable(cluster)) process.log('info', 'Failed to test etcd connection: context deadline exceeded')
    meetOthers(process, cluster, startMs)
  })
  if (files.read(RESET_FLAG) !== undefined) after(process, 30_000, () => files.remove(RESET_FLAG))
}

/** Goes on once its etcd has a majority that it can reach. */
function meetOthers(process: K3sProcess, cluster: EtcdCluster, startMs: number): void {
  const { world } = process.computer
  whenWritable(cluster, () => {
    if (!process.alive) return
    if (!process.computer.isUp()) {
      after(process, 1_000, () => meetOthers(process, cluster, startMs))
      return
    }
    const readyMs = between(world.random, world.k3s.timing.restartReadyMs)
    // After a long wait for the others only the last part of a start is left.
    const leftMs = Math.max(readyMs - (world.clock.now() - startMs), 3_000)
    after(process, Math.max(0, leftMs - 4_000), () => apiUp(process, cluster))
    after(process, leftMs, () => {
      serverReady(process, cluster)
      kubeletStarts(process, cluster)
    })
  })
}

/** What servers get from the datastore: authorities, passwords, the state of encryption. */
function adopt(process: K3sProcess, cluster: EtcdCluster): void {
  process.files = cluster.bootstrap.files
  process.password = cluster.bootstrap.password
  process.agentPassword = cluster.bootstrap.agentPassword
  process.encryptionHash = shownEncryption(cluster)
  writeAuthorities(process.computer.machine.files, process.files)
  writeTokens(process)
}

/** K3s prints the name of the place, not the place. */
const DATA_DIR = '$' + '{datadir}'

const BOOTSTRAP = 'Error: preparing server: failed to bootstrap cluster data'

function join(process: K3sProcess): void {
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
    sinceStart(process, between(world.random, [400, 900]), () => compareAndJoin(process, server, right))
  })
}

function compareAndJoin(process: K3sProcess, server: K3sProcess, right: 'server' | 'agent'): void {
  const { world, machine } = process.computer
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
  const newer = [...readAuthorities(machine.files)].filter(([path, text]) => cluster.bootstrap.files.get(path) !== text)
  if (newer.length > 0) {
    const paths = newer.map(([path]) => `${DATA}/server/tls/${path}`).join(', ')
    process.exit(
      1,
      'fatal',
      `${paths} newer than datastore and could cause a cluster outage. Remove the file(s) from disk and restart to be recreated from datastore.`,
    )
    return
  }
  if (minorOf(process.etcd) !== cluster.version && compareEtcd(process.etcd, `${cluster.version}.0`) < 0) {
    process.exit(2, 'fatal', 'invalid downgrade; server version is lower than determined cluster version')
    return
  }
  process.cluster = cluster
  adopt(process, cluster)
  supervisor(process)
  const readyMs = nameTaken(process, cluster) ? 4_000 : between(world.random, world.k3s.timing.learnerMs)
  sinceStart(process, readyMs, () => addSelf(process, cluster))
}

const NAME_TAKEN =
  'Shutdown request received: "etcd cluster join failed: duplicate node name found, please use a unique name for this node"'

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
      joined(process, cluster, member)
    } else if (stuck && nowMs - member.addedMs >= world.k3s.timing.learnerStuckMs) {
      cluster.members.delete(member.id)
      if (process !== undefined) putOut(process)
    }
  }
  tellVoters(nowMs, cluster)
  return [...cluster.members.values()].some(({ learner }) => learner)
})

function joined(process: K3sProcess, cluster: EtcdCluster, _member: Member): void {
  const { world } = process.computer
  const { timing } = world.k3s
  const leastMs = process.startedMs + between(world.random, timing.joinNodeMs) - world.clock.now()
  const readyMs = Math.max(between(world.random, timing.joinedReadyMs), leastMs)
  after(process, Math.max(0, readyMs - 3_000), () => apiUp(process, cluster))
  after(process, readyMs - 400, () => kubeletStarts(process, cluster))
  after(process, readyMs, () => serverReady(process, cluster))
}

function apiUp(process: K3sProcess, cluster: EtcdCluster): void {
  process.phase = 'apiserver'
  whenWritable(cluster, () => {
    if (!process.alive) return
    seedObjects(process, cluster)
    keepNodePassword(process, cluster)
  })
}

function serverReady(process: K3sProcess, cluster: EtcdCluster): void {
  if (process.phase === 'removed') return
  process.phase = 'ready'
  process.ready()
  process.computer.machine.files.write('/etc/rancher/k3s/k3s.yaml', 'apiVersion: v1\nkind: Config\n')
  leadControllers(process, cluster)
  whenWritable(cluster, () => applyManifests(process, cluster))
  askReconcile(process.computer.world, cluster)
}

export function leadControllers(process: K3sProcess, cluster: EtcdCluster): void {
  if (cluster.manager?.alive === true || !process.alive) return
  cluster.managerTimer?.cancel()
  cluster.managerTimer = undefined
  cluster.manager = process
  askReconcile(process.computer.world, cluster)
}
