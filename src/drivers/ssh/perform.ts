import { LIMITS } from '../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import { type Command, showCommand } from './command.ts'
import { outcomeOf } from './failures.ts'
import { revertScript } from './revert.ts'

export interface Hands {
  readonly host: string
  readonly shell: Shell
  /** A connection made from nothing: does the host still let us in? */
  prove(signal: AbortSignal): Promise<void>
  resolveSecret(reference: SecretReference): Promise<Secret>
}

/** A program ended with a code that means that it did not work. */
class CommandFailed extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Does the commands of one step in order. Whatever was armed is taken back at once when one fails. */
export async function performCommands(
  commands: readonly Command[],
  hands: Hands,
  signal: AbortSignal,
): Promise<Outcome> {
  let armed: string | undefined
  let begun = false
  try {
    for (const command of commands) {
      await doOne(command, hands, signal)
      begun = true
      if (command.do === 'arm') armed = command.name
      if (command.do === 'disarm') armed = undefined
    }
    return { result: 'done' }
  } catch (error) {
    if (armed !== undefined) await takeBack(armed, hands)
    return error instanceof CommandFailed ? { result: 'refused', refusal: error.refusal } : outcomeOf(error, begun)
  }
}

const ARMED = '/var/lib/croft/revert'
/** As a timer of systemd where it runs, else as a program of its own; either outlives our connection. */
const ARM =
  'if [ -d /run/systemd/system ]; then systemctl stop "croft-revert-$1.timer" 2>/dev/null; ' +
  'systemd-run --quiet --collect --unit="croft-revert-$1" --on-active="$2" /bin/sh "$3"; ' +
  'else setsid -f sh -c \'sleep "$1"; exec /bin/sh "$2"\' sh "$2" "$3" </dev/null >/dev/null 2>&1; fi'
const DISARM =
  'rm -f -- "$2"; if [ -d /run/systemd/system ]; then systemctl stop "croft-revert-$1.timer" 2>/dev/null || :; fi'

async function doOne(command: Command, hands: Hands, signal: AbortSignal): Promise<void> {
  const { shell, host } = hands
  switch (command.do) {
    case 'run': {
      const { argv, input, ok = [0], timeoutMs = LIMITS.hostCommandMs } = command
      const ran = await shell.run(argv, { timeoutMs, signal, ...(input === undefined ? {} : { input }) })
      if (!ok.includes(ran.code)) throw commandFailed(host, command, ran.code, ran.stderr || ran.stdout)
      return
    }
    case 'put': {
      const { path, content, secret, mode, owner, group } = command
      const text = secret === undefined ? (content ?? '') : (await hands.resolveSecret(secret)).reveal()
      const rights = {
        ...(mode === undefined ? {} : { mode }),
        ...(owner === undefined ? {} : { owner }),
        ...(group === undefined ? {} : { group }),
      }
      await shell.writeFile(path, text, { ...rights, signal })
      return
    }
    case 'remove': {
      const ran = await shell.run(['rm', '-f', '--', command.path], { signal })
      if (ran.code !== 0) throw commandFailed(host, command, ran.code, ran.stderr)
      return
    }
    case 'arm': {
      const script = `${ARMED}/${command.name}`
      await shell.run(['mkdir', '-p', '-m', '0700', '--', '/var/lib/croft', ARMED], { signal })
      await shell.writeFile(script, revertScript(command.revert, script), { mode: 0o600, signal })
      const ran = await shell.run(['sh', '-c', ARM, 'croft', command.name, String(command.seconds), script], { signal })
      if (ran.code !== 0) throw commandFailed(host, command, ran.code, ran.stderr)
      return
    }
    case 'prove':
      return await hands.prove(signal)
    case 'disarm': {
      const ran = await shell.run(['sh', '-c', DISARM, 'croft', command.name, `${ARMED}/${command.name}`], { signal })
      if (ran.code !== 0) throw commandFailed(host, command, ran.code, ran.stderr)
      return
    }
  }
}

/** At once where we still can; the host does it by itself where we cannot. */
async function takeBack(name: string, { shell }: Hands): Promise<void> {
  try {
    await shell.run(['/bin/sh', `${ARMED}/${name}`])
  } catch (error) {
    if (!(error instanceof ShellFailure)) throw error
  }
}

function commandFailed(host: string, command: Command, code: number, said: string): CommandFailed {
  const lines = said
    .replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]+/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const why = lines.slice(-3).join('; ').slice(0, 600)
  return new CommandFailed({
    reason: 'CommandFailed',
    meaning: 'backoff',
    message: `${showCommand(command).slice(0, 200)} on ${host} ended with ${code}${why === '' ? '' : `: ${why}`}`,
  })
}
