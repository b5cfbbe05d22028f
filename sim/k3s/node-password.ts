import { createHash } from 'node:crypto'
import { stamp, text, tree } from '../kubernetes/object.ts'
import { find, put } from '../kubernetes/store.ts'
import { hexDigits, uuid } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { NODE_PASSWORD } from './disk.ts'

/** The password of this computer, made at its first start. It outlives a removal of K3s. */
export function nodePassword(process: K3sProcess): string {
  const { world, machine } = process.computer
  const known = machine.files.text(NODE_PASSWORD)?.trim()
  if (known !== undefined) return known
  const made = hexDigits(world.random, 32)
  machine.files.write(NODE_PASSWORD, `${made}\n`)
  return made
}

/** A server overwrites its own password secret. */
export function keepNodePassword(process: K3sProcess, cluster: EtcdCluster): void {
  const password = nodePassword(process)
  if (!passwordFits(process.nodeName, password, cluster)) writeSecret(process, password, cluster)
}

/** An agent is let in when its password is the one that is known, or when none is. */
export function admitAgent(process: K3sProcess, cluster: EtcdCluster): boolean {
  const password = nodePassword(process)
  const known = find(cluster.store, '/secrets', 'kube-system', secretName(process.nodeName))
  if (known !== undefined) return passwordFits(process.nodeName, password, cluster)
  writeSecret(process, password, cluster)
  return true
}

export function secretName(node: string): string {
  return `${node}.node-password.k3s`
}

function passwordFits(node: string, password: string, cluster: EtcdCluster): boolean {
  const known = find(cluster.store, '/secrets', 'kube-system', secretName(node))
  const hash = Buffer.from(text(tree(known?.data).hash), 'base64').toString('latin1')
  const salt = hash.split(':')[1] ?? ''
  return salt !== '' && hash === hashOf(password, salt)
}

/** The form of the real one, which is scrypt; a cheaper hash inside, which is enough for a simulation. */
function hashOf(password: string, salt: string): string {
  const digest = createHash('sha512').update(`${salt}:${password}`).digest('base64').replace(/=+$/, '')
  return `$1:${salt}:15:8:1:${digest}`
}

function writeSecret(process: K3sProcess, password: string, cluster: EtcdCluster): void {
  const { world } = process.computer
  const { nodeName } = process
  put(cluster.store, '/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secretName(nodeName),
      namespace: 'kube-system',
      uid: uuid(world.random),
      creationTimestamp: stamp(world.clock.now()),
    },
    immutable: true,
    data: { hash: Buffer.from(hashOf(password, hexDigits(world.random, 16)), 'latin1').toString('base64') },
    type: 'k3s.cattle.io/node-password',
  })
}
