import { croftPasses, type PassResult, type Planted, type State } from './actor.ts'
import type { PassFault } from './effects.ts'
import { isAsDeclared } from './invariants.ts'
import { answers, boot, deleteNode, EMPTY, pass, powerOff, votes, type World, waitAfter } from './world.ts'

/** What happens to a cluster besides croft. */
export type Trouble = keyof typeof troubles

export type Move = { readonly fault: PassFault } | { readonly trouble: Trouble; readonly node: string }

interface TroubleRow {
  /** A person does it; else it is bad luck. */
  readonly deed: boolean
  /** Whether it can happen to this node now. */
  may(world: World, node: string): boolean
  happens(world: World, node: string): void
}

function row<T extends Record<string, TroubleRow>>(table: T): { readonly [K in keyof T]: TroubleRow } {
  return table
}

const runs = (world: World, name: string) => {
  const node = world.nodes[name]
  return node !== undefined && answers(world, node) && node.service === 'running'
}

/** What is lost for good may be lost only while the others can go on. */
const spare = (world: World, name: string) => {
  const { up, voters } = votes(world)
  return (
    runs(world, name) &&
    (name.startsWith('a') || (voters >= 3 && up === voters && world.members.every(({ learner }) => !learner)))
  )
}

export const troubles = row({
  'power lost': {
    deed: false,
    may: runs,
    happens(world, name) {
      const node = world.nodes[name]
      if (node !== undefined) powerOff(node)
    },
  },
  'and all others lose their power': {
    deed: false,
    may: (world, name) => world.begun && world.members[0]?.node === name && runs(world, name),
    happens(world) {
      for (const node of Object.values(world.nodes)) if (node.exists && node.on) powerOff(node)
    },
  },
  'restarts with an empty disk': {
    deed: false,
    may: spare,
    happens(world, name) {
      const node = world.nodes[name]
      if (node === undefined) return
      powerOff(node)
      node.disk = EMPTY
      boot(world, node)
    },
  },
  'restarts without its disk': {
    deed: false,
    may: spare,
    happens(world, name) {
      const node = world.nodes[name]
      if (node === undefined) return
      powerOff(node)
      Object.assign(node, { mounted: false, under: EMPTY })
      boot(world, node)
    },
  },
  'network lost': {
    deed: false,
    may: spare,
    happens(world, name) {
      const node = world.nodes[name]
      if (node !== undefined) node.cut = true
    },
  },
  'kubectl delete node': {
    deed: true,
    may: (world, name) => world.kubes[name] !== undefined && votes(world).held,
    happens: deleteNode,
  },
  'a person stops K3s': {
    deed: true,
    may: runs,
    happens(world, name) {
      const node = world.nodes[name]
      if (node !== undefined) Object.assign(node, { service: 'stopped', sinceMs: world.nowMs, running: undefined })
    },
  },
  'a person cordons': {
    deed: true,
    may: (world, name) => world.kubes[name]?.unschedulable === false && votes(world).held,
    happens(world, name) {
      const kube = world.kubes[name]
      if (kube !== undefined) kube.unschedulable = true
    },
  },
})

const NAMES = Object.keys(troubles) as readonly Trouble[]

/** Everything that can go wrong from here, within what is left of the budget. */
export function movesOf(
  world: World,
  effects: number,
  budget: { readonly faults: number; readonly deeds: number },
  spent: { readonly faults: number; readonly deeds: number },
): readonly Move[] {
  const counts = Array.from({ length: effects }, (_, index) => index)
  const inPass: readonly Move[] =
    spent.faults < budget.faults
      ? [
          ...counts.map((crashAfter): Move => ({ fault: { crashAfter } })),
          ...counts.map((index): Move => ({ fault: { loses: index + 1 } })),
        ]
      : []
  const happens = NAMES.filter((trouble) =>
    troubles[trouble].deed ? spent.deeds < budget.deeds : spent.faults < budget.faults,
  )
  const nodes = Object.keys(world.nodes)
  return [
    ...inPass,
    ...happens.flatMap((trouble) =>
      nodes.filter((node) => troubles[trouble].may(world, node)).map((node): Move => ({ trouble, node })),
    ),
  ]
}

export function shownMove(move: Move): string {
  if ('trouble' in move) return `${move.node}: ${move.trouble}`
  return 'loses' in move.fault
    ? `the answer of effect ${move.fault.loses} is lost`
    : `croft dies after ${move.fault.crashAfter} effects`
}

/** What a person does who reads the plan. */
interface Deed {
  readonly text: string
  happens(world: World): void
}

function deedsIn({ decision }: PassResult): readonly Deed[] {
  return [...decision.holds, ...decision.refusals].flatMap(({ allow, node }): readonly Deed[] => {
    const deeds: Deed[] = []
    const replaced = /croft cluster replace \S+ ([as]\d+)/.exec(allow)?.[1]
    const removed = /croft cluster remove-member \S+ (\S+?),/.exec(allow)?.[1]
    if (/mount it and restart K3s/.test(allow) && node !== undefined)
      deeds.push({ text: `mounts the disk of ${node}`, happens: (world) => mount(world, node) })
    if (removed !== undefined)
      deeds.push({
        text: `croft cluster remove-member ${removed}`,
        happens: (world) => void world.removeMembers.push(removed),
      })
    if (/--resume/.test(allow))
      deeds.push({
        text: 'croft cluster upgrade --resume',
        happens: (world) => void Object.assign(world, { resumedMs: world.nowMs }),
      })
    if (/staleState: wipe/.test(allow))
      deeds.push({
        text: 'Git: staleState: wipe',
        happens: (world) => void Object.assign(world, { git: { ...world.git, staleState: 'wipe' } }),
      })
    if (/uncordon it/.test(allow) && node !== undefined)
      deeds.push({ text: `uncordons ${node}`, happens: (world) => uncordon(world, node) })
    if (replaced !== undefined)
      deeds.push({
        text: `croft cluster replace ${replaced}`,
        happens: (world) => void world.orders.push({ node: replaced, atMs: world.nowMs, goes: 'unseen' }),
      })
    return deeds
  })
}

function mount(world: World, name: string): void {
  const node = world.nodes[name]
  if (node === undefined) return
  Object.assign(node, { mounted: true, service: 'starting', sinceMs: world.nowMs, running: undefined })
}

function uncordon(world: World, name: string): void {
  const kube = world.kubes[name]
  if (kube !== undefined) kube.unschedulable = false
}

const MOST_PASSES = 400

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
  if (isPersons(state.world)) return undefined
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
    if (state.quiet >= 10 || count >= MOST_PASSES) return { state, result }
  }
}
