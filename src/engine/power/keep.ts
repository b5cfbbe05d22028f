import type { NewEvent } from '../../model/event.ts'
import type { ResourceKey } from '../../model/key.ts'
import type { PowerStep } from '../../model/power-decision.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { Looking } from '../look.ts'
import { actOnPower, type PowerActDeps, powerStepName } from './act.ts'
import { noteEnergy } from './energy.ts'
import { judgePower } from './judge.ts'
import type { PowerLooked } from './look.ts'
import { type KeptPower, nextPowerLookMs } from './pace.ts'

/** What came of all Powers in one pass. */
export interface KeptPowers {
  readonly verdicts: readonly { readonly record: ResourceRecord; readonly events: readonly NewEvent[] }[]
  readonly effects: number
  readonly lookAgainMs: number
}

/** Takes each Power one step further and says what came of it. */
export async function keepPowers(
  powers: readonly PowerLooked[],
  lookings: ReadonlyMap<string, Looking>,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  deps: PowerActDeps,
  only: ReadonlySet<ResourceKey> | undefined,
  signal: AbortSignal,
): Promise<KeptPowers> {
  const { clock, powerMemory: memory } = deps
  const kept = await Promise.all(
    powers.map(async (looked): Promise<KeptPower & KeptPowers['verdicts'][number]> => {
      const { declaration } = looked.look
      const idle = signal.aborted || declaration.policy.paused || (only !== undefined && !only.has(declaration.key))
      const known = new Set(memory.begun.keys())
      const attempts = idle ? [] : await actOnPower(looked, lookings, deps, signal)
      const goesOn = (step: PowerStep) => known.has(powerStepName(declaration.key, step))
      const words = idle ? [] : await lastWords(looked, deps, signal)
      const before = records.get(declaration.key)
      if (!idle) await noteEnergy(looked.look, memory, deps)
      return { ...judgePower(looked.look, attempts, before, goesOn, words, clock.now()), look: looked.look, attempts }
    }),
  )
  return {
    verdicts: kept,
    effects: kept.reduce((sum, { attempts }) => sum + attempts.length, 0),
    lookAgainMs: nextPowerLookMs(kept, memory, clock.monotonicMs()),
  }
}

/** What our own box noted when it went down alone: read once, when croft has come back. */
async function lastWords(
  { look, notes }: PowerLooked,
  { power, powerMemory, epoch }: PowerActDeps,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = look.declaration.spec.hosts.find(({ own }) => own)
  const told = host === undefined ? undefined : notes?.stopped[host.name]
  if (host === undefined || power === undefined || told === undefined || told === epoch) return []
  if (powerMemory.heard.has(host.name)) return []
  powerMemory.heard.add(host.name)
  return (await power()).ownJournal(host, signal)
}
