import { holds } from '../lib/cel.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ObservedResource, Resource } from '../model/resource.ts'
import type { Readiness } from '../model/rules.ts'

type Self = Readonly<Record<string, unknown>>

/**
 * A thing as `readyWhen` sees it under the name `self`: what was observed of it, in the words of a status. Only what is
 * known is there, so that an expression about the rest waits instead of guessing.
 */
export function selfOf(
  { kind, name, desired }: Pick<Resource, 'kind' | 'name' | 'desired'>,
  observed: ObservedResource,
  { ready, reason, message, status: state }: Readiness,
  before: Pick<ResourceRecord, 'details'> | undefined,
): Self {
  const { externalId, host, close } = observed
  const power = close?.power ?? observed.power
  const addresses = close?.addresses ?? before?.details?.addresses?.split(',')
  return {
    kind,
    metadata: { name },
    status: {
      state,
      externalId,
      host,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', reason, message }],
      ...(power === undefined ? {} : { power }),
      ...(observed.uptimeSeconds === undefined ? {} : { uptimeSeconds: observed.uptimeSeconds }),
      ...(addresses === undefined ? {} : { addresses }),
      facts: { ...before?.details, ...close?.facts },
      ...(desired.type === 'object' && close !== undefined ? { object: close.config } : {}),
    },
  }
}

/** The same of a cluster. */
export function clusterSelf(name: string, { status: state, conditions, details = {} }: ResourceRecord): Self {
  const shown = conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message }))
  return { kind: 'Cluster', metadata: { name }, status: { state, conditions: shown, facts: details } }
}

/** Why it is not Ready although everything else says so; undefined when every expression holds. */
export function notYet(readyWhen: readonly string[] | undefined, self: Self): string | undefined {
  for (const expression of readyWhen ?? []) {
    const answer = holds(expression, self, 'self')
    if (answer !== true) return answer === false ? `not yet: ${expression}` : `${expression}: ${answer}`
  }
  return undefined
}
