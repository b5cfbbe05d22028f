import { hasErrors } from './render/problems.ts'
import type { Runtime } from './runtime.ts'
import { EXIT, type VerbResult } from './verb.ts'

/**
 * Verbs whose exit code is the result of one action, or that read manifests for another purpose. For all others, 0
 * means that everything was read: scripts rely on it.
 */
export const OF_DEEDS: Readonly<Record<string, string>> = {
  __complete: 'words for a shell',
  ask: 'the answer of the controller',
  cluster: 'one operation on one cluster',
  completion: 'prints a script',
  console: 'a terminal until somebody leaves it',
  context: 'names of directories',
  demo: 'its own directory',
  events: 'what happened, whatever is declared',
  explain: 'the fields of a kind',
  host: 'one operation on one host',
  image: 'one operation on one image',
  import: 'what the read files or hosts say',
  init: 'what it wrote',
  machine: 'one operation on one machine',
  move: 'one operation on one machine',
  operator: 'runs until it is stopped',
  power: 'one operation on one Power',
  run: 'runs until it is stopped',
  schema: 'the fields of kinds',
  sim: 'runs until it is stopped',
  'support-bundle': 'the errors are in what it writes',
  token: 'tokens of the API',
  user: 'users of the page',
  validate: 'the file or the directory that was asked about',
  version: 'the version',
  downgrade: 'one operation on the database',
}

/** Wraps a runtime to note whether a directory has errors, and adapts a verb's exit code to it. */
export function noticingErrors(
  verb: string,
  runtime: Runtime,
): { readonly runtime: Runtime; exitOf(answer: VerbResult): VerbResult } {
  let found = false
  return {
    runtime: {
      ...runtime,
      load: async (directory) => {
        const loaded = await runtime.load(directory)
        found ||= hasErrors(loaded.estate.problems)
        return loaded
      },
    },
    exitOf: (answer) => (found && answer === EXIT.ok && !(verb in OF_DEEDS) ? EXIT.failed : answer),
  }
}
