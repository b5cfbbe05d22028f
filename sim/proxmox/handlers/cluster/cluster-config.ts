import { startTask } from '../../../world/tasks.ts'
import type { Host } from '../../../world/types.ts'
import { ApiError, failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { fingerprint } from '../node/nodes.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'

const FILE = '/etc/pve/corosync.conf'

/** How the nodes are joined. A single node is in no cluster until somebody makes one of it. */
export const clusterConfigRoutes: Routes = {
  'GET /cluster/config': () => ['nodes', 'totem', 'join', 'qdevice', 'apiversion'].map((name) => ({ name })),
  'POST /cluster/config': create,
  'GET /cluster/config/nodes': members,
  'POST /cluster/config/nodes/{node}': add,
  'DELETE /cluster/config/nodes/{node}': remove,
  'GET /cluster/config/join': (call) => {
    if (alone(call)) throw new ApiError(424, 'node is not in a cluster, no join info available!')
    const all = members(call)
    return {
      nodelist: all.map((member) => {
        const host = call.world.hosts.get(textOf(member.name))
        return host === undefined ? member : { ...member, pve_addr: host.address, pve_fp: fingerprint(host) }
      }),
      preferred_node: [...call.world.hosts.keys()][0],
      totem: { ...totem(call), config_version: `${all.length}` },
      config_digest: '0'.repeat(40),
    }
  },
  'POST /cluster/config/join': join,
  'GET /cluster/config/apiversion': () => '1',
  'GET /cluster/config/totem': (call) => (alone(call) ? null : totem(call)),
  'GET /cluster/config/qdevice': () => ({}),
}

function totem(call: Call): Thing {
  return { cluster_name: textOf(shelf(call.world, 'corosync').get('cluster')?.name ?? 'sim'), version: '2' }
}

function alone(call: Call): boolean {
  return call.world.hosts.size < 2 && !shelf(call.world, 'corosync').has('cluster')
}

function here(call: Call): Host {
  const [host] = call.world.hosts.values()
  if (host === undefined) throw failed('there is no node')
  return host
}

function members(call: Call): Thing[] {
  if (alone(call)) return []
  const removed = shelf(call.world, 'corosync/removed')
  const own = [...call.world.hosts.values()].map((host, index) => ({
    name: host.name,
    node: host.name,
    nodeid: `${index + 1}`,
    ring0_addr: host.address,
    quorum_votes: '1',
  }))
  return [...own.filter(({ name }) => !removed.has(name)), ...shelf(call.world, 'corosync/added').values()]
}

function create(call: Call): string {
  if (!alone(call)) throw failed(`cluster config '${FILE}' already exists`)
  const name = param(call, 'clustername')
  return startTask(call.world, here(call), 'clustercreate', name, call.who.id, async (work) => {
    await work.pass(call.world.timing.shortTaskMs)
    work.log(`Writing corosync config to ${FILE}`)
    work.log('Restart corosync and cluster filesystem')
    shelf(call.world, 'corosync').set('cluster', { name })
  })
}

/** A node that has guests, or is in a cluster, is not taken in; and nobody answers who could take it in. */
function join(call: Call): string {
  const { world } = call
  return startTask(world, here(call), 'clusterjoin', '', call.who.id, async (work) => {
    await work.pass(world.timing.shortTaskMs)
    const errors = [
      ...(alone(call) ? [] : [`cluster config '${FILE}' already exists`]),
      ...(world.guests.size === 0 ? [] : ['this host already contains virtual guests']),
    ]
    if (errors.length > 0) {
      work.log('detected the following error(s):')
      for (const error of errors) work.log(`* ${error}`)
      if (!flag(call, 'force')) throw new Error('Check if node may join a cluster failed!')
    }
    work.log(`Establishing API connection with host '${param(call, 'hostname')}'`)
    throw new Error(`500 Can't connect to ${param(call, 'hostname')}:8006 (Connection refused)`)
  })
}

function add(call: Call): Thing {
  if (alone(call)) throw failed('invalid corosync.conf')
  const name = param(call, 'node')
  const all = members(call)
  const address = call.params.link0?.replace(/^(?:.*,)?address=/, '').replace(/,.*$/, '')
  const other = all.find((member) => member.name !== name && member.ring0_addr === address)
  if (other !== undefined)
    throw failed(`corosync: address '${address}' already used on link ring0_addr by node '${textOf(other.name)}'`)
  const fallback = call.params.new_node_ip
  if (address === undefined && fallback === undefined)
    throw failed('no links and no fallback ip (new_node_ip) given, cannot join cluster')
  if (all.some((member) => member.name === name) && !flag(call, 'force'))
    throw failed(`can't add existing node '${name}'`)
  const nodeid = call.params.nodeid ?? `${all.length + 1}`
  const votes = call.params.votes ?? '1'
  const made = { name, node: name, nodeid, ring0_addr: address ?? fallback, quorum_votes: votes }
  shelf(call.world, 'corosync/added').set(name, made)
  return { corosync_authkey: '', corosync_conf: '', warnings: [] }
}

function remove(call: Call): null {
  const name = param(call, 'node')
  if (name === here(call).name) throw failed('Cannot delete myself from cluster!')
  const found = members(call).find((member) => member.name === name || member.ring0_addr === name)
  if (found === undefined) throw failed(`Node/IP: ${name} is not a known host of the cluster.`)
  shelf(call.world, 'corosync/added').delete(textOf(found.name))
  shelf(call.world, 'corosync/removed').set(textOf(found.name), {})
  return null
}
