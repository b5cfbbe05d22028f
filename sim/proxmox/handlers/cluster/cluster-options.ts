import type { Routes } from '../../call.ts'

const EMPTY_LISTS = ['/nodes/{node}/disks/list']

const CLUSTER_PARTS =
  'acme backup backup-info bulk-action ceph config firewall ha jobs log mapping metrics notifications nextid options qemu replication resources status tasks sdn'

export const clusterOptionRoutes: Routes = {
  ...Object.fromEntries(EMPTY_LISTS.map((path) => [`GET ${path}`, () => []])),
  'GET /': () => ['version', 'cluster', 'nodes', 'storage', 'access', 'pools'].map((subdir) => ({ subdir })),
  'GET /cluster': () => CLUSTER_PARTS.split(' ').map((name) => ({ name })),
}
