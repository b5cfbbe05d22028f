import { posix } from 'node:path'
import { may } from '../../../world/access.ts'
import { startTask } from '../../../world/tasks.ts'
import { failed, forbidden } from '../../api-error.ts'
import { type Call, flag, hostOf, param, type Routes } from '../../call.ts'

const AT = '/nodes/{node}/disks'

/**
 * Disks of a host that something is made of. A simulated host shows none in its list, so whatever is named is no disk:
 * what people say wrongly is answered as by the real host, and nothing is ever made.
 */
export const nodeDiskRoutes: Routes = {
  [`GET ${AT}/smart`]: (call) => noDisk(call, 'disk'),
  [`POST ${AT}/initgpt`]: (call) => noDisk(call, 'disk'),
  [`PUT ${AT}/wipedisk`]: (call) => noDisk(call, 'disk'),
  ...Object.fromEntries(
    ['lvm', 'lvmthin', 'directory'].map((kind) => [`POST ${AT}/${kind}`, (call: Call) => noDisk(call, 'device')]),
  ),
  [`DELETE ${AT}/lvm/{name}`]: (call) => remove(call, 'lvmremove', `no such volume group '${param(call, 'name')}'`),
  [`DELETE ${AT}/lvmthin/{name}`]: (call) => {
    const pool = [param(call, 'volume-group'), param(call, 'name')]
    return remove(call, 'lvmthinremove', `no such thin pool ${pool.join('/')}`, pool.join('-'))
  },
  [`DELETE ${AT}/directory/{name}`]: (call) => {
    const unit = `mnt-pve-${param(call, 'name').replaceAll('-', '\\x2d')}.mount`
    // Which disk to wipe stands in the unit.
    const unread = `can't open '/etc/systemd/system/${unit}' - No such file or directory`
    const message = flag(call, 'cleanup-disks') ? unread : `command 'systemctl stop ${unit}' failed: exit code 5`
    return remove(call, 'dirremove', message)
  },
  'GET /nodes/{node}/scan/lvmthin': (call) => {
    throw failed(`command '${LIST_VOLUMES} ${param(call, 'vg')}' failed: exit code 5`)
  },
}

const LIST_VOLUMES =
  '/sbin/lvs --separator : --noheadings --units b --unbuffered --nosuffix --config ' +
  `'report/time_format="%s"' --options vg_name,lv_name,lv_size,lv_attr,pool_lv,data_percent,metadata_percent,` +
  'snap_percent,uuid,tags,metadata_size,time'

/** That there is nothing of the name is found by the task. */
function remove(call: Call, type: string, message: string, id = param(call, 'name')): string {
  if (flag(call, 'cleanup-config') && !may(call.world, call.who, '/storage', 'Datastore.Allocate'))
    throw forbidden('/storage, Datastore.Allocate')
  return startTask(call.world, hostOf(call), type, id, call.who.id, async (work) => {
    await work.pass(call.world.timing.shortTaskMs)
    throw new Error(message)
  })
}

/** Folders that every host has: a name in one of them need not be there. */
const FOLDERS: ReadonlySet<string> = new Set([
  ...['', 'bin', 'boot', 'etc', 'home', 'mnt', 'opt', 'proc', 'root', 'run', 'srv', 'sys', 'tmp', 'usr', 'var'].map(
    (name) => `/${name}`,
  ),
  ...['', '/mapper', '/pts', '/shm', '/disk', '/pve'].map((name) => `/dev${name}`),
])

/** The path of a device as the host sees it. Refuses what cannot be one, whether it is there or not. */
export function devicePath(given: string): string {
  const path = posix.resolve('/', given)
  if (!FOLDERS.has(posix.dirname(path))) throw failed(`failed to get absolute path to ${given}`)
  if (!path.startsWith('/dev/')) throw failed(`got unusual device path '${path}'`)
  return path
}

function noDisk(call: Call, name: string): never {
  hostOf(call)
  devicePath(param(call, name))
  throw failed('not a valid block device')
}
