import type { NewEvent } from '../../model/event.ts'
import type { ResourceKey } from '../../model/key.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { Step } from '../../model/step.ts'
import type { Looking } from '../look.ts'
import { stepName } from '../steps.ts'
import { actOnPower, type PowerActDeps } from './act.ts'
import { noteEnergy } from './energy.ts'
import { judgePower } from './judge.ts'
import type { PowerLooked } from './look.ts'
import { type PowerNotes, unreadHost, writePowerNotes } from './notes.ts'
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
      const heard = idle ? undefined : await lastWords(looked, deps, signal)
      const now = heard === undefined ? looked : { ...looked, notes: heard.notes }
      const attempts = idle ? [] : await actOnPower(now, lookings, deps, signal)
      const goesOn = (step: Step<'power'>) => known.has(stepName(declaration.key, step))
      const before = records.get(declaration.key)
      if (!idle) await noteEnergy(looked.look, memory, deps)
      return {
        ...judgePower(looked.look, attempts, before, goesOn, heard?.words ?? [], clock.now()),
        look: looked.look,
        attempts,
      }
    }),
  )
  return {
    verdicts: kept,
    effects: kept.reduce((sum, { attempts }) => sum + attempts.length, 0),
    lookAgainMs: nextPowerLookMs(kept, memory, clock.monotonicMs()),
  }
}

/** What our own box noted when it went down alone: read when croft has come back, and told once. */
async function lastWords(
  { look, notes }: PowerLooked,
  { power, store, epoch }: PowerActDeps,
  signal: AbortSignal,
): Promise<{ readonly words: readonly string[]; readonly notes: PowerNotes } | undefined> {
  const { spec, name } = look.declaration
  const host = unreadHost(spec, notes, epoch)
  if (host === undefined || power === undefined || notes === undefined) return undefined
  const words = await (await power()).ownJournal(host, signal)
  const heard: PowerNotes = { ...notes, heard: true }
  await writePowerNotes(store, epoch, name, heard)
  return { words, notes: heard }
}
