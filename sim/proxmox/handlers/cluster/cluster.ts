import { may, seesGuest } from '../../../world/access.ts'
import type { World } from '../../../world/types.ts'
import { storageOn, usedBytes } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import type { Call, Routes } from '../../call.ts'
import { resourceRow } from '../guest/guest-rows.ts'
import { nodeResource } from '../node/nodes.ts'
import { clusterName } from './cluster-name.ts'

export const clusterRoutes: Routes = {
  'GET /cluster/resources': resources,
  'GET /cluster/nextid': nextId,
  'GET /cluster/status': status,
  'GET /cluster/config/qdevice': () => ({}),
}

function resources(call: Call): unknown[] {
  const { world, who, params } = call
  const wanted = (type: string) => params.type === undefined || params.type === type
  const rows: unknown[] = []
  const poolOf = new Map<number, string>()
  for (const pool of world.pools.values()) {
    if (!may(world, who, `/pool/${pool.id}`, 'Pool.Audit')) continue
    for (const vmid of pool.guests) poolOf.set(vmid, pool.id)
    if (params.type === undefined) {
      rows.push({ id: `/pool/${pool.id}`, pool: pool.id, type: 'pool' })
    }
  }
  if (wanted('vm')) {
    for (const guest of world.guests.values()) {
      const host = world.hosts.get(guest.node)
      if (host === undefined || !seesGuest(world, who, guest.vmid)) continue
      rows.push(resourceRow(world, host, guest, poolOf.get(guest.vmid)))
    }
  }
  if (wanted('node')) for (const host of world.hosts.values()) rows.push(nodeResource(world, host, call.who))
  if (wanted('storage')) rows.push(...storageRows(call))
  // A request for networks by their old name gets an empty list.
  if (wanted('network')) {
    for (const host of world.hosts.values()) {
      if (!may(world, who, '/sdn/zones/localnetwork', 'SDN.Audit')) continue
      rows.push({
        id: `network/${host.name}/zone/localnetwork`,
        type: 'network',
        network: 'localnetwork',
        'network-type': 'zone',
        node: host.name,
        status: host.power === 'on' ? 'ok' : 'unknown',
      })
      for (const [zone, entry] of world.shelves.get('sdn/zones') ?? []) {
        const names = {
          id: `network/${host.name}/zone/${zone}`,
          network: zone,
          'zone-type': entry.type,
          node: host.name,
        }
        rows.push({ ...names, type: 'network', 'network-type': 'zone', status: 'pending' })
      }
    }
  }
  return rows
}

function storageRows(call: Call): unknown[] {
  const { world, who } = call
  const rows: unknown[] = []
  for (const host of world.hosts.values()) {
    for (const entry of world.storages.values()) {
      if (storageOn(world, host, entry.id) === undefined) continue
      // Unlike the lists of one host, this one knows Datastore.Audit alone.
      if (!may(world, who, `/storage/${entry.id}`, 'Datastore.Audit')) continue
      rows.push({
        id: `storage/${host.name}/${entry.id}`,
        type: 'storage',
        storage: entry.id,
        node: host.name,
        status: host.power === 'on' ? 'available' : 'unknown',
        shared: entry.shared ? 1 : 0,
        content: entry.content.join(','),
        plugintype: entry.type,
        ...(host.power === 'on' ? { maxdisk: entry.totalBytes, disk: usedBytes(host, entry) } : {}),
      })
    }
  }
  return rows
}

/** Reports whether an id is taken, even to a caller who may not see the guest. */
function nextId(call: Call): string {
  const { world } = call
  const asked = call.params.vmid
  if (asked !== undefined) {
    const taken = world.guests.get(Number(asked))
    if (taken === undefined) return asked
    throw badParameter('vmid', `${taken.type === 'qemu' ? 'VM' : 'CT'} ${asked} already exists`)
  }
  const [lower, upper] = idRange(world)
  for (let vmid = lower; vmid < upper; vmid++) if (!world.guests.has(vmid)) return `${vmid}`
  throw failed(`unable to get any free VMID in range [${lower}, ${upper}]`)
}

function idRange(world: World): readonly [number, number] {
  const written = world.shelves.get('options')?.get('datacenter')?.['next-id']
  const text = typeof written === 'string' ? written : ''
  const lower = /lower=(\d+)/.exec(text)?.[1]
  const upper = /upper=(\d+)/.exec(text)?.[1]
  return [Number(lower ?? 100), Number(upper ?? 1_000_000)]
}

function status(call: Call): unknown[] {
  const hosts = [...call.world.hosts.values()]
  const name = clusterName(call.world)
  const rows: unknown[] = hosts.map((host, index) => ({
    id: `node/${host.name}`,
    type: 'node',
    name: host.name,
    nodeid: name === undefined ? 0 : index + 1,
    ip: host.address,
    local: index === 0 ? 1 : 0,
    online: host.power === 'on' ? 1 : 0,
    level: '',
  }))
  if (name !== undefined) {
    const quorate = call.world.quorate ? 1 : 0
    rows.unshift({ id: 'cluster', type: 'cluster', name, nodes: hosts.length, version: hosts.length, quorate })
  }
  return rows
}
