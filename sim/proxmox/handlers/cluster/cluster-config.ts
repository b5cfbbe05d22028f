import { ApiError } from '../../api-error.ts'
import type { Call, Routes } from '../../call.ts'
import { fingerprint } from '../node/nodes.ts'
import type { Thing } from '../shelf.ts'

/** How the nodes are joined. A single node is in no cluster. */
export const clusterConfigRoutes: Routes = {
  'GET /cluster/config': () => ['nodes', 'totem', 'join', 'qdevice', 'apiversion'].map((name) => ({ name })),
  'GET /cluster/config/nodes': (call) => (alone(call) ? [] : members(call)),
  'GET /cluster/config/join': (call) => {
    if (alone(call)) throw new ApiError(424, 'node is not in a cluster, no join info available!')
    return {
      nodelist: [...call.world.hosts.values()].map((host, index) => ({
        ...members(call)[index],
        pve_addr: host.address,
        pve_fp: fingerprint(host),
      })),
      preferred_node: [...call.world.hosts.keys()][0],
      totem: { cluster_name: 'sim', config_version: `${call.world.hosts.size}`, version: '2' },
      config_digest: '0'.repeat(40),
    }
  },
  'GET /cluster/config/apiversion': () => '1',
  'GET /cluster/config/totem': (call) => (alone(call) ? null : { cluster_name: 'sim', version: '2' }),
  'GET /cluster/config/qdevice': () => ({}),
}

function alone(call: Call): boolean {
  return call.world.hosts.size < 2
}

function members(call: Call): Thing[] {
  return [...call.world.hosts.values()].map((host, index) => ({
    name: host.name,
    node: host.name,
    nodeid: `${index + 1}`,
    ring0_addr: host.address,
    quorum_votes: '1',
  }))
}
