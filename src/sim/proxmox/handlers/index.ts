import type { Handler, Routes } from '../call.ts'
import { clusterRoutes } from './cluster.ts'
import { nodeRoutes } from './nodes.ts'
import { qemuConfigRoutes } from './qemu-config.ts'
import { qemuCreateRoutes } from './qemu-create.ts'
import { qemuDestroyRoutes } from './qemu-destroy.ts'
import { qemuDiskRoutes } from './qemu-disk.ts'
import { qemuListRoutes } from './qemu-list.ts'
import { qemuPowerRoutes } from './qemu-power.ts'
import { taskRoutes } from './tasks.ts'

/** One table per area. A new area is one file and one line here. */
const TABLES: readonly Routes[] = [
  clusterRoutes,
  nodeRoutes,
  qemuConfigRoutes,
  qemuCreateRoutes,
  qemuDestroyRoutes,
  qemuDiskRoutes,
  qemuListRoutes,
  qemuPowerRoutes,
  taskRoutes,
]

export const ROUTES: ReadonlyMap<string, Handler> = new Map(TABLES.flatMap((table) => Object.entries(table)))
