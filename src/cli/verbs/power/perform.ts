import type { PassReport } from '../../../engine/engine.ts'
import type { Estate } from '../../../model/estate.ts'
import type { ResourceKey } from '../../../model/key.ts'
import type { PowerDeclaration } from '../../../model/power.ts'
import type { PowerLook } from '../../../model/power-look.ts'
import type { Store } from '../../../store/port.ts'
import { closing } from '../../closing.ts'
import { EXIT, type ExitCode, signalCode } from '../../exit.ts'
import { clean } from '../../render/clean.ts'
import type { Runtime } from '../../runtime.ts'

/**
 * No controller is at work on this database, so it is done here, and only this: nothing else in Git is applied. What is
 * told is what the events tell.
 */
export async function switchHere(
  runtime: Runtime,
  { power, estate, directory, state }: NamedPower,
  { observed }: PowerLook,
  wanted: 'on' | 'off',
  store: Store,
): Promise<ExitCode> {
  await using engine = closing(await runtime.openEngine(store, { directory, state }))
  const only = new Set<ResourceKey>([power.key, ...observed.machines.map(({ key }) => key)])
  const startedMs = runtime.clock.monotonicMs()
  const onPass = ({ events }: PassReport) => {
    for (const { key, message, type, reason } of events) {
      // Of machines only what is begun: what they look like meanwhile is no news.
      const machine = key !== undefined && key !== power.key && only.has(key) && reason === 'Started'
      if (key !== power.key && !machine) continue
      const seconds = ((runtime.clock.monotonicMs() - startedMs) / 1000).toFixed(1).padStart(7)
      const warning = type === 'Warning' ? 'Warning: ' : ''
      runtime.out.write(`${seconds} s  ${warning}${clean(message, 300)}\n`)
    }
  }
  const settled = await engine.it.settle(estate, { signal: runtime.signal, only, onPass })
  const decision = settled.last.powers?.find(({ declaration }) => declaration.key === power.key)?.decision
  if (settled.outcome === 'aborted') {
    runtime.err.write(
      `Interrupted. The order stands: croft power ${wanted} goes on with it, croft power ${wanted === 'off' ? 'on' : 'off'} goes back.\n`,
    )
    return signalCode(runtime.signal)
  }
  const reached = decision?.phase === (wanted === 'off' ? 'Off' : 'On')
  for (const { reason, allow } of reached ? [] : (decision?.holds ?? []))
    runtime.out.write(`Held: ${clean(reason, 300)}. To go on: ${clean(allow, 200)}.\n`)
  runtime.out.write(`${power.key} is ${decision?.phase ?? 'Unknown'}\n`)
  return reached ? EXIT.ok : EXIT.failed
}

/** A Power that was named, and where its state is kept. */
export interface NamedPower {
  readonly power: PowerDeclaration
  readonly estate: Estate
  readonly directory: string
  readonly state: string
}
