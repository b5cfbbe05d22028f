import { createHash } from 'node:crypto'
import type { NodeAnswer } from '../../src/k3s/node-program.ts'
import { beginJob } from '../guest/job.ts'
import { all } from '../kubernetes/store.ts'
import { hexDigits } from '../world/chance.ts'
import type { Computer } from '../world/types.ts'
import { sharedFiles, writeShared } from './bootstrap-files.ts'
import { isWritable } from './etcd.ts'
import { annotate } from './kubelet.ts'
import { shownEncryption } from './server-stages.ts'

/** K3s rewrites about five Secrets a second. */
const PER_SECOND = 5

/** `k3s secrets-encrypt rotate-keys`: all servers must agree before; afterwards each must be restarted, this one first. */
export function rotateKeys(computer: Computer): NodeAnswer {
  const { world, machine } = computer
  const process = machine.k3s?.process
  const cluster = process?.cluster
  if (process === undefined || cluster === undefined || process.phase !== 'ready' || !isWritable(cluster))
    return { ok: false, error: 'K3s does not run as a server here' }
  const { encryption } = cluster
  if (!encryption.enabled) return { ok: false, error: 'secrets encryption is disabled' }
  if (encryption.stage !== 'start' && encryption.stage !== 'reencrypt_finished')
    return { ok: false, error: `error, incorrect stage: ${encryption.stage} found on node ${process.nodeName}` }
  const others = [...cluster.members.values()].flatMap((member) =>
    member.process === undefined ? [] : [member.process],
  )
  const different = others.find((other) => other.encryptionHash !== process.encryptionHash)
  if (different !== undefined)
    return { ok: false, error: `hash does not match between ${process.nodeName} and ${different.nodeName}` }
  const secrets = all(cluster.store, '/secrets').length
  cluster.encryption = { ...encryption, stage: 'reencrypt_active' }
  return beginJob(computer, 'rotate-keys', 2_000 + (secrets * 1000) / PER_SECOND, (done) => {
    if (!process.alive || !isWritable(cluster)) {
      done('re-encryption was interrupted')
      return
    }
    const hash = createHash('sha256').update(hexDigits(world.random, 32)).digest('hex')
    const key = `aescbckey-${new Date(world.clock.now()).toISOString().slice(0, 19)}Z`
    cluster.encryption = { enabled: true, stage: 'reencrypt_finished', hash, key }
    process.encryptionHash = shownEncryption(cluster)
    writeShared(process, sharedFiles(cluster.bootstrap, cluster.encryption))
    if (process.encryptionHash !== undefined)
      annotate(process, cluster, { 'k3s.io/encryption-config-hash': process.encryptionHash })
    done()
  })
}
