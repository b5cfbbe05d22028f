import { may } from '../../../world/access.ts'
import type { Call, Routes } from '../../call.ts'
import { CPU_TYPES } from '../../validate/formats/cpu-types.ts'

const EMPTY_LISTS = ['/nodes/{node}/aplinfo', '/nodes/{node}/disks/list']

const CLUSTER_PARTS =
  'acme backup backup-info bulk-action ceph config firewall ha jobs log mapping metrics notifications nextid options qemu replication resources status tasks sdn'

export const clusterOptionRoutes: Routes = {
  ...Object.fromEntries(EMPTY_LISTS.map((path) => [`GET ${path}`, () => []])),
  'GET /': () => ['version', 'cluster', 'nodes', 'storage', 'access', 'pools'].map((subdir) => ({ subdir })),
  'GET /cluster': () => CLUSTER_PARTS.split(' ').map((name) => ({ name })),
  'GET /cluster/log': (call) => {
    if (!may(call.world, call.who, '/', 'Sys.Syslog')) return []
    return clusterLog(call).slice(0, Number(call.params.max ?? 50))
  },
  'GET /nodes/{node}/capabilities/qemu/cpu': () =>
    CPU_TYPES.map((name) => ({
      name,
      custom: 0,
      vendor: vendorOf(name),
      ...(name.startsWith('x86-64') ? { abstract: 1 } : {}),
    })),
}

/** Who did what, newest first: beginnings and ends of tasks, and how it all began. */
function clusterLog({ world }: Call): readonly Record<string, unknown>[] {
  const [first] = world.hosts.values()
  const lines = [...world.hosts.values()].flatMap(({ tasks }) =>
    tasks.flatMap(({ upid, node, pid, user, startSeconds, endSeconds, exit }) => [
      { node, pid, user, time: startSeconds, tag: 'pvedaemon', msg: `starting task ${upid}` },
      ...(endSeconds === undefined
        ? []
        : [{ node, pid, user, time: endSeconds, tag: 'pvedaemon', msg: `end task ${upid} ${exit ?? ''}` }]),
    ]),
  )
  const node = first?.name ?? ''
  const began = Math.floor((first?.bootedAtMs ?? 0) / 1000)
  const all = [
    { node, pid: 90, user: 'root', time: began, tag: 'cluster', msg: 'starting cluster log' },
    { node, pid: 90, user: 'root@pam', time: began, tag: 'pvedaemon', msg: "successful auth for user 'root@pam'" },
    ...lines.toSorted((a, b) => a.time - b.time),
  ]
  return all.map((line, at) => ({ ...line, pri: 6, uid: `${at + 1}`, id: `${at + 1}:${line.node}` })).reverse()
}

function vendorOf(cpu: string): string {
  if (/^(EPYC|Opteron|athlon|phenom)/.test(cpu)) return 'AuthenticAMD'
  return /^(host|kvm|qemu|max|x86-64)/.test(cpu) ? 'default' : 'GenuineIntel'
}
