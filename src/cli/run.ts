import { type Command, CommanderError } from 'commander'
import { AgeKeyUnusable, RecordClosed } from '../model/cluster.ts'
import { StaleEpoch } from '../store/port.ts'
import { styleOf } from './output.ts'
import { createProgram } from './program.ts'
import { cleanLines } from './render/text.ts'
import type { Runtime } from './runtime.ts'
import { CliError, EXIT, type ExitCode, StoppedBySignal, signalCode, type VerbResult } from './verb.ts'

/** Runs one command line and answers its exit code. Nothing a verb throws gets past here. */
export async function runCli(argv: readonly string[], runtime: Runtime): Promise<ExitCode> {
  // Cast, so that TypeScript does not narrow it: the verb answers in the callback.
  let answer = EXIT.ok as VerbResult
  const program = createProgram(runtime, (answered) => {
    answer = answered
  })
  const write = {
    writeOut: (text: string) => runtime.out.write(text),
    writeErr: (text: string) => runtime.err.write(text),
    // Add what to do to commander's message about a wrong command line.
    outputError: (text: string, out: (text: string) => void) =>
      out(`${text.replace(/^error: (.)/, (_, first: string) => `Error: ${first.toUpperCase()}`).trimEnd()}\n`),
  }
  for (const command of [program, ...program.commands]) command.exitOverride().configureOutput(write)
  try {
    if (argv.length === 0) {
      program.outputHelp()
      return EXIT.ok
    }
    await program.parseAsync([...withHelp(program, argv)], { from: 'user' })
    // Being stopped is success for a command that runs until then; losing its reader is not.
    if (answer === 'stopped' && runtime.signal.reason !== 'SIGPIPE') return EXIT.ok
    return runtime.signal.aborted || answer === 'stopped' ? signalCode(runtime.signal) : answer
  } catch (error) {
    return report(error, argv, runtime)
  }
}

/** Handles `help` with an unknown word: commander would silently list all commands. */
function withHelp(program: Command, argv: readonly string[]): readonly string[] {
  const [verb, about = 'help'] = argv
  if (verb !== 'help') return argv
  if (about === 'help' || about.startsWith('-')) return ['--help']
  const known = program.commands.some((command) => command.name() === about || command.aliases().includes(about))
  return known ? [about, '--help'] : [about]
}

function report(error: unknown, argv: readonly string[], runtime: Runtime): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok
    const verb = argv.find((word) => !word.startsWith('-'))
    const about = verb !== undefined && error.code !== 'commander.unknownCommand' ? ` ${verb}` : ''
    runtime.err.write(`Run croft${about} --help to see what is possible.\n`)
    return EXIT.usage
  }
  if (runtime.signal.aborted) {
    if (error instanceof StoppedBySignal) runtime.err.write(`${error.message}\n`)
    return signalCode(runtime.signal)
  }
  runtime.err.write(`${errorText(error, runtime)}\n`)
  return error instanceof CliError ? error.code : EXIT.failed
}

function errorText(error: unknown, runtime: Runtime): string {
  const style = styleOf(runtime, runtime.err)
  const word = style.paint(['red', 'bold'], 'Error:')
  const message = cleanLines(error instanceof Error ? error.message : String(error))
  if (runtime.env.CROFT_LOG === 'debug' && error instanceof Error)
    return `${word} ${cleanLines(error.stack ?? message, 20_000)}`
  if (error instanceof CliError || error instanceof RecordClosed || error instanceof AgeKeyUnusable)
    return `${word} ${message}`
  if (error instanceof StaleEpoch)
    return `${word} ${message}\nNothing was done by halves. Run it again when no other croft is at work on this database.`
  const ordinary = ordinaryMistake(error)
  if (ordinary !== undefined) return `${word} ${cleanLines(ordinary)}`
  return `${word} ${message}\nThis was not expected. Run it again with CROFT_LOG=debug to see where it happened.`
}

/** Turns a system error of a port, a file or a disk into a sentence with advice. */
function ordinaryMistake(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const {
    code,
    path = '',
    port,
    address,
    syscall,
  } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE')
    return `Port ${port} of ${address ?? 'this computer'} is in use by another program. Stop it, or choose another port.`
  if (code === 'EACCES' && syscall === 'listen')
    return `Only root may listen on port ${port}. Choose a port above 1023.`
  if (path === '') return undefined
  const sentences: Readonly<Record<string, string>> = {
    EACCES: `You may not read or write ${path}. Change its owner or mode, or run as another user.`,
    EPERM: `You may not read or write ${path}. Change its owner or mode, or run as another user.`,
    EEXIST: `${path} is in the way: it exists and is not a directory. Name another one, or remove it.`,
    ENOTDIR: `${path} is not a directory, or a file stands where a directory on the way to it should be.`,
    EISDIR: `${path} is a directory. Name a file.`,
    ENOENT: `${path} does not exist.`,
    ENOSPC: `The disk is full: ${path} could not be written. Free some space and run it again.`,
    EROFS: `${path} lies on a file system that cannot be written.`,
  }
  return sentences[String(code)]
}
