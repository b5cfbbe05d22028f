import { createHash } from 'node:crypto'
import { compareEtcd } from '../../src/k3s/version.ts'
import { between, hexDigits } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { completeAuthorities, readAuthorities, writeAuthorities } from './authorities.ts'
import { sharedFiles, writeShared } from './bootstrap-files.ts'
import { flagText, isSet } from './config-file.ts'
import { DATA, DB, memberOnDisk, moveFolder, RESET_FLAG, STATE_DB, TOMBSTONE, writeMember } from './disk.ts'
import { createEtcd, isWritable, memberUp, newMember, whenWritable } from './etcd.ts'
import { join } from './join.ts'
import { kubeletStarts } from './kubelet.ts'
import { after, sinceStart } from './process.ts'
import { putOut } from './put-out.ts'
import { adopt, apiUp, serverReady, shownEncryption, supervisor } from './server-stages.ts'
import { givenToken, passwordOf, tokenHash, writeTokens } from './tokens.ts'
import type { Encryption } from './types.ts'

/** K3s prints the name of the place, not the place. */
const DATA_DIR = '$' + '{datadir}'

/** `k3s server`: takes up its data, joins others, or begins a cluster, in that order. */
export function startServer(process: K3sProcess): void {
  const { files } = process.computer.machine
  process.log('info', `Starting k3s ${process.version}`)
  // Made before anything is known that could lie in them.
  for (const folder of ['tls', 'cred']) files.makeFolder(`${DATA}/server/${folder}`)
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
  // Told to have etcd, a server copies what it kept in a file.
  if (files.read(STATE_DB) !== undefined && isSet(process.flags, 'cluster-init')) {
    files.write(`${STATE_DB}.migrated`, files.read(STATE_DB) ?? '')
    files.remove(STATE_DB)
  }
  const data = memberOnDisk(files)
  const known = data === undefined ? undefined : process.computer.world.k3s.clusters.get(data.cluster)
  if (known !== undefined && data !== undefined) takeUpData(process, known, data.member)
  else if (flagText(process.flags, 'server') !== '') join(process)
  else begin(process)
}

/** Starts a new cluster. CA files that exist already become its CA. */
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
  // Without etcd, the one server keeps everything in a SQLite file, and no server can join it.
  const external = flagText(process.flags, 'datastore-endpoint') !== ''
  if (!external && !isSet(process.flags, 'cluster-init')) machine.files.write(STATE_DB, 'SQLite format 3')
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
  writeShared(process, sharedFiles(cluster.bootstrap, cluster.encryption))
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
  const newer = adopt(process, cluster)
  if (newer !== undefined) {
    after(process, 2_400, () => process.exit(1, 'fatal', newer))
    return
  }
  supervisor(process)
  const member = cluster.members.get(id)
  if (member === undefined) {
    sinceStart(process, 3_000, () => putOut(process))
    return
  }
  process.member = id
  if (member.address !== process.nodeIps[0]) {
    // It waits for an etcd in which it would be a member by that address, and never becomes ready.
    const found = [...cluster.members.values()].map(({ name, address }) => `${name}=https://${address}:2380`).join(' ')
    const self = `${member.name}=https://${process.nodeIps[0]}:2380`
    process.log(
      'info',
      `Failed to test etcd connection: this server is a not a member of the etcd cluster. Found [${found}], expect: ${self}`,
    )
    return
  }
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
