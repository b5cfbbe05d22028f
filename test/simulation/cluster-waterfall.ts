import { computerOf } from '../../sim/guest/life.ts'
import { facts } from '../../sim/guest/node-program.ts'
import { nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, HOSTS, simulateCluster } from './cluster-run.ts'

/** What happened between two moments, and whose time it was. */
export interface Part {
  readonly label: string
  readonly fromMs: number
  readonly toMs: number
  /** `croft`: it could have started at `fromMs` and started at `toMs`. */
  readonly whose: 'the world' | 'croft'
}

export interface Formation {
  readonly parts: readonly Part[]
  readonly totalMs: number
  /** The time of the world's own steps in sequence: no tool could be faster. */
  readonly criticalMs: number
  /** What croft added to it. */
  readonly addedMs: number
}

const SERVERS = ['s1', 's2', 's3'] as const
const WATCH_MS = 20

/**
 * Three servers from nothing, with the physical delays of the simulation, and where the time went on the way that
 * decided how long it took: the first server's machine, its K3s, then the votes of the other two.
 */
export async function measureFormation(seed: number): Promise<Formation> {
  const run = simulateCluster({ seed, estate: clusterEstate(clusterManifest()) })
  const beganMs = run.clock.now()
  const seen = new Map<string, number>()
  const mark = (name: string, reached: boolean) => {
    if (reached && !seen.has(name)) seen.set(name, run.clock.now())
  }
  const ended = new Map<string, number>()
  let watching = true
  const watch = () => {
    if (!watching) return
    const { world } = run.datacentre
    for (const { upid, node, exit } of world.hosts.get(HOSTS[0])?.tasks ?? []) {
      if (node === HOSTS[0] && exit !== undefined && !ended.has(upid)) ended.set(upid, run.clock.now())
    }
    for (const guest of world.guests.values()) {
      const name = guest.config.get('name') ?? ''
      if (!SERVERS.some((one) => one === name)) continue
      mark(`${name} there`, true)
      mark(`${name} on`, guest.run.status === 'running')
      if (guest.run.status !== 'running') continue
      const told = facts(computerOf(world, guest))
      mark(`${name} set up`, told.cloudInit === 'done' && guest.run.bootedAtMs !== undefined)
      mark(`${name} fetching`, told.job?.name === 'install')
      mark(`${name} fetched`, told.version !== undefined)
      mark(`${name} started`, told.service !== 'absent')
    }
    for (const cluster of world.k3s.clusters.values()) {
      for (const { name, learner, process } of cluster.members.values()) {
        const node = name.replace(/-[0-9a-f]{8}$/, '')
        mark(`${node} votes`, !learner)
        mark(`${node} answers`, process?.phase === 'ready' || process?.phase === 'apiserver')
      }
      for (const { metadata, status } of nodesOf(cluster)) {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
        mark(`${metadata.name} Ready`, ready)
      }
    }
    run.clock.schedule(run.clock.now() + WATCH_MS, watch)
  }
  watch()
  const end = await run.untilSettled(run.start(), { mostMs: 1_800_000 })
  watching = false
  if (end !== 'settled') throw new Error(`the cluster did not form (${end})`)
  return judged(beganMs, run.clock.now(), seen, [...ended.values()], run.requests)
}

function judged(
  beganMs: number,
  endedMs: number,
  seen: ReadonlyMap<string, number>,
  tasksEnded: readonly number[],
  requests: readonly string[],
): Formation {
  const at = (name: string) => seen.get(name) ?? Number.NaN
  const parts: Part[] = []
  let nowMs = beganMs
  const until = (toMs: number, whose: Part['whose'], label: string) => {
    const reached = Math.max(nowMs, toMs)
    if (reached > nowMs) parts.push({ label, fromMs: nowMs, toMs: reached, whose })
    nowMs = reached
  }
  until(firstWrite(requests, beganMs), 'croft', 'from the push to the first call')
  // Between the end of one task and the next call on that host the machine waited for croft.
  for (const endMs of tasksEnded.filter((ms) => ms < at('s1 on'))) {
    until(endMs, 'the world', 's1: disk, disc with its first boot, start')
    until(nextCall(requests, endMs), 'croft', 's1: until the next task')
  }
  until(at('s1 on'), 'the world', 's1: disk, disc with its first boot, start')
  until(at('s1 set up'), 'the world', 's1: boot and cloud-init')
  until(at('s1 fetching'), 'croft', 's1: until K3s is fetched')
  until(at('s1 fetched'), 'the world', 's1: fetch K3s')
  until(at('s1 started'), 'croft', 's1: until K3s is started')
  until(at('s1 answers'), 'the world', 's1: K3s until the API answers')
  for (const name of SERVERS.slice(1)) {
    until(at(`${name} started`), 'croft', `${name}: until it is started`)
    until(at(`${name} votes`), 'the world', `${name}: learner, then voter`)
  }
  until(Math.max(...SERVERS.map((name) => at(`${name} Ready`))), 'the world', 'the last: until its Node is Ready')
  until(endedMs, 'croft', 'until croft says Ready')
  const addedMs = parts
    .filter(({ whose }) => whose === 'croft')
    .reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  return { parts, totalMs: endedMs - beganMs, addedMs, criticalMs: endedMs - beganMs - addedMs }
}

function nextCall(requests: readonly string[], afterMs: number): number {
  const times = requests
    .filter((line) => line.includes(`/nodes/${HOSTS[0]}/`))
    .map((line) => Number(line.split(' ')[0]))
  return times.find((ms) => ms >= afterMs) ?? afterMs
}

function firstWrite(requests: readonly string[], beganMs: number): number {
  return Number(requests[0]?.split(' ')[0] ?? beganMs)
}
