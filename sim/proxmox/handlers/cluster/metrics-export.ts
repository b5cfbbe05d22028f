import type { Guest, Host, World } from '../../../world/types.ts'
import { storageOn, usedBytes } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import type { Call } from '../../call.ts'
import { splitList } from '../../validate/formats/format.ts'
import { nodeRow } from '../guest/guest-rows.ts'
import { nodeResource } from '../node/nodes.ts'
import type { Thing } from '../shelf.ts'
import { clusterName } from './cluster-name.ts'

/** How often the status daemon counts, and how many counts it keeps beside the last. */
const EVERY_SECONDS = 10
const KEPT = 181

/** The numbers of hosts, guests and storages, oldest first. Without the daemon that counts there are none. */
export function exportMetrics(call: Call): Thing {
  const { world, params } = call
  const [here] = world.hosts.values()
  const asked = splitList(params['node-list'] ?? '')
  // A host that is in no cluster has no members, not even itself.
  const members = clusterName(world) === undefined ? [] : [...world.hosts.keys()]
  const all = params['local-only'] !== '1' || asked.length > 0
  const unknown = asked.filter((name) => !members.includes(name))
  if (unknown.length > 0) throw failed(`Requested node-list contains unknown nodes - ${unknown.join(', ')}`)
  const wanted = asked.length > 0 ? asked : all ? [here?.name ?? '', ...members] : [here?.name ?? '']
  const hosts = [...new Set(wanted)]
    .flatMap((name) => world.hosts.get(name) ?? [])
    .filter(({ power }) => power === 'on')
  if (!world.statusDaemon) return { data: [] }
  const start = params['start-time'] === undefined ? undefined : Number(params['start-time'])
  const rows = timesOf(call, start).flatMap((time) => hosts.flatMap((host) => metricsOf(call, host, time)))
  return { data: rows.filter(({ timestamp }) => start === undefined || Number(timestamp) > start) }
}

function timesOf({ world, params }: Call, start: number | undefined): number[] {
  const now = Math.floor(world.clock.now() / 1000)
  const last = Math.floor(now / EVERY_SECONDS) * EVERY_SECONDS
  if (params.history !== '1') return [last]
  const asked = start === undefined ? KEPT : Math.floor((now - start) / EVERY_SECONDS)
  const count = Math.max(1, Math.min(KEPT, asked))
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * EVERY_SECONDS)
}

/** What only grows is told as such; everything else is what it is. */
const GROWING = new Set(['net_in', 'net_out', 'disk_read', 'disk_write'])

function metricsOf(call: Call, host: Host, timestamp: number): Thing[] {
  const { world } = call
  const guests = [...world.guests.values()].filter(({ node }) => node === host.name)
  const storages = [...world.storages.values()].filter(({ id }) => storageOn(world, host, id) !== undefined)
  const sources: readonly (readonly [string, Thing])[] = [
    [`node/${host.name}`, ofHost(call, host)],
    ...guests.map((guest) => [`${guest.type}/${guest.vmid}`, ofGuest(world, host, guest)] as const),
    ...storages.map(
      (entry) =>
        [
          `storage/${host.name}/${entry.id}`,
          { disk_total: entry.totalBytes, disk_used: usedBytes(host, entry) },
        ] as const,
    ),
  ]
  return sources.flatMap(([id, values]) =>
    Object.entries(values).map(([metric, value]) => ({
      id,
      metric,
      value: Number(value),
      timestamp,
      type: GROWING.has(metric) ? 'derive' : 'gauge',
    })),
  )
}

function ofHost({ world, who }: Call, host: Host): Thing {
  const row = nodeResource(world, host, who)
  return {
    uptime: row.uptime ?? 0,
    net_in: 0,
    net_out: 0,
    cpu_avg1: 0.35,
    cpu_avg5: 0.4,
    cpu_avg15: 0.42,
    cpu_max: host.cpus,
    cpu_current: row.cpu ?? 0,
    cpu_iowait: 0,
    mem_total: host.memoryBytes,
    mem_used: row.mem ?? 0,
    swap_total: 0,
    swap_used: 0,
    disk_total: row.maxdisk ?? 0,
    disk_used: row.disk ?? 0,
  }
}

function ofGuest(world: World, host: Host, guest: Guest): Thing {
  const row = nodeRow(world, host, guest)
  const running =
    guest.run.status === 'running'
      ? { cpu_current: row.cpu, mem_used: row.mem, disk_read: 0, disk_write: 0, net_in: row.netin, net_out: row.netout }
      : {}
  return { ...running, uptime: row.uptime, cpu_max: row.cpus, mem_total: row.maxmem, disk_total: row.maxdisk }
}
