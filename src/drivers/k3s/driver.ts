import { cleanText } from '../../lib/clean-text.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import type { ClusterDriver, ClusterSurroundings } from '../cluster-port.ts'
import { createAccess } from './access.ts'
import { examineNode } from './doctor.ts'
import { emptyMemory } from './memory.ts'
import { observeCluster } from './observe.ts'
import { createOperator } from './operator.ts'
import { performStep } from './perform.ts'

/** Speaks to K3s clusters: their API, and the program that croft puts on each node. */
export function createK3sDriver(): ClusterDriver {
  return {
    operate: createOperator,
    examine: examineNode,
    connect(declaration, deps) {
      const access = createAccess(declaration, deps)
      const looker = { declaration, deps, access, memory: emptyMemory() }
      return {
        async observe(surroundings, signal) {
          try {
            return await observeCluster(looker, surroundings, signal)
          } catch (error) {
            // The record cannot be read, or something that nobody foresaw: then nothing is known, and nothing is done.
            const why = cleanText(error instanceof Error ? error.message : String(error))
            return blind(surroundings, declaration.spec, `${declaration.name} cannot be looked at: ${why}`)
          }
        },
        async perform(step, surroundings, signal) {
          try {
            const secrets = await deps.vault.read(declaration.name)
            return await performStep({ ...looker, step, surroundings, signal, secrets })
          } catch (error) {
            const message = cleanText(error instanceof Error ? error.message : String(error))
            return { result: 'unclear', message: `${step.summary}: ${message}` }
          }
        },
        async kubernetes() {
          const secrets = await deps.vault.read(declaration.name)
          return secrets === undefined ? undefined : access.client(secrets)
        },
        close: () => access.close(),
      }
    },
  }
}

export const k3sDriver = { name: 'k3s', ...createK3sDriver() } as const

function blind(
  { nodes, orders }: ClusterSurroundings,
  spec: {
    readonly servers: readonly { readonly name: string }[]
    readonly agents: readonly { readonly name: string }[]
  },
  reason: string,
): ObservedCluster {
  const servers = new Set(spec.servers.map(({ name }) => name))
  const names = new Set([...servers, ...spec.agents.map(({ name }) => name), ...nodes.keys()])
  return {
    api: 'unknown',
    // Formed counts as yes while nobody can tell: so that nobody begins a second cluster.
    identity: { caHash: 'unknown', formed: true, recordedMs: 0 },
    nodes: [...names].map((name) => ({
      name,
      role: servers.has(name) ? 'server' : 'agent',
      machine: nodes.get(name)?.machine ?? { exists: 'unknown', power: 'unknown', ours: false },
      kube: 'unknown',
      k3s: 'unknown',
      passwordSecret: 'unknown',
    })),
    members: 'unknown',
    membershipChanged: 'unknown',
    snapshots: 'unknown',
    checks: [],
    // A person must learn why nothing happens.
    orders: { ...orders, hold: { reason, allow: 'mend what is named' } },
  }
}
