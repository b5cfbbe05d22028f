import type { NodeAnswer, PutFiles } from '../../src/k3s/node-program.ts'
import type { Computer } from '../world/types.ts'
import { certificatesIn, isTrusted, SERVER_TLS } from './authorities.ts'
import { noteContent } from './bootstrap-files.ts'
import { isWritable } from './etcd.ts'

/** `k3s certificate rotate-ca`: into the datastore, for servers to take up at their next start; or refused. */
export function rotateAuthorities(computer: Computer, { files }: PutFiles): NodeAnswer {
  const process = computer.machine.k3s?.process
  const cluster = process?.cluster
  if (process === undefined || cluster === undefined || process.phase !== 'ready' || !isWritable(cluster))
    return { ok: false, error: 'K3s does not run as a server here' }
  const no = (error: string): NodeAnswer => ({ ok: false, error: `the CA was not rotated: ${error}` })
  const next = new Map(cluster.bootstrap.files)
  const nowMs = computer.world.clock.now()
  for (const { path, base64 } of files) {
    const below = path.startsWith(`${SERVER_TLS}/`) ? path.slice(SERVER_TLS.length + 1) : path.replace(/^.*\/tls\//, '')
    const text = Buffer.from(base64, 'base64').toString('latin1')
    const before = cluster.bootstrap.files.get(below)
    if (before === undefined) return { ok: false, error: `${path} is no CA file` }
    if (before !== text && below.endsWith('.crt')) {
      const chain = certificatesIn(text)
      if (chain.length === 1)
        return no(
          'new CA bundle contains only a single certificate but should include root or intermediate CA certificates',
        )
      if (!isTrusted(chain, certificatesIn(before), nowMs))
        return no('new CA cert cannot be verified using old CA chain')
    }
    if (below === 'service.key' && !text.includes(before.trim().split('\n')[1] ?? ''))
      return no('old ServiceAccount signing key not in new ServiceAccount key list')
    next.set(below, text)
  }
  cluster.bootstrap = { ...cluster.bootstrap, files: next }
  noteContent(computer.world, next.values())
  return { ok: true }
}
