import type { NodeAnswer } from '../../src/k3s/node-program.ts'
import type { Computer } from '../world/types.ts'
import { isWritable } from './etcd.ts'
import { passwordOf, tokenHash, writeTokens } from './tokens.ts'

/** `k3s token rotate`: the datastore is re-encrypted at once; every node must then be restarted with the new token. */
export function rotateToken(computer: Computer, token: string): NodeAnswer {
  const process = computer.machine.k3s?.process
  const cluster = process?.cluster
  if (process === undefined || cluster === undefined || process.phase !== 'ready' || !isWritable(cluster))
    return { ok: false, error: 'K3s does not run as a server here' }
  const password = passwordOf(token)
  if (password === '')
    return {
      ok: false,
      error: 'failed to normalize server token; must be in format K10<CA-HASH>::<USERNAME>:<PASSWORD> or <PASSWORD>',
    }
  cluster.bootstrap = { ...cluster.bootstrap, password, tokenHash: tokenHash(password) }
  process.password = password
  writeTokens(process)
  return { ok: true }
}
