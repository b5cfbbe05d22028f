import { isIP } from 'node:net'
import { wordSet } from '../lib/word-list.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { Action, Disruption, Doing, Plan, PlanDisruption, PlanEntry } from '../model/plan.ts'
import { type Change, isGuest } from '../model/resource.ts'
import type { Step } from '../model/step.ts'
import { forecast } from './clusters/forecast.ts'

/** Estimated downtime in minutes: a person wants to know whether to wait or to plan an evening. */
const MINUTES = { restart: 2, remake: 10, drainAndRestart: 5, evict: 1, wipe: 5 } as const

/**
 * Returns what a plan does to running workloads, per thing, and the worst effect. Held or refused actions do not happen
 * and do not count; delayed actions do. Pure.
 */
export function disruptionOf(plan: Plan): PlanDisruption {
  const machines = plan.entries.flatMap(machineDisruption)
  const clusters = (plan.clusters ?? []).flatMap(clusterDisruption)
  const power = (plan.powers ?? []).flatMap(({ declaration, decision }): readonly Disruption[] =>
    decision.phase === 'PoweringOff'
      ? [
          {
            ...NONE,
            subject: declaration.key,
            worst: 'outage',
            text: 'is switched off on request, with everything that runs there',
          },
        ]
      : [],
  )
  const items = [...clusters, ...machines, ...power].toSorted((a, b) => rank(b.worst) - rank(a.worst))
  return { worst: items[0]?.worst ?? 'none', destroyed: destroyed(plan, clusters), items }
}

const ORDER = ['none', 'restart', 'outage', 'data-loss'] as const
const NONE = {
  restarts: 0,
  drains: 0,
  votesAway: 0,
  minutesAway: 0,
  minutes: 0,
  lost: [] as readonly string[],
} as const

function rank(worst: PlanDisruption['worst']): number {
  return ORDER.indexOf(worst)
}

/** Returns what will be done, also after a wait. */
function meantBy(action: Action): Doing | undefined {
  if (action.do === 'wait') return action.next
  return 'steps' in action ? action : undefined
}

function machineDisruption({ key, type, action }: PlanEntry): readonly Disruption[] {
  const doing = meantBy(action)
  if (doing === undefined) return []
  if (isGuest(type) && doing.do === 'delete')
    return [{ ...NONE, subject: key, worst: 'data-loss', lost: [key], text: 'is deleted with its disks' }]
  if (isGuest(type) && doing.do === 'replace') {
    const minutesAway = MINUTES.remake
    const text = `is destroyed with its disks and created again, ${about(minutesAway)} away`
    return [
      { ...NONE, subject: key, worst: 'data-loss', restarts: 1, minutesAway, minutes: minutesAway, lost: [key], text },
    ]
  }
  const losing = doing.steps.filter(({ disruption }) => disruption === 'data-loss')
  if (losing.length > 0) {
    const text = `loses data: ${losing.map(({ summary }) => summary).join('; ')}`
    return [{ ...NONE, subject: key, worst: 'data-loss', lost: [key], text }]
  }
  const moved = isGuest(type) && 'changes' in doing ? doing.changes.filter(isOtherAddress) : []
  if (moved.length > 0) {
    const text = `gets another address: ${moved.map(({ from, to }) => `${bare(to)} instead of ${bare(from)}`).join(', ')}`
    return [{ ...NONE, subject: key, worst: 'outage', text }]
  }
  const restarts = restartsIn(doing.steps)
  if (restarts === 0) return []
  if (staysOff(doing.steps)) return [{ ...NONE, subject: key, worst: 'outage', text: 'is shut down and stays off' }]
  const minutesAway = restarts * MINUTES.restart
  const text = `restarts${restarts === 1 ? '' : ` ${restarts} times`}, ${about(minutesAway)} away`
  return [{ ...NONE, subject: key, worst: 'restart', restarts, minutesAway, minutes: minutesAway, text }]
}

/** A changed address: all clients of the old one lose the machine. */
function isOtherAddress({ path, from, to }: Change): boolean {
  const isAddress = /^(?:nics\.\w+\.v[46]|cloudInit\.addresses\.\d+)$/.test(path)
  return isAddress && isIP(bare(from)) !== 0 && bare(from) !== bare(to)
}

/** Returns `192.168.4.9` of `192.168.4.9/24` and of `ip=192.168.4.9/24,gw=192.168.4.1`. */
function bare(setting: unknown): string {
  return String(setting).replace(/^ip=/, '').split(/[/,]/)[0] ?? ''
}

/** Reports whether the steps end with a shutdown. */
function staysOff(steps: readonly Step[]): boolean {
  return steps.at(-1)?.verb === 'shutdown' || steps.at(-1)?.verb === 'stop'
}

/** Counts restarts: a shutdown and the following start are one. */
function restartsIn(steps: readonly Step[]): number {
  const restarting = steps.filter(({ disruption }) => disruption === 'restart')
  const down = restarting.filter(({ verb }) => ['shutdown', 'stop', 'reboot'].includes(verb)).length
  return restarting.length === 0 ? 0 : Math.max(1, down)
}

/** Returns the disruption of a cluster until it is as declared, not only by its next steps. */
function clusterDisruption(look: ClusterPlan): readonly Disruption[] {
  const { declaration, decision, observed } = look
  const nodes = forecast(look)
  const wiped = new Set(
    decision.steps.flatMap(({ destroys, node }) => (destroys !== undefined && node !== undefined ? [node] : [])),
  )
  for (const { name, becomes } of nodes) if (becomes === 'replaced' || becomes === 'leaves') wiped.add(name)
  const restarted = nodes.filter(
    ({ name, becomes, runsOn }) => becomes === 'changes' && runsOn !== true && !wiped.has(name),
  )
  const emptied = nodes.filter(({ name, evicts }) => evicts === true && !wiped.has(name)).map(({ name }) => name)
  const touching = new Set(
    decision.steps.flatMap(({ verb, node }) => (RESTARTING.has(verb) && node !== undefined ? [node] : [])),
  )
  for (const { name } of restarted) touching.add(name)
  for (const name of wiped) touching.delete(name)
  if (wiped.size + touching.size + emptied.length === 0) return []
  const drains = (observed.api === 'yes' ? wiped.size + touching.size : 0) + emptied.length
  const voters = observed.members === 'unknown' ? declaration.spec.servers.length : votersIn(observed.members)
  const roleOf = new Map(nodes.map(({ name, role }) => [name, role]))
  const servers = [...wiped, ...touching].filter((name) => roleOf.get(name) === 'server').length
  const votesAway = servers === 0 || voters === 0 ? 0 : 1
  // With one vote away at a time, one or two voters have no majority meanwhile. A server that answers without voters
  // uses SQLite: it is the only one.
  const stops =
    voters === 0
      ? servers > 0 && observed.api === 'yes'
      : voters - votesAway < Math.floor(voters / 2) + 1 && votesAway > 0
  // Every hop between releases touches every node once.
  const touches = touching.size * Math.max(1, decision.hops.length)
  const minutesAway =
    touches * MINUTES.drainAndRestart + emptied.length * MINUTES.evict + wiped.size * (MINUTES.wipe + MINUTES.remake)
  const soakMinutes = Math.ceil(declaration.spec.upgrade.soakMs / 60_000)
  const between = Math.max(0, touches + emptied.length - 1)
  // A rollout first waits until new or changed nodes have been healthy for the soak.
  const before = decision.waits.some(({ soak }) => soak === true) ? 1 : 0
  const minutes = minutesAway + (before + between) * soakMinutes
  const parts = [
    wiped.size === 0 ? '' : `${count(wiped.size, 'node')} wiped (${names(wiped)})`,
    touching.size === 0 ? '' : drained(touching.size, between === 0 ? 0 : soakMinutes),
    emptied.length === 0
      ? ''
      : `${count(emptied.length, 'node')} (${names(new Set(emptied))}) emptied of the pods that do not tolerate a new NoExecute taint${emptied.length === 1 ? '' : ', one after the other'}`,
    votesAway === 0 ? '' : `${votesAway} of ${count(voters, 'vote')} away at a time`,
    stops ? 'its API stops meanwhile' : '',
    `${about(minutes)} in all`,
  ]
  return [
    {
      subject: declaration.key,
      worst: wiped.size > 0 ? 'data-loss' : stops ? 'outage' : 'restart',
      restarts: touching.size,
      drains,
      votesAway,
      minutesAway,
      minutes,
      lost: [...wiped],
      text: parts.filter((part) => part !== '').join(', '),
    },
  ]
}

function drained(nodes: number, soakMinutes: number): string {
  const soak = soakMinutes === 0 ? '' : ` with ${soakMinutes} min of soak between them`
  return `${count(nodes, 'node')} drained and restarted${nodes === 1 ? '' : `, one after the other${soak}`}`
}

const RESTARTING = wordSet(
  'stop-machine restart-machine stop-k3s restart-k3s rewrite-k3s upgrade-k3s configure-k3s cordon drain',
)

function votersIn(members: readonly { readonly learner: boolean }[]): number {
  return members.filter(({ learner }) => !learner).length
}

/** Counts nodes that lose their data and whose machines no entry deletes or recreates. */
function destroyed(plan: Plan, clusters: readonly Disruption[]): number {
  const going = new Set(
    plan.entries.flatMap(({ key, action }) => {
      const doing = meantBy(action)
      return doing?.do === 'delete' || doing?.do === 'replace' ? [key] : []
    }),
  )
  return (plan.clusters ?? []).reduce((sum, { declaration }) => {
    const lost = clusters.find(({ subject }) => subject === declaration.key)?.lost ?? []
    const keyOf = new Map(
      [...declaration.spec.servers, ...declaration.spec.agents].map(({ name, machine }) => [
        name,
        'key' in machine ? machine.key : undefined,
      ]),
    )
    return sum + lost.filter((name) => !going.has(keyOf.get(name) ?? '') && !leavesWith(name, going)).length
  }, 0)
}

/** The machine of an undeclared node has the node's name. */
function leavesWith(name: string, going: ReadonlySet<string>): boolean {
  return [...going].some((key) => key.endsWith(`/${name}`))
}

function about(minutes: number): string {
  return `about ${minutes} min`
}

function count(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : `${noun}s`}`
}

function names(all: ReadonlySet<string>): string {
  const some = [...all].slice(0, 5)
  return `${some.join(', ')}${all.size > some.length ? ` and ${all.size - some.length} more` : ''}`
}
