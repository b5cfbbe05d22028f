// An abstract K3s cluster for the random walk: machines, disks, etcd members, Nodes. Small, but with the real dangers:
// quorum, learners, duplicate names, node passwords, servers that rejoin at their start.
import { majority } from '../../../lib/majority.ts'
import { integerBetween, type Random } from '../../../lib/random.ts'
import type { ClusterSpec } from '../../../model/cluster.ts'
import {
  type ClusterRequests,
  FETCH_BESIDE,
  type NodeWork,
  PUT_BACK,
  type Remediation,
} from '../../../model/observed-cluster.ts'
import type { ClusterVerb, Step } from '../../../model/step.ts'
import { refusesAdd, refusesRemove } from '../etcd-rules.ts'
import { CA } from './fixture.ts'

export interface Machine {
  on: boolean
  hung: boolean
  createdMs: number
  bootedMs: number
  data: string
  /** The etcd member of this disk. */
  member: string | undefined
  version: string
  fetched?: string
  service: 'absent' | 'stopped' | 'starting' | 'running' | 'failed'
  sinceMs: number
  password: number
  /** A change of its declaration that waits for a restart. */
  wants?: string | undefined
}

export interface Member {
  readonly id: string
  readonly node: string
  learner: boolean
}

export interface Kube {
  createdMs: number
  ready: boolean
  readySinceMs: number
  version: string
  unschedulable: boolean
  work: NodeWork | undefined
  changedMs: number | undefined
  pods: number
  password: number
}

export interface World {
  nowMs: number
  spec: ClusterSpec
  machines: Map<string, Machine>
  members: Member[]
  kubes: Map<string, Kube>
  secrets: Set<string>
  /** Steps that were done on a node since its Node was last Ready. */
  tried: Map<string, ClusterVerb[]>
  identity: { caHash: string; firstServer: string; formed: boolean; recordedMs: number } | undefined
  requests: ClusterRequests
  snapshots: { readonly atMs: number; readonly node: string }[]
  remediated: Map<string, Remediation>
  byPerson: Set<string>
  /** Servers that croft took down and that have not been up since. */
  downByCroft: Set<string>
  counter: number
  breaches: string[]
  log: string[]
}

export const TICK_MS = 30_000

export function isMemberUp(world: World, member: Member): boolean {
  const machine = world.machines.get(member.node)
  return machine?.on === true && !machine.hung && machine.service === 'running' && machine.member === member.id
}

export function votersUp(world: World): { readonly voters: number; readonly up: number; readonly held: boolean } {
  const voters = world.members.filter(({ learner }) => !learner)
  const up = voters.filter((member) => isMemberUp(world, member)).length
  return { voters: voters.length, up, held: voters.length > 0 && up >= majority(voters.length) }
}

/** Advances the time: services start, learners are promoted, Nodes register and turn unready. */
export function pass(world: World, random: Random): void {
  world.nowMs += TICK_MS
  for (const [name, machine] of world.machines) if (answers(world, machine)) serve(world, name, machine)
  const { held } = votersUp(world)
  if (held && world.identity !== undefined) world.identity.formed = true
  const learner = world.members.find((member) => member.learner)
  if (held && learner !== undefined && isMemberUp(world, learner)) learner.learner = false
  if (held) for (const [name, kube] of world.kubes) judge(world, name, kube, random)
  for (const { node } of world.members.filter((member) => isMemberUp(world, member))) world.downByCroft.delete(node)
}

export function answers(world: World, machine: Machine): boolean {
  return machine.on && !machine.hung && machine.bootedMs <= world.nowMs
}

function isServer(name: string): boolean {
  return name.startsWith('s')
}

function serve(world: World, name: string, machine: Machine): void {
  if (machine.service === 'starting') start(world, name, machine)
  const { held } = votersUp(world)
  const inEtcd = world.members.find(({ id }) => id === machine.member)
  const votes = inEtcd !== undefined && !inEtcd.learner
  if (machine.service !== 'running' || !held || (isServer(name) && !votes)) return
  const kube = world.kubes.get(name)
  if (kube !== undefined) {
    kube.version = machine.version
    return
  }
  world.secrets.add(name)
  world.tried.delete(name)
  world.kubes.set(name, {
    createdMs: world.nowMs,
    ready: true,
    readySinceMs: world.nowMs,
    version: machine.version,
    unschedulable: false,
    work: undefined,
    changedMs: undefined,
    pods: 0,
    password: machine.password,
  })
}

/** Starts K3s according to the data on its disk. */
function start(world: World, name: string, machine: Machine): void {
  const { held, voters, up } = votersUp(world)
  if (!isServer(name)) {
    if (!held) return
    const kube = world.kubes.get(name)
    const rejected = world.secrets.has(name) && kube?.password !== machine.password
    if (!rejected) run(world, machine)
    return
  }
  const known = world.members.some(({ id }) => id === machine.member)
  if (machine.data !== 'none' && known) {
    run(world, machine)
    return
  }
  // It is empty, or was removed as a member: both join, the second one unasked.
  if (!held) return
  if (world.members.some(({ node }) => node === name)) {
    machine.service = 'failed'
    machine.sinceMs = world.nowMs
    return
  }
  const learners = world.members.filter(({ learner }) => learner).length
  if (refusesAdd({ voters, connected: up, learners, etcd: undefined }) !== undefined) return
  const id = `m${world.counter++}`
  world.members.push({ id, node: name, learner: true })
  machine.member = id
  machine.data = CA
  run(world, machine)
}

function run(world: World, machine: Machine): void {
  machine.service = 'running'
  machine.sinceMs = world.nowMs
}

function judge(world: World, name: string, kube: Kube, random: Random): void {
  const machine = world.machines.get(name)
  const alive = machine !== undefined && answers(world, machine) && machine.service === 'running'
  if (alive && !kube.ready) setReady(world, name, kube, true)
  // The control plane notices a silence only after a while.
  if (!alive && kube.ready && random.next() < 0.6) setReady(world, name, kube, false)
  if (kube.ready && !kube.unschedulable && kube.pods < 3) kube.pods += integerBetween(random, 0, 1)
}

function setReady(world: World, name: string, kube: Kube, ready: boolean): void {
  if (ready) world.tried.delete(name)
  kube.ready = ready
  kube.readySinceMs = world.nowMs
}

/** Performs a step like the real one: without the API, or against etcd's rules, it has no effect. */
export function perform(world: World, step: Step<'cluster'>, random: Random): void {
  const before = votersUp(world)
  const name = step.node ?? ''
  inspect(world, step)
  act(world, step, name, before, random)
  world.tried.set(name, [...(world.tried.get(name) ?? []), step.verb])
  const after = votersUp(world)
  if (before.held && !after.held)
    breach(world, `${step.verb} ${name} took etcd from ${before.up} to ${after.up} of ${after.voters} voters`)
  for (const person of world.byPerson) {
    if (world.kubes.get(person)?.unschedulable === false)
      breach(world, `${step.verb} ${name} undid the cordon of a person on ${person}`)
  }
  if (world.downByCroft.size > 1) breach(world, `two servers are down by our hand: ${[...world.downByCroft].join(' ')}`)
}

export function breach(world: World, message: string): void {
  world.breaches.push(message)
}

/** Checks the preconditions of a step. */
function inspect(world: World, step: Step<'cluster'>): void {
  if (step.verb === 'upgrade-k3s') {
    const { fetched, version } = world.machines.get(step.node ?? '') ?? {}
    if (fetched !== step.version && version !== step.version)
      breach(world, `${step.node} was drained without its program`)
  }
  const kube = world.kubes.get(step.node ?? '')
  const member = world.members.find(({ id }) => id === step.member)
  if (step.verb === 'remove-member' && member !== undefined && isMemberUp(world, member)) {
    if (kube?.ready === true && kube.pods > 0) breach(world, `member of ${member.node} removed before it was drained`)
  }
  const takesDown = ['stop-k3s', 'stop-machine', 'restart-machine', 'upgrade-k3s', 'configure-k3s'].includes(step.verb)
  if (takesDown && kube?.ready === true && kube.pods > 0 && kube.work?.changedMs === undefined) {
    breach(world, `${step.verb} of ${step.node} before it was drained`)
  }
  if (step.verb === 'destroy-machine' || step.verb === 'wipe-k3s') {
    const machine = world.machines.get(step.node ?? '')
    const votes = world.members.some(({ id, learner }) => id === machine?.member && !learner)
    if (votes) breach(world, `${step.verb} of ${step.node} while it holds a vote`)
  }
  if (
    step.verb === 'init-cluster' &&
    (world.members.length > 0 || [...world.machines.values()].some(({ data }) => data === CA))
  ) {
    breach(world, `a second cluster begun on ${step.node}`)
  }
  if (
    (step.verb === 'join-server' || step.verb === 'join-agent') &&
    world.machines.get(step.node ?? '')?.data !== 'none'
  ) {
    breach(world, `${step.node} joins with data on its disk`)
  }
}

function act(
  world: World,
  step: Step<'cluster'>,
  name: string,
  before: { readonly voters: number; readonly held: boolean },
  random: Random,
): void {
  const machine = world.machines.get(name)
  const kube = world.kubes.get(name)
  const reachable = machine !== undefined && answers(world, machine)
  const { held } = before
  switch (step.verb) {
    case 'record-first-server':
      world.identity ??= { caHash: CA, firstServer: name, formed: false, recordedMs: world.nowMs }
      return
    case 'note-formed':
      if (world.identity !== undefined) world.identity.formed = true
      return
    case 'delete-join-token':
      return
    case 'read-back-secrets':
      world.identity ??= { caHash: CA, firstServer: name, formed: true, recordedMs: world.nowMs }
      return
    case 'create-machine':
      if (machine === undefined) world.machines.set(name, newMachine(world, random))
      return
    case 'start-machine':
      if (machine !== undefined && !machine.on) boot(world, machine, random)
      return
    case 'stop-machine':
      if (machine === undefined) return
      noteDown(world, name)
      machine.on = false
      return
    case 'restart-machine':
      if (machine === undefined) return
      noteDown(world, name)
      machine.wants = undefined
      machine.on = false
      boot(world, machine, random)
      return
    case 'destroy-machine':
      world.machines.delete(name)
      world.downByCroft.delete(name)
      return
    case 'wipe-k3s':
      if (!reachable) return
      Object.assign(machine, {
        data: 'none',
        member: undefined,
        service: 'absent',
        sinceMs: world.nowMs,
        password: world.counter++,
      })
      return
    case 'prepare-k3s':
      if (reachable && step.target === FETCH_BESIDE && step.version !== undefined) machine.fetched = step.version
      else if (reachable && (machine.service === 'absent' || step.target === PUT_BACK))
        machine.version = step.version ?? machine.version
      return
    case 'init-cluster': {
      if (!reachable || machine.data !== 'none') return
      const id = `m${world.counter++}`
      world.members = [{ id, node: name, learner: false }]
      Object.assign(machine, { data: CA, member: id, version: step.version, service: 'running', sinceMs: world.nowMs })
      return
    }
    case 'join-server':
    case 'join-agent':
      if (!reachable) return
      Object.assign(machine, { version: step.version, service: 'starting', sinceMs: world.nowMs, data: CA })
      if (step.verb === 'join-server') machine.data = 'none'
      return
    case 'stop-k3s':
      if (!reachable) return
      noteDown(world, name)
      Object.assign(machine, { service: 'stopped', sinceMs: world.nowMs })
      return
    case 'restart-k3s':
    case 'rewrite-k3s':
      if (reachable) Object.assign(machine, { service: 'starting', sinceMs: world.nowMs })
      return
    case 'cordon':
      if (!held || kube === undefined) return
      kube.work = {
        purpose: step.purpose ?? 'upgrade',
        target: step.target ?? '',
        sinceMs: kube.work?.sinceMs ?? world.nowMs,
        cordoned: kube.work?.cordoned === true || !kube.unschedulable,
      }
      kube.unschedulable = true
      if (step.purpose === 'remediate') world.remediated.set(name, { atMs: world.nowMs })
      return
    case 'uncordon':
      if (!held || kube === undefined) return
      if (kube.work?.cordoned === true) kube.unschedulable = false
      kube.work = undefined
      return
    case 'drain':
      if (held && kube !== undefined && kube.pods > 0) kube.pods -= 1
      return
    case 'upgrade-k3s':
    case 'configure-k3s':
      if (!held || kube?.work === undefined) return
      kube.work = { ...kube.work, changedMs: world.nowMs }
      kube.changedMs = world.nowMs
      // A crash between the note and the effect.
      if (!reachable || random.next() < 0.1) return
      noteDown(world, name)
      Object.assign(machine, { version: step.version ?? machine.version, service: 'starting', sinceMs: world.nowMs })
      return
    case 'remove-member': {
      const member = world.members.find(({ id }) => id === step.member)
      if (!held || member === undefined) return
      const up = isMemberUp(world, member)
      const othersUp = world.members.filter(
        (other) => other !== member && !other.learner && isMemberUp(world, other),
      ).length
      if (!member.learner && refusesRemove({ voters: before.voters, othersUp, targetUp: up }) !== undefined) return
      world.members = world.members.filter((other) => other !== member)
      world.downByCroft.delete(member.node)
      return
    }
    case 'delete-node':
      if (!held) return
      world.kubes.delete(name)
      world.secrets.delete(name)
      world.byPerson.delete(name)
      world.downByCroft.delete(name)
      world.members = world.members.filter(({ node }) => node !== name)
      return
    case 'delete-node-password':
      if (held) world.secrets.delete(name)
      return
    case 'snapshot':
      if (held) world.snapshots.push({ atMs: world.nowMs, node: name })
      return
    case 'clear-removed-mark':
    case 'label-node':
    case 'put-files':
    case 'run-health-checks':
      return
  }
}

function noteDown(world: World, name: string): void {
  const member = world.members.find(({ node }) => node === name)
  if (member !== undefined && !member.learner && isMemberUp(world, member)) world.downByCroft.add(name)
}

export function newMachine(world: World, random: Random): Machine {
  return {
    on: true,
    hung: false,
    createdMs: world.nowMs,
    bootedMs: world.nowMs + TICK_MS * integerBetween(random, 0, 2),
    data: 'none',
    member: undefined,
    version: '',
    service: 'absent',
    sinceMs: world.nowMs,
    password: world.counter++,
  }
}

/** Boots a machine: it starts its installed K3s, even if that was stopped before. */
export function boot(world: World, machine: Machine, random: Random): void {
  machine.on = true
  machine.bootedMs = world.nowMs + TICK_MS * integerBetween(random, 0, 2)
  if (machine.service !== 'absent') Object.assign(machine, { service: 'starting', sinceMs: world.nowMs })
}
