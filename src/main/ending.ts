import { EXIT, type ExitCode, signalCode } from '../cli/verb.ts'

/** The ways in which this process ends: by a signal, by a lost reader, or with the answer of its command. */
export interface Ending {
  /** Aborted with the name of what asked us to end; everything that works listens to it. */
  readonly signal: AbortSignal
  /** The command has its answer: what is still to come is only that it is read. */
  answer(code: ExitCode): Promise<never>
}

/**
 * Only `answer` gives exit code 0. Node also exits with 0 when nothing is left that could wake it, and then `croft
 * apply && next` must not go on.
 */
export function prepareEnding(): Ending {
  const stop = new AbortController()
  let answered: ExitCode | undefined
  const exit = (code: ExitCode): never => {
    answered = code
    process.exit(code)
  }

  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // The first signal asks for an orderly end; a second one ends at once.
      if (stop.signal.aborted) exit(signalCode(AbortSignal.abort(name)))
      stop.abort(name)
    })
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // After the answer, a reader that leaves early (`croft get | head`) changes nothing.
      if (answered !== undefined) exit(answered)
      // During the work, a closed output is a failure: not all of it was done and shown.
      if (error.code === 'EPIPE') stop.abort('SIGPIPE')
      else if (error.code === 'EIO') stop.abort('SIGHUP')
      else if (!stop.signal.aborted) exit(EXIT.failed)
    })
  }
  // The launcher was killed: end too, or a second run would meet this one.
  if (process.channel !== undefined) {
    process.once('disconnect', () => exit(EXIT.failed))
    process.channel.unref()
  }
  process.on('exit', () => {
    if (answered !== undefined) return
    process.exitCode = stop.signal.aborted ? signalCode(stop.signal) : EXIT.failed
    process.stderr.write('Error: croft ended before its work was done. Run it again; nothing is done twice.\n')
  })
  process.on('unhandledRejection', (error) => {
    const debug = process.env.CROFT_LOG === 'debug' && error instanceof Error
    process.stderr.write(`Error: ${debug ? error.stack : error instanceof Error ? error.message : String(error)}\n`)
    process.stderr.write('This was not expected. Run it again with CROFT_LOG=debug to see where it happened.\n')
    exit(EXIT.failed)
  })

  return {
    signal: stop.signal,
    async answer(code) {
      answered = code
      // A pipe takes 64 KiB at a time: ending now would cut off the rest of a large plan.
      await Promise.all(
        [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))),
      )
      return exit(code)
    },
  }
}
