import type { PassFault } from './effects.ts'
import { answers, boot, deleteNode, EMPTY, powerOff, votes, type World } from './world.ts'

/** Events in a cluster that croft does not cause. */
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
    ((world.nodes[name]?.unit !== 'server' && !world.members.some(({ node }) => node === name)) ||
      (voters >= 3 && up === voters && world.members.every(({ learner }) => !learner)))
  )
}

/** What concerns no node happens once, not once for each. */
const isFirst = (world: World, name: string) => Object.keys(world.nodes)[0] === name

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
  'the power of the house fails and returns': {
    deed: false,
    may: (world, name) => isFirst(world, name) && world.begun,
    happens(world) {
      for (const node of Object.values(world.nodes)) {
        if (!node.exists || !node.on) continue
        powerOff(node)
        boot(world, node)
      }
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
  'Git goes back': {
    deed: true,
    may: (world, name) => world.before !== undefined && isFirst(world, name),
    happens(world) {
      if (world.before === undefined) return
      world.git = world.before
      delete world.before
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
