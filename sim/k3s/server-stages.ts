import { seedObjects } from '../kubernetes/defaults.ts'
import { applyManifests } from '../kubernetes/manifests.ts'
import { askReconcile } from '../kubernetes/reconcile.ts'
import { between } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { reconcileFiles, sharedFiles } from './bootstrap-files.ts'
import { KUBECONFIG } from './disk.ts'
import { whenWritable } from './etcd.ts'
import { listen } from './network.ts'
import { keepNodePassword } from './node-password.ts'
import { sinceStart } from './process.ts'
import { listOwnSnapshots, scheduleSnapshots } from './snapshots.ts'
import { ensureUsers, writeTokens } from './tokens.ts'

/** Opens port 6443: K3s's own paths answer, even without an API server behind it. */
export function supervisor(process: K3sProcess): void {
  const { world } = process.computer
  sinceStart(process, between(world.random, world.k3s.timing.supervisorMs), () => {
    process.phase = 'supervisor'
    listen(process)
  })
}

export function shownEncryption({ encryption }: EtcdCluster): string | undefined {
  return encryption.enabled ? `${encryption.stage}-${encryption.hash}` : undefined
}

/**
 * What servers get from the datastore: authorities, passwords, the state of encryption. Answers why it must not start:
 * its disk holds something newer.
 */
export function adopt(process: K3sProcess, cluster: EtcdCluster): string | undefined {
  const problem = reconcileFiles(process, sharedFiles(cluster.bootstrap, cluster.encryption))
  if (problem !== undefined) return problem
  process.files = cluster.bootstrap.files
  process.password = cluster.bootstrap.password
  process.agentPassword = cluster.bootstrap.agentPassword
  process.encryptionHash = shownEncryption(cluster)
  writeTokens(process)
  ensureUsers(process.computer, process.flags, process.password)
  return undefined
}

/** The API server answers, though not everything in it is ready. */
export function apiUp(process: K3sProcess, cluster: EtcdCluster): void {
  process.phase = 'apiserver'
  whenWritable(cluster, () => {
    if (!process.alive) return
    seedObjects(process, cluster)
    keepNodePassword(process, cluster)
  })
}

export function serverReady(process: K3sProcess, cluster: EtcdCluster): void {
  if (process.phase === 'removed') return
  process.phase = 'ready'
  process.ready()
  const { files } = process.computer.machine
  if (files.read(KUBECONFIG) === undefined) files.write(KUBECONFIG, 'apiVersion: v1\nkind: Config\n')
  scheduleSnapshots(process)
  leadControllers(process, cluster)
  whenWritable(cluster, () => {
    if (process.alive) listOwnSnapshots(process, cluster)
    applyManifests(process, cluster)
  })
  askReconcile(process.computer.world, cluster)
}

export function leadControllers(process: K3sProcess, cluster: EtcdCluster): void {
  if (cluster.manager?.alive === true || !process.alive) return
  cluster.managerTimer?.cancel()
  cluster.managerTimer = undefined
  cluster.manager = process
  askReconcile(process.computer.world, cluster)
}
