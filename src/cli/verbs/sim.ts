import { closing } from '../closing.ts'
import { EXIT } from '../exit.ts'
import type { Verb } from '../program.ts'
import type { SimulatorOptions } from '../runtime.ts'

/** The first line is for programs: where it answers and with which token. Then it serves until it is stopped. */
export const run: Verb = async (runtime, _args, options) => {
  await using simulator = closing(await runtime.startSimulator(options as unknown as SimulatorOptions))
  runtime.out.write(`${JSON.stringify(simulator.it.announcement)}\n`)
  if (runtime.err.isTty) runtime.err.write('Serving until Ctrl-C.\n')
  await new Promise<void>((resolve) => {
    if (runtime.signal.aborted) return resolve()
    runtime.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  return EXIT.ok
}
