import { integerBetween, type Random, seededRandom } from '../../../lib/random.ts'
import type { ClusterSpec } from '../../../model/cluster.ts'
import { type ClusterDecision, NO_REQUESTS, type ObservedCluster } from '../../../model/observed-cluster.ts'
import { standingOrders } from '../orders.ts'
import { remediationsOver } from '../remediation-over.ts'
import { clusterSpec, MINUTE, NOW } from './fixture.ts'
import { observe } from './observe.ts'
import { boot, pass, perform, TICK_MS, votersUp, type World } from './world.ts'

export type Coordinate = (spec: ClusterSpec, observed: ObservedCluster, nowMs: number) => ClusterDecision

export interface WalkOptions {
  readonly unkindTicks?: number
  /** The probability that a single fact is unknown. */
  readonly doubt?: number
  /** Continue without faults until everything is as declared. */
  readonly settle?: boolean
}

export interface Walk {
  readonly breaches: readonly string[]
  /** Undefined once it settled. */
  readonly unsettled: string | undefined
  readonly steps: number
  readonly log: readonly string[]
}

const VERSIONS = ['v1.33.6+k3s1', 'v1.33.10+k3s1', 'v1.34.3+k3s1', 'v1.34.4+k3s1', 'v1.35.1+k3s1']
const SETTLE_TICKS = 900
/** After everything is as declared, croft must do nothing for this long. */
const QUIET_TICKS = 20
/** Guards that advise to replace the node. */
const ADVICE = ['halted', 'somebody-at-work', 'unreachable']

/** Runs one life of a cluster from one seed: it forms, suffers faults for a while, then recovers. */
export function walk(coordinate: Coordinate, seed: number, how: WalkOptions = {}): Walk {
  const { unkindTicks = 60, doubt = 0.05, settle = true } = how
  const random = seededRandom(seed)
  const world = newWorld(random)
  let steps = 0
  for (let tick = 0; tick < unkindTicks && world.breaches.length === 0; tick++) {
    if (tick > 8) trouble(world, random)
    steps += turn(world, coordinate, random, doubt, 0.15)
  }
  if (!settle) return { breaches: world.breaches, unsettled: undefined, steps, log: world.log }
  mend(world, random)
  let quiet = 0
  for (let tick = 0; tick < SETTLE_TICKS && quiet < QUIET_TICKS && world.breaches.length === 0; tick++) {
    const done = turn(world, coordinate, random, 0, 0)
    steps += done
    quiet = done === 0 && isSettled(world) ? quiet + 1 : 0
    if (tick % 40 === 39) takeAdvice(world, coordinate, random)
  }
  const unsettled = quiet >= QUIET_TICKS || world.breaches.length > 0 ? undefined : why(world, coordinate, random)
  return { breaches: world.breaches, unsettled, steps, log: world.log }
}

/** One observation, one decision and its steps; each step may be lost. */
function turn(world: World, coordinate: Coordinate, random: Random, doubt: number, loss: number): number {
  const observed = observe(world, random, doubt)
  const decision = coordinate(world.spec, observed, world.nowMs)
  // Recorded before any effect, as the engine does.
  for (const name of remediationsOver(world.remediated, observed)) {
    const begun = world.remediated.get(name)
    if (begun !== undefined) world.remediated.set(name, { ...begun, over: true })
  }
  world.requests = { ...world.requests, replace: standingOrders(world.requests.replace, observed) }
  let done = 0
  for (const step of decision.steps) {
    if (random.next() < loss) continue
    perform(world, step, random)
    note(world, `${step.verb} ${step.node ?? ''} ${step.version ?? step.purpose ?? ''}`)
    done += 1
  }
  pass(world, random)
  return done
}

function note(world: World, what: string): void {
  const minutes = ((world.nowMs - NOW) / MINUTE).toFixed(1)
  const { up, voters } = votersUp(world)
  world.log.push(`${minutes} min  ${up}/${voters} up  ${what.trim()}`)
}

function newWorld(random: Random): World {
  const names = random.next() < 0.7 ? 's1 s2 s3 a1 a2' : 's1 s2 s3 s4 s5 a1'
  return {
    nowMs: NOW,
    spec: specOf(names, VERSIONS[integerBetween(random, 0, 2)] ?? '', random),
    machines: new Map(),
    members: [],
    kubes: new Map(),
    secrets: new Set(),
    tried: new Map(),
    identity: undefined,
    requests: NO_REQUESTS,
    snapshots: [],
    remediated: new Map(),
    byPerson: new Set(),
    downByCroft: new Set(),
    counter: 1,
    breaches: [],
    log: [],
  }
}

function specOf(names: string, version: string, random: Random): ClusterSpec {
  const base = clusterSpec(names, { version })
  return {
    ...base,
    allow: { degraded: true, interruption: false },
    remediation: { ...base.remediation, pauseMs: 5 * MINUTE, deadAfterMs: 3 * MINUTE },
    upgrade: {
      ...base.upgrade,
      method: random.next() < 0.8 ? 'inPlace' : 'replace',
      soakMs: MINUTE,
      nodeTimeoutMs: 5 * MINUTE,
      drain: { timeoutMs: 3 * MINUTE, onTimeout: random.next() < 0.5 ? 'wait' : 'force' },
    },
  }
}

/** Changes by people and faults. */
function trouble(world: World, random: Random): void {
  if (random.next() > 0.25) return
  const names = [...world.machines.keys()]
  const name = names[integerBetween(random, 0, names.length - 1)] ?? ''
  const machine = world.machines.get(name)
  const kind = random.next()
  if (kind < 0.3 && machine?.on === true) {
    machine.on = false
    note(world, `! power of ${name} lost`)
  } else if (kind < 0.45 && machine?.on === false) {
    boot(world, machine, random)
    note(world, `! power of ${name} back`)
  } else if (kind < 0.6 && machine?.service === 'running') {
    Object.assign(machine, { service: 'failed', sinceMs: world.nowMs })
    note(world, `! K3s of ${name} died`)
  } else if (kind < 0.68 && machine !== undefined && mayBeLost(world, name)) {
    if (random.next() < 0.5) machine.hung = true
    else world.machines.delete(name)
    note(world, `! ${name} ${machine.hung ? 'hangs' : 'was deleted by a person'}`)
  } else if (kind < 0.76) person(world, name, random)
  else if (kind < 0.84 && machine !== undefined) {
    machine.wants = 'memory'
    note(world, `! Git: more memory for ${name}`)
  } else change(world, random)
}

/** Reports whether losing this node for good leaves the others able to work. */
function mayBeLost(world: World, name: string): boolean {
  const { up, voters } = votersUp(world)
  const hung = [...world.machines.values()].some((machine) => machine.hung)
  return (
    !hung && up === voters && voters >= 3 && world.members.every(({ learner }) => !learner) && world.kubes.has(name)
  )
}

function person(world: World, name: string, random: Random): void {
  const kube = world.kubes.get(name)
  const choice = random.next()
  if (choice < 0.4 && kube !== undefined && !kube.unschedulable && kube.ready) {
    kube.unschedulable = true
    world.byPerson.add(name)
    note(world, `! a person cordons ${name}`)
  } else if (choice < 0.8) {
    world.requests = { ...world.requests, replace: [{ node: name, atMs: world.nowMs, goes: 'unseen' }] }
    note(world, `! a person wants ${name} replaced`)
  } else {
    world.requests = { ...world.requests, rolloutPaused: !world.requests.rolloutPaused }
    note(world, `! a person ${world.requests.rolloutPaused ? 'pauses' : 'resumes'}`)
  }
}

/** Another commit: a newer release, replaced or added servers, other agents. */
function change(world: World, random: Random): void {
  const { spec } = world
  const names = [...spec.servers, ...spec.agents].map(({ name }) => name)
  const free = ['s1', 's2', 's3', 's4', 's5', 's6', 's7'].filter((name) => !names.includes(name))
  const choice = random.next()
  const [from = '', to = ''] = [spec.servers[integerBetween(random, 0, spec.servers.length - 1)]?.name, free[0]]
  let next = names
  let { version } = spec
  if (choice < 0.4) version = VERSIONS[Math.min(VERSIONS.length - 1, VERSIONS.indexOf(version) + 1)] ?? version
  else if (choice < 0.6 && to !== '') next = names.map((name) => (name === from ? to : name))
  else if (choice < 0.75 && spec.servers.length === 3) next = [...names, ...free.slice(0, 2)]
  else if (choice < 0.85 && spec.servers.length === 5)
    next = names.filter((name) => name !== from && name !== spec.servers[0]?.name)
  else next = names.includes('a9') ? names.filter((name) => name !== 'a9') : [...names, 'a9']
  const servers = next.filter((name) => name.startsWith('s')).length
  if (servers % 2 === 0) return
  world.spec = { ...specOf(next.join(' '), version, random), upgrade: spec.upgrade }
  note(world, `! Git: ${next.join(' ')} ${version}`)
}

/** A person follows a halted rollout's advice: resume, or replace the lost node. */
function takeAdvice(world: World, coordinate: Coordinate, random: Random): void {
  const { holds } = coordinate(world.spec, observe(world, random, 0), world.nowMs)
  const lost = holds.flatMap(({ guard, node }) => (ADVICE.includes(guard) && node !== undefined ? [node] : []))
  const stands = world.requests.replace.filter(({ node }) => !lost.includes(node))
  const replace = [...stands, ...lost.map((node) => ({ node, atMs: world.nowMs, goes: 'unseen' as const }))]
  world.requests = { ...world.requests, replace, resumedMs: world.nowMs }
  for (const node of lost) note(world, `! a person has ${node} replaced, as advised`)
}

/** Ends all faults. A person's orders stay, and paused work may resume. */
function mend(world: World, random: Random): void {
  for (const machine of world.machines.values()) {
    if (!machine.on) boot(world, machine, random)
    if (!machine.hung && machine.service === 'failed')
      Object.assign(machine, { service: 'starting', sinceMs: world.nowMs })
  }
  world.requests = { ...world.requests, rolloutPaused: false, resumedMs: world.nowMs }
  note(world, '! the world is kind from here')
}

function isSettled(world: World): boolean {
  const { spec } = world
  const names = [...spec.servers, ...spec.agents].map(({ name }) => name)
  const { up, voters } = votersUp(world)
  return (
    names.every((name) => world.machines.get(name)?.wants === undefined) &&
    names.every((name) => world.kubes.get(name)?.ready === true && world.kubes.get(name)?.version === spec.version) &&
    [...world.kubes.keys(), ...world.machines.keys()].every((name) => names.includes(name)) &&
    [...world.kubes.values()].every(({ work }) => work === undefined) &&
    [...world.kubes].every(([name, { unschedulable }]) => unschedulable === world.byPerson.has(name)) &&
    up === voters &&
    voters === spec.servers.length
  )
}

function why(world: World, coordinate: Coordinate, random: Random): string {
  const decision = coordinate(world.spec, observe(world, random, 0), world.nowMs)
  const told = [...decision.steps.map((step) => step.summary), ...decision.waits.map((wait) => wait.awaits)]
  const guards = [...decision.holds, ...decision.refusals].map(({ guard, reason }) => `${guard}: ${reason}`)
  const ticks = Math.round((world.nowMs - NOW) / TICK_MS)
  return `not settled after ${ticks} ticks, ${decision.phase}: ${[...told, ...guards].join('; ')}`
}
