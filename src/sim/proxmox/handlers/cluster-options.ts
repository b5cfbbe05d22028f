import { may } from '../../world/access.ts'
import type { Routes } from '../call.ts'
import { CPU_TYPES } from '../validate/formats/cpu-types.ts'

const EMPTY_LISTS = ['/nodes/{node}/services', '/nodes/{node}/aplinfo', '/nodes/{node}/disks/list']

const CLUSTER_PARTS =
  'acme backup backup-info bulk-action ceph config firewall ha jobs log mapping metrics notifications nextid options qemu replication resources status tasks sdn'

export const clusterOptionRoutes: Routes = {
  ...Object.fromEntries(EMPTY_LISTS.map((path) => [`GET ${path}`, () => []])),
  'GET /': () => ['version', 'cluster', 'nodes', 'storage', 'access', 'pools'].map((subdir) => ({ subdir })),
  'GET /cluster': () => CLUSTER_PARTS.split(' ').map((name) => ({ name })),
  'GET /cluster/log': (call) => {
    if (!may(call.world, call.who, '/', 'Sys.Syslog')) return []
    const node = [...call.world.hosts.keys()][0] ?? ''
    const time = Math.floor(call.world.clock.now() / 1000)
    const entry = (uid: number, tag: string, user: string, msg: string) => ({
      uid: `${uid}`,
      id: `${uid}:${node}`,
      node,
      pid: 90,
      pri: 6,
      tag,
      user,
      msg,
      time,
    })
    return [
      entry(2, 'pvedaemon', 'root@pam', "successful auth for user 'root@pam'"),
      entry(1, 'cluster', 'root', 'starting cluster log'),
    ]
  },
  'GET /nodes/{node}/capabilities/qemu/cpu': () =>
    CPU_TYPES.map((name) => ({
      name,
      custom: 0,
      vendor: vendorOf(name),
      ...(name.startsWith('x86-64') ? { abstract: 1 } : {}),
    })),
}

function vendorOf(cpu: string): string {
  if (/^(EPYC|Opteron|athlon|phenom)/.test(cpu)) return 'AuthenticAMD'
  return /^(host|kvm|qemu|max|x86-64)/.test(cpu) ? 'default' : 'GenuineIntel'
}
