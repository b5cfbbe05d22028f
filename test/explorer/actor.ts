// croft as it is shipped: its look at nodes and API, its judgement of them, its planner and its steps. Only the machines
// are the model's own.
import type { ClusterSurroundings, NodeReach } from '../../src/drivers/cluster-port.ts'
import { performStep } from '../../src/drivers/k3s/driver.ts'
import { emptyMemory, noteTried, type SessionMemory } from '../../src/drivers/k3s/memory.ts'
import { observeCluster } from '../../src/drivers/k3s/observe.ts'
import type { ClusterSecrets, ClusterSpec, NodeSpec } from '../../src/model/cluster.ts'
import type { ClusterDeclaration } from '../../src/model/estate.ts'
import {
  type ClusterDecision,
  NO_REQUESTS,
  type ObservedCluster,
  type ObservedMachine,
  type ReplaceOrder,
} from '../../src/model/observed-cluster.ts'
import { Secret } from '../../src/model/secret.ts'
import type { Step } from '../../src/model/step.ts'
import { coordinate } from '../../src/plan/clusters/coordinate.ts'
import { standingOrders } from '../../src/plan/clusters/orders.ts'
import { remediationsOver } from '../../src/plan/clusters/remediation-over.ts'
import { clusterSpec, MINUTE } from '../../src/plan/clusters/testing/fixture.ts'
import { addressOf, modelAccess } from './api.ts'
import { Crashed, createEffects, type Effect, type Effects, type PassFault } from './effects.ts'
import { nodeShell } from './node-shell.ts'
import { operates } from './operate.ts'
import { boot, type Git, type NodeState, newNode, OUR_CA, powerOff, type Recorded, type World } from './world.ts'

export interface State {
  readonly world: World
  /** What croft remembers until it dies. */
  readonly memory: SessionMemory
  /** Passes in a row in which nothing happened. */
  readonly quiet: number
}

/** Replaces a judgement of the product by another one, to see that the explorer finds what is wrong with it. */
export type Planted = (observed: ObservedCluster, state: State) => ObservedCluster

export interface PassResult {
  readonly state: State
  readonly observed: ObservedCluster
  readonly decision: ClusterDecision
  readonly effects: readonly Effect[]
}

export const CLUSTER = 'homelab'

/** One pass: croft looks, decides and does all that it decided, up to its death if that comes before. */
export async function croftPasses(before: State, fault?: PassFault, planted?: Planted): Promise<PassResult> {
  const world = structuredClone(before.world)
  const memory = cloneMemory(before.memory)
  const effects = createEffects(world, fault)
  const declaration = declarationOf(world.git)
  const deps = depsOf(world, effects)
  const access = modelAccess(world, effects)
  const looker = { declaration, deps, access, memory }
  const surroundings = surroundingsOf(world, effects)
  const signal = new AbortController().signal
  const seen = await observeCluster(looker, surroundings, signal)
  const observed = planted === undefined ? seen : planted(seen, { ...before, world, memory })
  const decision = coordinate(declaration.spec, observed, world.nowMs)
  let died = false
  try {
    if (world.command !== undefined)
      await operates(
        { world, effects, deps, declaration, surroundings: () => surroundingsOf(world, effects) },
        observed,
      )
    else {
      note(world, observed, decision)
      for (const step of decision.steps) await perform(step)
    }
  } catch (error) {
    if (!(error instanceof Crashed)) throw error
    died = true
  }
  if (fault !== undefined && 'crashAfter' in fault) died = true
  const quiet = effects.done.length > 0 || died ? 0 : before.quiet + 1
  return { state: { world, memory: died ? emptyMemory() : memory, quiet }, observed, decision, effects: effects.done }

  async function perform(step: Step<'cluster'>): Promise<void> {
    if (onMachine(world, step, effects)) return
    const secrets = secretsOf(world)
    const outcome = await performStep({ ...looker, step, surroundings, signal, secrets }).catch((error: unknown) => {
      if (error instanceof Crashed) throw error
      return { result: 'unclear' as const, message: String(error) }
    })
    if (step.node !== undefined && outcome.result === 'done') noteTried(memory, step.node, step.verb)
  }
}

/** What the engine writes down before anything is done in a pass. */
function note(world: World, observed: ObservedCluster, decision: ClusterDecision): void {
  const begun = new Map(Object.entries(world.remediations))
  for (const name of remediationsOver(begun, observed)) {
    const one = world.remediations[name]
    if (one !== undefined) world.remediations[name] = { ...one, over: true }
  }
  world.orders = [...standingOrders(world.orders as readonly ReplaceOrder[], observed)] as World['orders']
  for (const { purpose, node } of decision.steps)
    if (purpose === 'remediate' && node !== undefined) world.remediations[node] = { atMs: world.nowMs }
}

/** Steps that the hypervisor carries out. Reports whether this is one. */
function onMachine(world: World, { verb, node: name = '' }: Step<'cluster'>, effects: Effects): boolean {
  const node = world.nodes[name]
  const carry = (change: () => void, forbids?: () => string | undefined) =>
    void effects.carry(`${verb} ${name}`, change, forbids)
  switch (verb) {
    case 'create-machine':
      carry(() => {
        if (node?.exists !== true) world.nodes[name] = newNode(name, world.nowMs, node)
      })
      return true
    case 'start-machine':
      carry(() => node !== undefined && !node.on && boot(world, node))
      return true
    case 'stop-machine':
      carry(() => node !== undefined && powerOff(node))
      return true
    case 'restart-machine':
      carry(() => {
        if (node === undefined) return
        powerOff(node)
        boot(world, node)
      })
      return true
    case 'destroy-machine': {
      const ordered = world.orders.some((order) => order.node === name)
      const declared = world.git.names.split(' ').includes(name)
      const lost = node?.storage === true && declared && !ordered && !world.git.dataMayGo
      carry(
        () => node !== undefined && gone(node),
        () => (lost ? `the machine of ${name} is destroyed with its volumes, and nobody said so` : undefined),
      )
      return true
    }
    default:
      return false
  }
}

function gone(node: NodeState): void {
  powerOff(node)
  Object.assign(node, {
    ...newNode(node.name, 0, undefined),
    exists: false,
    on: false,
    birth: node.birth,
    joins: node.joins,
  })
}

function surroundingsOf(world: World, effects: Effects): ClusterSurroundings {
  const declared = new Set(world.git.names.split(' '))
  const names = new Set([
    ...declared,
    ...Object.values(world.nodes).flatMap(({ exists, name }) => (exists ? [name] : [])),
  ])
  const nodes = new Map<string, NodeReach>()
  for (const name of names) {
    const node = world.nodes[name]
    const machine: ObservedMachine =
      node?.exists === true
        ? { exists: 'yes', power: node.on ? 'on' : 'off', ours: true, createdMs: node.createdMs }
        : { exists: 'no', power: 'off', ours: true }
    const shell = node?.exists === true && node.on ? nodeShell(world, node, effects) : undefined
    nodes.set(name, { machine, lane: 'agent', ...(shell === undefined ? {} : { shell }) })
  }
  const requests = {
    ...NO_REQUESTS,
    ...(world.hold === undefined ? {} : { hold: world.hold }),
    replace: world.orders as readonly ReplaceOrder[],
    removeMembers: world.removeMembers,
    ...(world.resumedMs === undefined ? {} : { resumedMs: world.resumedMs }),
  }
  return { nodes, requests, remediations: new Map(Object.entries(world.remediations)) }
}

function depsOf(world: World, effects: Effects) {
  const unused = () => {
    throw new Error('the model has nothing for this')
  }
  return {
    clock: { now: () => world.nowMs, monotonicMs: () => world.nowMs, sleep: async () => {} },
    vault: {
      read: async () => secretsOf(world),
      write: async (secrets: ClusterSecrets) => {
        const arrives = effects.carry('record', () => {
          world.record = recordOf(secrets)
        })
        if (!arrives) throw new Error('the vault did not answer')
      },
    },
    randomBytes: (count: number) => new Uint8Array(count).fill(world.rotations),
    openKubernetes: unused,
    resolveSecret: unused,
  }
}

function secretsOf({ record }: World): ClusterSecrets | undefined {
  if (record === undefined) return undefined
  return {
    cluster: CLUSTER,
    caHash: OUR_CA,
    firstServer: record.firstServer,
    formed: record.formed,
    recordedMs: record.recordedMs,
    files: new Map([['server-ca.crt', new Secret('certificate')]]),
    password: new Secret(record.password),
    ...(record.pending === undefined ? {} : { pendingPassword: new Secret(record.pending) }),
    formerPasswords: record.former.map((text) => new Secret(text)),
  }
}

function recordOf(secrets: ClusterSecrets): Recorded {
  const { firstServer, formed, recordedMs, password, pendingPassword, formerPasswords } = secrets
  return {
    ...(pendingPassword === undefined ? {} : { pending: pendingPassword.reveal() }),
    firstServer,
    formed,
    recordedMs,
    password: password.reveal(),
    former: formerPasswords.map((one) => one.reveal()),
  }
}

const declarations = new Map<string, ClusterDeclaration>()

/** The same object for the same words, as hashes of configurations are kept by the object. */
export function declarationOf(git: Git): ClusterDeclaration {
  const key = JSON.stringify(git)
  const known = declarations.get(key)
  if (known !== undefined) return known
  const spec = specOf(git)
  const checksums = { [`${git.version}/amd64`]: 'f'.repeat(64), 'v1.34.3+k3s1/amd64': 'e'.repeat(64) }
  const declaration = {
    key: `Cluster/${CLUSTER}`,
    name: CLUSTER,
    estate: 'home',
    spec,
    artifacts: [{ release: true }],
    checksums,
    hosts: new Map(),
    generation: key,
  } as unknown as ClusterDeclaration
  declarations.set(key, declaration)
  return declaration
}

function specOf(git: Git): ClusterSpec {
  const { names, version, flag, dataMayGo, method, staleState = 'refuse', turned = '', onTimeout = 'wait' } = git
  const base = clusterSpec(names)
  const { labelled, mirror } = git
  const nodes = [...base.servers, ...base.agents].map((node): NodeSpec => {
    const isTurned = turned.split(' ').includes(node.name)
    const role = (node.role === 'server') === isTurned ? 'agent' : 'server'
    const words = labelled === undefined || role === 'server' ? [] : [labelled]
    return {
      ...node,
      role,
      nodeIps: [addressOf(node.name)],
      labels: Object.fromEntries(words.map((word) => ['example.org/for', word])),
      taints: words.map((word) => `example.org/for=${word}:NoSchedule`),
    }
  })
  return {
    ...base,
    version,
    staleState,
    allow: { ...base.allow, interruption: git.interruption === true },
    servers: nodes.filter(({ role }) => role === 'server'),
    agents: nodes.filter(({ role }) => role === 'agent'),
    ...(mirror === true ? { registries: { mirrors: { 'docker.io': { endpoint: ['https://mirror.example'] } } } } : {}),
    nodeFlags: flag === '' ? {} : { 'kubelet-arg': [flag] },
    upgrade: { ...base.upgrade, method, soakMs: MINUTE, drain: { ...base.upgrade.drain, onTimeout } },
    remediation: { ...base.remediation, pauseMs: 5 * MINUTE, dataMayGo },
  }
}

/** Croft changes what it remembers in place: a state shares none of it with another one. */
function cloneMemory(memory: SessionMemory): SessionMemory {
  const times: SessionMemory['times'] = new Map([...memory.times].map(([name, time]) => [name, { ...time }]))
  const copied = Object.entries(memory).map(([key, value]) => [
    key,
    value instanceof Map ? new Map(value) : value instanceof Set ? new Set(value) : value,
  ])
  return { ...(Object.fromEntries(copied) as SessionMemory), times }
}
