import { CliError } from '../../exit.ts'
import type { Runtime } from '../../runtime.ts'
import type { Options } from '../../verb.ts'

/** Goes on only when a person says yes, here or with --yes. */
export async function confirmed(runtime: Runtime, question: string, options: Options): Promise<void> {
  if (options.yes === true) return
  if (!runtime.interactive) throw new CliError('Nobody can answer here. Say --yes if you mean it.')
  const answer = await runtime.ask(`${question} [y/N] `)
  if (answer === undefined || !/^y(?:es)?$/i.test(answer)) throw new CliError('Nothing was done. Answer y to go on.')
}
