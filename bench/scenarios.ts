import type { Timing } from '../sim/world/parts.ts'

/** Where the machines of a run go, and how long their storage takes. */
export interface Scenario {
  readonly hosts: readonly string[]
  readonly storage: string
  /** As many machines as fit into the storage. */
  readonly most: number
  readonly timing: Pick<Timing, 'callMs' | 'taskStartMs' | 'allocateMs' | 'freeMs'>
}

/** Each worker of the daemon is busy for this long with a call, and the process of a task needs this long to begin. */
const DAEMON = { callMs: [30, 80], taskStartMs: 100 } as const

/** `zfs list`, `zfs create` and the wait for the device, all of it under the lock of the storage. */
const ZFS = { ...DAEMON, allocateMs: [50, 150], freeMs: [30, 80] } as const

/** `qemu-img create` and `unlink` under the lock: 3 to 40 ms were measured for the first, beside other work. */
const FILES = { ...DAEMON, allocateMs: [10, 40], freeMs: [5, 20] } as const

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  zfs: { hosts: ['pve1'], storage: 'local-zfs', most: 1000, timing: ZFS },
  directory: { hosts: ['pve1'], storage: 'local', most: 150, timing: FILES },
  'three hosts': { hosts: ['pve1', 'pve2', 'pve3'], storage: 'local-zfs', most: 1000, timing: ZFS },
}

export function scenarioOf(name: string): Scenario {
  const scenario = SCENARIOS[name]
  if (scenario === undefined) throw new Error(`no scenario ${name}: take one of ${Object.keys(SCENARIOS).join(', ')}`)
  return scenario
}
