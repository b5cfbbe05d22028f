import { completionScript, SHELLS } from '../completion-script.ts'
import { EXIT, UsageError, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, [shell = '']) => {
  const script = completionScript(shell)
  if (script === undefined) {
    throw new UsageError(`There is no completion for ${shell}. Choose one of ${SHELLS.join(', ')}.`)
  }
  runtime.out.write(script)
  return EXIT.ok
}
