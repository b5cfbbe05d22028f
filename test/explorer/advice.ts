import type { ClusterHold } from '../../src/model/observed-cluster.ts'
import { croftPasses, type PassResult, type Planted, type State } from './actor.ts'
import { isAsDeclared } from './invariants.ts'
import { troubles } from './moves.ts'
import { pass, type World, waitAfter } from './world.ts'

/** What a person does who reads the plan. */
interface Deed {
  readonly text: string
  happens(world: World): void
}

function deedsIn({ decision, state }: PassResult): readonly Deed[] {
  const said = [...decision.holds, ...decision.refusals]
  const named = said.flatMap(deedsOf)
  // The plan says what K3s answers: who reads of a flag that it does not know takes it back.
  return /no-such-flag/.test(state.world.git.flag) ? [...named, GIT_GOES_BACK] : named
}

const GIT_GOES_BACK: Deed = {
  text: 'takes the flag out of Git',
  happens: (world) => troubles['Git goes back'].happens(world, ''),
}

/** What the plan tells a person to do, by the words that it uses, and what comes of it in the world. */
const ADVICE: readonly {
  readonly words: RegExp
  readonly text: (about: string) => string
  readonly happens: (world: World, about: string) => void
}[] = [
  {
    words: /mount it and restart K3s/,
    text: (node) => `mounts the disk of ${node}`,
    happens: mount,
  },
  {
    words: /croft cluster remove-member \S+ (\S+?),/,
    text: (id) => `croft cluster remove-member ${id}`,
    happens: (world, id) => void world.removeMembers.push(id),
  },
  {
    words: /--resume/,
    text: () => 'croft cluster upgrade --resume',
    happens: (world) => void Object.assign(world, { resumedMs: world.nowMs }),
  },
  {
    words: /staleState: wipe/,
    text: () => 'Git: staleState: wipe',
    happens: (world) => void Object.assign(world, { git: { ...world.git, staleState: 'wipe' } }),
  },
  {
    words: /if it was interrupted, run it again/,
    text: () => 'croft cluster rotate token',
    happens: (world) => void Object.assign(world, { command: 'rotate token' }),
  },
  {
    words: /move (\S+) to etcd: write "cluster-init: true"/,
    text: (node) => `moves ${node} from SQLite to etcd`,
    happens: moveToEtcd,
  },
  {
    words: /allow\.interruption: true|interruption: true/,
    text: () => 'Git: allow.interruption: true',
    happens: (world) => void Object.assign(world, { git: { ...world.git, interruption: true } }),
  },
  {
    words: /a finalizer that nobody takes away/,
    text: (node) => `takes the finalizers off the pods of ${node}`,
    happens: (world, node) => void Object.assign(world, { pods: world.pods.filter((pod) => pod.node !== node) }),
  },
  {
    words: /(?:pin|declare) (v[\d.]+\+k3s\d+)/,
    text: (version) => `Git: version: ${version}`,
    happens: (world, version) => void Object.assign(world, { git: { ...world.git, version } }),
  },
  {
    words: /uncordon it/,
    text: (node) => `uncordons ${node}`,
    happens: uncordon,
  },
  {
    words: /croft cluster replace \S+ ([as]\d+)/,
    text: (node) => `croft cluster replace ${node}`,
    happens: (world, node) => void world.orders.push({ node, atMs: world.nowMs, goes: 'unseen' }),
  },
]

function deedsOf({ allow, node = '' }: ClusterHold): readonly Deed[] {
  return ADVICE.flatMap(({ words, text, happens }) => {
    const found = words.exec(allow)
    const about = found?.[1] ?? node
    return found === null ? [] : [{ text: text(about), happens: (world: World) => happens(world, about) }]
  })
}

function mount(world: World, name: string): void {
  const node = world.nodes[name]
  if (node === undefined) return
  Object.assign(node, { mounted: true, service: 'starting', sinceMs: world.nowMs, running: undefined })
}

/** K3s copies its data over at its next start. */
function moveToEtcd(world: World, name: string): void {
  const node = world.nodes[name]
  if (node === undefined) return
  const member = { id: `m-${name}`, name: `${name}-00000000`, node: name, learner: false }
  node.disk = { ...node.disk, etcd: { cluster: 'ours', member: member.id } }
  Object.assign(world, { datastore: 'etcd', members: [member] })
  Object.assign(node, { service: 'starting', sinceMs: world.nowMs, running: undefined })
}

function uncordon(world: World, name: string): void {
  const kube = world.kubes[name]
  if (kube !== undefined) kube.unschedulable = false
}

const MOST_PASSES = 150

/**
 * At rest and not as declared: the plan must name a deed, and that deed must help, with further ones that the plan names
 * then. Answers what is wrong. Undefined: it does, or what is left is a person's own doing.
 */
export async function takeAdvice(
  state: State,
  result: PassResult,
  planted: Planted | undefined,
  depth = 0,
): Promise<string | undefined> {
  if (isPersons(state.world) || isLeftToOthers(state.world, result)) return undefined
  const deeds = deedsIn(result)
  const said = [...result.decision.holds, ...result.decision.refusals]
  if (deeds.length === 0)
    return said.length === 0
      ? `rests, is not as declared, and says nothing`
      : `rests without a deed that helps: ${said.map(({ guard }) => guard).join(', ')}`
  if (depth >= 3) return 'the third deed that the plan names does not help'
  const vain: string[] = []
  for (const deed of deeds) {
    const world = structuredClone(state.world)
    deed.happens(world)
    const end = await untilRest({ ...state, world, quiet: 0 }, planted)
    if (isAsDeclared(end.state.world) || isPersons(end.state.world)) return undefined
    const further = depth < 3 ? await takeAdvice(end.state, end.result, planted, depth + 1) : 'in vain'
    if (further === undefined) return undefined
    vain.push(`${deed.text} (${further})`)
  }
  return `what the plan advises does not help: ${vain.join('; ')}`
}

/** Nothing is left to do but to undo a person's own cordon. */
function isPersons(world: World): boolean {
  const kubes = Object.fromEntries(
    Object.entries(world.kubes).map(([name, kube]) => [name, { ...kube, unschedulable: false }]),
  )
  return isAsDeclared({ ...world, kubes })
}

/** Croft manages no external datastore: it says so, and everything runs as before. */
function isLeftToOthers(world: World, { decision }: PassResult): boolean {
  const runs = Object.values(world.nodes).every(({ service }) => service === 'running')
  return world.datastore === 'external' && runs && decision.refusals.length + decision.holds.length > 0
}

async function untilRest(
  start: State,
  planted: Planted | undefined,
): Promise<{ readonly state: State; readonly result: PassResult }> {
  let state = start
  for (let count = 0; ; count++) {
    const result = await croftPasses(state, undefined, planted)
    const world = structuredClone(result.state.world)
    pass(world, waitAfter(result.state.quiet))
    state = { ...result.state, world }
    const rests = state.quiet >= 10 || (state.quiet >= 2 && isAsDeclared(world))
    if (rests || count >= MOST_PASSES) return { state, result }
  }
}
