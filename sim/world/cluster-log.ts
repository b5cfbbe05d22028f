import type { Host, World } from './types.ts'

/** What the cluster's log keeps besides the beginnings and ends of tasks: logins, and what was changed in guests. */
export interface LogLine {
  readonly node: string
  readonly user: string
  readonly time: number
  readonly msg: string
}

/** As many as the real one shows at most. */
const MOST = 500
const lines = new WeakMap<World, LogLine[]>()

/** Without a host: whatever answers first. */
export function noteInLog(world: World, host: Host | undefined, user: string, msg: string): void {
  const all = lines.get(world) ?? []
  const [first] = world.hosts.keys()
  all.push({ node: host?.name ?? first ?? '', user, time: Math.floor(world.clock.now() / 1000), msg })
  if (all.length > MOST) all.shift()
  lines.set(world, all)
}

export function loggedLines(world: World): readonly LogLine[] {
  return lines.get(world) ?? []
}
