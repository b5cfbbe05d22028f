import { may } from '../../../world/access.ts'
import { loggedLines } from '../../../world/cluster-log.ts'
import type { Call, Routes } from '../../call.ts'
import { CPU_TYPES } from '../../validate/formats/cpu-types.ts'
import { seesModel } from '../qemu/cpu-models.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'

const EMPTY_LISTS = ['/nodes/{node}/disks/list']

const CLUSTER_PARTS =
  'acme backup backup-info bulk-action ceph config firewall ha jobs log mapping metrics notifications nextid options qemu replication resources status tasks sdn'

export const clusterOptionRoutes: Routes = {
  ...Object.fromEntries(EMPTY_LISTS.map((path) => [`GET ${path}`, () => []])),
  'GET /': () => ['version', 'cluster', 'nodes', 'storage', 'access', 'pools'].map((subdir) => ({ subdir })),
  'GET /cluster': () => CLUSTER_PARTS.split(' ').map((name) => ({ name })),
  'GET /cluster/log': (call) => {
    const seesAll = may(call.world, call.who, '/', 'Sys.Syslog')
    const lines = clusterLog(call).filter(({ user }) => seesAll || user === call.who.id)
    return lines.slice(0, Number(call.params.max ?? 50))
  },
  'GET /nodes/{node}/capabilities/qemu/cpu': cpuTypes,
}

/** What QEMU knows, what is put together from it by Proxmox, and what administrators put together. */
function cpuTypes(call: Call): Thing[] {
  const arm = call.params.arch === 'aarch64'
  const known: readonly string[] = arm ? ARM_TYPES : CPU_TYPES
  const vendor = (name: string) => (arm && name !== 'max' ? 'ARM' : vendorOf(name))
  const own = [...shelf(call.world, 'cpu-models')]
    .filter(([id]) => may(call.world, call.who, '/nodes', 'Sys.Audit') || seesModel(call, id))
    .map(([id, model]) => [id, textOf(model['reported-model'] ?? 'kvm64')] as const)
    .filter(([, reported]) => known.includes(reported))
    .map(([id, reported]) => ({ name: `custom-${id}`, custom: 1, vendor: vendor(reported) }))
  const all = known.map((name) => ({
    name,
    custom: 0,
    vendor: vendor(name),
    ...(name.startsWith('x86-64') ? { abstract: 1 } : {}),
  }))
  return [...all, ...own]
}

const ARM_TYPES = [
  'a64fx',
  ...['35', '53', '55', '57', '710', '72', '76'].map((core) => `cortex-a${core}`),
  'max',
  ...['n1', 'n2', 'v1'].map((core) => `neoverse-${core}`),
]

const INFO = 6
const ERROR = 3

/** Who did what, newest first: beginnings and ends of tasks, and how it all began. */
function clusterLog({ world }: Call): readonly Record<string, unknown>[] {
  const [first] = world.hosts.values()
  const lines = [...world.hosts.values()].flatMap(({ tasks }) =>
    tasks.flatMap(({ upid, node, pid, user, startSeconds, endSeconds, exit }) => [
      { node, pid, user, time: startSeconds, tag: 'pvedaemon', msg: `starting task ${upid}`, pri: INFO },
      ...(endSeconds === undefined
        ? []
        : [
            {
              node,
              pid,
              user,
              time: endSeconds,
              tag: 'pvedaemon',
              msg: `end task ${upid} ${exit ?? ''}`,
              pri: /^(OK|WARNINGS: \d+)$/.test(exit ?? '') ? INFO : ERROR,
            },
          ]),
    ]),
  )
  const node = first?.name ?? ''
  const began = Math.floor((first?.bootedAtMs ?? 0) / 1000)
  const all = [
    { node, pid: 90, user: 'root', time: began, tag: 'cluster', msg: 'starting cluster log' },
    ...[...lines, ...loggedLines(world).map((line) => ({ ...line, pid: 90, tag: 'pvedaemon', pri: INFO }))].toSorted(
      (a, b) => a.time - b.time,
    ),
  ]
  return all.map((line, at) => ({ pri: INFO, ...line, uid: `${at + 1}`, id: `${at + 1}:${line.node}` })).reverse()
}

function vendorOf(cpu: string): string {
  if (/^(EPYC|Opteron|athlon|phenom)/.test(cpu)) return 'AuthenticAMD'
  return /^(host|kvm|qemu|max|x86-64)/.test(cpu) ? 'default' : 'GenuineIntel'
}
