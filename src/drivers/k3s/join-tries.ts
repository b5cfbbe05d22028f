import { configHash } from '../../k3s/config.ts'
import type { NodeFacts } from '../../k3s/node-program.ts'
import type { NodeSpec } from '../../model/cluster.ts'
import type { ObservedNode } from '../../model/observed-cluster.ts'
import type { ObserveContext } from './memory.ts'

export function noteJoin(context: ObserveContext, node: NodeSpec, facts: NodeFacts): void {
  const { memory, deps } = context
  const before = memory.joins.get(node.name)
  const now = joinFacts(context, node, facts)
  const count = before?.facts === now ? before.count + 1 : 1
  memory.joins.set(node.name, { facts: now, count, atMs: deps.clock.monotonicMs() })
}

/** Joins that still count: none of the facts has moved since. */
export function openJoins(context: ObserveContext, node: NodeSpec, facts: NodeFacts): ObservedNode['joins'] {
  const known = context.memory.joins.get(node.name)
  if (known === undefined || known.facts !== joinFacts(context, node, facts)) return undefined
  return { count: known.count, ageMs: context.deps.clock.monotonicMs() - known.atMs }
}

/** What decides about a join: the declaration of the node, its boot, and the configuration of the servers that run. */
function joinFacts(
  { declaration, memory }: ObserveContext,
  node: NodeSpec,
  { bootId, machineId, wipes }: NodeFacts,
): string {
  const servers = declaration.spec.servers
    .filter(({ name }) => name !== node.name)
    .map(({ name }) => `${name}=${memory.facts.get(name)?.facts.configHash ?? ''}`)
  return JSON.stringify([
    configHash(declaration.spec, node),
    declaration.spec.version,
    bootId,
    machineId,
    wipes,
    ...servers,
  ])
}
