import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterInput } from '../../model/cluster-look.ts'
import type { Estate } from '../../model/estate.ts'
import type { CheckSeen, ObservedPower } from '../../model/observed-power.ts'
import type { PowerDeclaration } from '../../model/power.ts'
import type { PowerLookDeps, PowerSurroundings } from './deps.ts'
import { latest } from './kept-answers.ts'

/**
 * What the HealthChecks say that must pass on the way up. Asked while it goes up, and forgotten before: that DNS
 * answered last week is no evidence.
 */
export function checksOf(
  { key, spec }: PowerDeclaration,
  estate: Estate,
  clusters: readonly ClusterInput[],
  { lookings }: PowerSurroundings,
  { clock, powerMemory, askCheck }: PowerLookDeps,
  signal: AbortSignal,
): ObservedPower['checks'] {
  const names = [...new Set([...spec.checks.dns, ...spec.checks.storage])]
  const nameOf = (check: string) => `${key} ${check}`
  if (powerMemory.looks.get(key)?.decision.phase !== 'GoingOn') {
    for (const name of names) powerMemory.checks.delete(nameOf(name))
    return {}
  }
  const seen = {
    estate,
    clusters,
    surveys: [...lookings.values()].map(({ survey }) => survey),
  }
  const ask = async (name: string): Promise<CheckSeen> => {
    const { passed, output } = await askCheck(name, seen, signal)
    return { passed, output: cleanText(output, 200) }
  }
  return Object.fromEntries(
    names.flatMap((name) => {
      const known = latest(powerMemory.checks, nameOf(name), LIMITS.powerCheckMs, clock, () => ask(name))
      return known === undefined ? [] : [[name, known] as const]
    }),
  )
}
