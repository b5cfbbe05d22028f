import { all } from '../kubernetes/store.ts'
import { between } from '../world/chance.ts'
import type { K3sProcess, World } from '../world/types.ts'
import { flagList } from './config-file.ts'
import { DATA } from './disk.ts'
import { isPodReady, podsOfNode } from './kubelet.ts'

/** Host of `https://10.0.0.1:6443`, without brackets. */
export function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, '')
  } catch {
    return ''
  }
}

/** Opens port 6443 on all addresses of the computer. */
export function listen(process: K3sProcess): void {
  const { listeners } = process.computer.world.k3s
  for (const address of [...process.computer.addresses(), ...process.nodeIps]) listeners.set(address, process)
}

export function stopListening(process: K3sProcess): void {
  const { listeners } = process.computer.world.k3s
  for (const [address, other] of listeners) if (other === process) listeners.delete(address)
  // The others notice then, whether anyone asks at the address or not.
  for (const held of process.computer.world.k3s.holders.values())
    if (held.process === process) held.lostMs ??= process.computer.world.clock.now()
}

function answers(process: K3sProcess): boolean {
  return process.alive && process.phase !== 'starting' && process.computer.isUp()
}

/** The server that answers at an address or name: the machine's own, or one that its certificates were made for. */
export function serverAt(world: World, host: string): K3sProcess | undefined {
  const { listeners } = world.k3s
  const own = listeners.get(host)
  if (own !== undefined) return answers(own) ? own : undefined
  for (const process of listeners.values())
    if ((process.nodeName === host || process.computer.hostname() === host) && answers(process)) return process
  return holderOf(world, host)
}

/** Who holds a virtual address or stands behind a name. When the holder is lost, another takes it after a while. */
function holderOf(world: World, host: string): K3sProcess | undefined {
  const { holders, listeners, timing } = world.k3s
  const nowMs = world.clock.now()
  const held = holders.get(host)
  if (held !== undefined && held.lostMs === undefined && mayHold(held.process, host))
    return held.fromMs <= nowMs ? held.process : undefined
  const next = [...new Set(listeners.values())].find((process) => mayHold(process, host))
  if (next === undefined) return undefined
  const fromMs = held === undefined ? nowMs : (held.lostMs ?? nowMs) + between(world.random, timing.vipFailoverMs)
  holders.set(host, { process: next, fromMs })
  return fromMs <= nowMs ? next : undefined
}

function mayHold(process: K3sProcess, host: string): boolean {
  if (!answers(process) || !flagList(process.flags, 'tls-san').includes(host)) return false
  const { cluster } = process
  const { files } = process.computer.machine
  const byPod =
    files.list(`${DATA}/server/manifests`).some((name) => name.includes('kube-vip')) ||
    (cluster !== undefined &&
      all(cluster.store, 'apps/daemonsets').some(({ metadata }) => metadata.name.startsWith('kube-vip')))
  if (!byPod) return true
  return (
    cluster !== undefined &&
    podsOfNode(cluster, process.nodeName).some((pod) => pod.metadata.name.startsWith('kube-vip') && isPodReady(pod))
  )
}
