import { type Origin, showOrigin } from '../model/declaration.ts'
import type { Expressions } from '../model/expressions.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ObservedResource, Resource } from '../model/resource.ts'
import type { Readiness } from '../model/rules.ts'

type Self = Readonly<Record<string, unknown>>

/**
 * Returns a thing as `self` for `readyWhen`: its observed facts as a status. Unknown facts are absent, so that an
 * expression about them waits instead of guessing.
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

/** The same for a cluster. */
export function clusterSelf(name: string, { status: state, conditions, details = {} }: ResourceRecord): Self {
  const shown = conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message }))
  return { kind: 'Cluster', metadata: { name }, status: { state, conditions: shown, facts: details } }
}

/** The `readyWhen` expressions of one declaration, and their place. */
export interface ReadyQuestion {
  readonly readyWhen: readonly string[]
  readonly self: Self
  readonly origin: Origin
}

/** Returns why each is not Ready although all else is; undefined if every expression holds. */
export async function notYet(
  asked: readonly ReadyQuestion[],
  expressions: Expressions | undefined,
): Promise<readonly (string | undefined)[]> {
  if (asked.length === 0) return []
  const questions = asked.flatMap(({ readyWhen, self }) =>
    readyWhen.map((expression) => ({ expression, object: self, name: 'self' })),
  )
  const answers = (await expressions?.answers(questions)) ?? []
  let at = 0
  return asked.map(({ readyWhen, origin }) => {
    const own = answers.slice(at, at + readyWhen.length)
    at += readyWhen.length
    const open = readyWhen.findIndex((_, index) => own[index] !== true)
    const expression = readyWhen[open]
    if (expression === undefined) return undefined
    const answer = own[open] ?? 'it was not evaluated'
    return answer === false
      ? `not yet: ${expression}`
      : `readyWhen at ${showOrigin(origin)}: ${shortened(expression)}: ${answer}`
  })
}

function shortened(expression: string): string {
  return expression.length > 200 ? `${expression.slice(0, 200)}…` : expression
}
