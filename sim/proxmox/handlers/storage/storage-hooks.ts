import { hasDirectory } from '../../../world/host-directories.ts'
import type { Call } from '../../call.ts'

/** What a kind of storage sets by itself when it is made. */
export function ownOptions(call: Call): Record<string, string> {
  const { type, iscsiprovider } = call.params
  if (type !== 'zfs') return {}
  return { 'zfs-base-path': iscsiprovider === 'comstar' ? '/dev/zvol/rdsk' : '/dev/zvol' }
}

/** What a kind of storage refuses when it is made, beyond what its parameters say by themselves. */
export function addProblem(call: Call, type: string): string | undefined {
  const { params } = call
  if (type === 'lvm' && params.base !== undefined) return baseProblem(call, params.base)
  if (type === 'pbs' && params['master-pubkey'] !== undefined && params['encryption-key'] === undefined)
    return "'master-pubkey' can only be used together with 'encryption-key'"
  if (type === 'esxi' && params.password === undefined) return 'missing password'
  if ((type === 'dir' || type === 'btrfs') && params.disable !== '1') return mountProblem(call) ?? pathProblem(call)
  return undefined
}

function baseProblem({ world }: Call, base: string): string | undefined {
  const id = base.slice(0, Math.max(0, base.indexOf(':')))
  const entry = world.storages.get(id)
  if (entry === undefined) return `base storage ID '${id}' does not exist`
  if (entry.type === 'iscsi') return undefined
  return `unsupported base type '${entry.type}' at /usr/share/perl5/PVE/Storage/LVMPlugin.pm line 489.`
}

/** Nothing is mounted on a simulated host but what its storages stand on. */
function mountProblem({ world, params }: Call): string | undefined {
  const { is_mountpoint: asked } = params
  if (asked === undefined || /^(?:0|no|off|false)$/i.test(asked)) return undefined
  const path = /^(?:1|yes|on|true)$/i.test(asked) ? (params.path ?? '') : asked
  if ([...world.storages.values()].some((entry) => entry.backed === true && entry.path === path)) return undefined
  const what = 'directory is expected to be a mount point but is not mounted'
  return `unable to activate storage '${params.storage}' - ${what}: '${path}'`
}

/** Who says that the folder is not to be made must have one. */
function pathProblem(call: Call): string | undefined {
  const { params } = call
  const isMade = (params['create-base-path'] ?? params.mkdir) !== '0'
  if (isMade || hasDirectory(call.world, params.path ?? '')) return undefined
  return `unable to activate storage '${params.storage}' - directory '${params.path}' does not exist or is unreachable`
}
