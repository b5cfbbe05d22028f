import { configHash } from '../../k3s/config.ts'
import type { NodeFacts } from '../../k3s/node-program.ts'
import { defined } from '../../lib/defined.ts'
import type { NodeSpec } from '../../model/cluster.ts'
import type { ObservedNode } from '../../model/observed-cluster.ts'
import type { ObserveContext } from './memory.ts'

export function noteJoin(context: ObserveContext, node: NodeSpec, facts: NodeFacts): void {
  const { memory, deps } = context
  const before = memory.joins.get(node.name)
  const now = joinFacts(context, node, facts)
  const known = before?.facts === now ? before : undefined
  const atMs = deps.clock.monotonicMs()
  memory.joins.set(node.name, {
    facts: now,
    count: (known?.count ?? 0) + 1,
    atMs,
    ...defined({ failure: known?.failure }),
  })
}

/** Returns failed joins under unchanged facts. The last error survives croft's wipe of the node. */
export function openJoins(context: ObserveContext, node: NodeSpec, facts: NodeFacts): ObservedNode['joins'] {
  const { memory, deps } = context
  const known = memory.joins.get(node.name)
  if (known === undefined || known.facts !== joinFacts(context, node, facts)) return undefined
  const failure = facts.failure ?? known.failure
  memory.joins.set(node.name, { ...known, ...defined({ failure }) })
  return { count: known.count, ageMs: deps.clock.monotonicMs() - known.atMs, ...defined({ failure }) }
}

/** The facts that decide about a join: the node's declaration and boot, and the configuration of running servers. */
function joinFacts({ declaration, memory }: ObserveContext, node: NodeSpec, { bootId, machineId }: NodeFacts): string {
  const servers = declaration.spec.servers
    .filter(({ name }) => name !== node.name)
    .map(({ name }) => `${name}=${memory.facts.get(name)?.facts.configHash ?? ''}`)
  return JSON.stringify([configHash(declaration.spec, node), declaration.spec.version, bootId, machineId, ...servers])
}
