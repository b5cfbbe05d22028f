import { posix } from 'node:path'
import { addStorage } from '../../../world/create-world.ts'
import { parseProperties } from '../../../world/properties.ts'
import { GIB } from '../../../world/sizes.ts'
import { startTask } from '../../../world/tasks.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, hostOf, param, type Routes } from '../../call.ts'
import { splitList } from '../../validate/formats/format.ts'
import { requireRight } from '../guest/option-rights.ts'
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
    if (flag(call, 'cleanup-config')) requireRight(call, '/storage', 'Datastore.Allocate')
    const name = param(call, 'name')
    return startTask(call.world, hostOf(call), 'zfsremove', name, call.who.id, async (work) => {
      await work.pass(call.world.timing.shortTaskMs)
      if (!poolsOf(call).delete(name)) throw new Error(`command 'zpool destroy ${name}' failed: exit code 1`)
    })
  },
}

/** Folders that every host has: a name in one of them need not be there. */
const FOLDERS: ReadonlySet<string> = new Set([
  ...['', 'bin', 'boot', 'etc', 'home', 'mnt', 'opt', 'proc', 'root', 'run', 'srv', 'sys', 'tmp', 'usr', 'var'].map(
    (name) => `/${name}`,
  ),
  ...['', '/mapper', '/pts', '/shm', '/disk', '/pve'].map((name) => `/dev${name}`),
])

/** The path of a device as the host sees it. Refuses what cannot be one, whether it is there or not. */
function devicePath(given: string): string {
  const path = posix.resolve('/', given)
  if (!FOLDERS.has(posix.dirname(path))) throw failed(`failed to get absolute path to ${given}`)
  if (!path.startsWith('/dev/')) throw failed(`got unusual device path '${path}'`)
  return path
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
  if (pool === undefined) throw failed(`command '/sbin/zpool status -P ${param(call, 'name')}' failed: exit code 1`)
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
  const level = param(call, 'raidlevel')
  if (params['draid-config'] !== undefined && !level.startsWith('draid'))
    throw failed('draid-config set without using dRAID level')
  const devices = splitList(param(call, 'devices')).map(devicePath)
  // The machine that answers were recorded on has no disks.
  if (!world.statusDaemon) throw failed('not a valid block device')
  // A pool that was exported is in no list, and its disks are taken all the same.
  const exported = [...shelf(world, `zfs-exported/${host.name}`).values()].flatMap((pool) => pool.devices as string[])
  const taken = devices.find((device) => exported.includes(device))
  if (taken !== undefined) throw failed(`device '${taken}' is already in use`)
  if (flag(call, 'add_storage')) {
    requireRight(call, '/storage', 'Datastore.Allocate')
    if (world.storages.has(name)) throw failed(`Storage ID '${name}' already exists on node ${host.name}`)
  }
  if (poolsOf(call).has(name)) throw failed(`pool '${name}' already exists on node '${host.name}'`)
  const disks = devices.length
  const problem = layoutProblem(level, disks, params['draid-config'] ?? '')
  if (problem !== undefined) throw failed(problem)
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

const LEAST: Readonly<Record<string, number>> = {
  single: 1,
  mirror: 2,
  raid10: 4,
  raidz: 3,
  raidz2: 4,
  raidz3: 5,
  draid: 3,
  draid2: 4,
  draid3: 5,
}

/** Why so many disks do not make a pool of this kind. */
export function layoutProblem(level: string, disks: number, draid: string): string | undefined {
  const least = LEAST[level] ?? 1
  if (level === 'raid10' && disks % 2 !== 0) return 'raid10 needs an even number of disks'
  if (level === 'single' && disks > 1) return 'please give only one disk for single disk mode'
  if (disks < least) return `${level} needs at least ${least} disks`
  if (!level.startsWith('draid')) return undefined
  const { named } = parseProperties(draid)
  const wanted = least - 2 + Number(named.get('data') ?? 0) + Number(named.get('spares') ?? 0)
  return disks < wanted ? `At least ${wanted} disks needed for current dRAID config` : undefined
}
