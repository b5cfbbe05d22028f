import type { K3sProcess } from '../world/types.ts'
import { TOMBSTONE } from './disk.ts'
import { after } from './process.ts'

/** Put out of etcd while it runs: its API hangs, and only a restart helps. */
export function putOut(process: K3sProcess): void {
  if (!process.alive || process.phase === 'removed') return
  process.phase = 'removed'
  process.computer.machine.files.write(TOMBSTONE, '')
  after(process, 15_000, () =>
    process.log('info', 'This node has been removed from the cluster - please restart k3s to rejoin the cluster'),
  )
}
