import { addStorage } from '../../../world/create-world.ts'
import { GIB } from '../../../world/sizes.ts'
import { startTask } from '../../../world/tasks.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, hostOf, param, type Routes } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'

const AT = '/nodes/{node}/disks/zfs'

/** Pools of disks on a host. The disks are taken as they are named. */
export const nodeZfsRoutes: Routes = {
  [`GET ${AT}`]: (call) => [...poolsOf(call)].map(([name, pool]) => row(name, pool)),
  [`GET ${AT}/{name}`]: (call) => ({
    ...row(param(call, 'name'), need(call)),
    errors: 'No known data errors',
    state: 'ONLINE',
  }),
  [`POST ${AT}`]: create,
  [`DELETE ${AT}/{name}`]: (call) => {
    need(call)
    return startTask(call.world, hostOf(call), 'zfsremove', param(call, 'name'), call.who.id, async (work) => {
      await work.pass(call.world.timing.shortTaskMs)
      poolsOf(call).delete(param(call, 'name'))
    })
  },
}

/** What storages of the host stand on is there, too. */
function poolsOf(call: Call): Map<string, Thing> {
  const pools = shelf(call.world, `zfs/${hostOf(call).name}`)
  for (const entry of call.world.storages.values()) {
    const name = entry.type === 'zfspool' && entry.backed === true ? String(entry.options.pool ?? '').split('/')[0] : ''
    if (name !== undefined && name !== '' && !pools.has(name)) pools.set(name, { size: entry.totalBytes })
  }
  return pools
}

function need(call: Call): Thing {
  const pool = poolsOf(call).get(param(call, 'name'))
  if (pool === undefined) throw failed(`cannot open '${param(call, 'name')}': no such pool`)
  return pool
}

function row(name: string, pool: Thing): Thing {
  const size = Number(pool.size)
  const alloc = Math.round(size / 100)
  return { name, size, alloc, free: size - alloc, frag: 1, dedup: 1, health: 'ONLINE' }
}

function create(call: Call): string {
  const { world, params } = call
  const host = hostOf(call)
  const name = param(call, 'name')
  if (poolsOf(call).has(name)) throw failed(`pool '${name}' already exists on node '${host.name}'`)
  if (flag(call, 'add_storage') && world.storages.has(name)) throw failed(`storage ID '${name}' already defined`)
  const devices = param(call, 'devices').split(/[,;\s]+/)
  // A pool that was exported is in no list, and its disks are taken all the same.
  const exported = [...shelf(world, `zfs-exported/${host.name}`).values()].flatMap((pool) => pool.devices as string[])
  const taken = devices.find((device) => exported.includes(device))
  if (taken !== undefined) throw failed(`device '${taken}' is already in use`)
  const disks = devices.length
  return startTask(world, host, 'zfscreate', name, call.who.id, async (work) => {
    work.log(`# /sbin/zpool create -o ashift=${params.ashift ?? '12'} ${name} ${param(call, 'devices')}`)
    await work.pass(world.timing.shortTaskMs)
    const size = disks * 1000 * GIB
    poolsOf(call).set(name, { size })
    if (flag(call, 'add_storage')) {
      addStorage(world, {
        id: name,
        type: 'zfspool',
        path: '',
        content: ['images', 'rootdir'],
        nodes: [host.name],
        totalBytes: size,
        baseUsedBytes: 0,
        options: { pool: name },
      })
    }
  })
}
