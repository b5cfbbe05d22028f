import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import { ARM, ARMED, DISARM } from './arm.ts'
import { BATCH, batchOf, isSmall, type Ready, readBatch } from './batch.ts'
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

/**
 * Does the commands of one step in order, in as few round trips as they allow. Whatever was armed is taken back at once
 * when one fails.
 */
export async function performCommands(
  commands: readonly Command[],
  hands: Hands,
  signal: AbortSignal,
): Promise<Outcome> {
  let armed: string | undefined
  let begun = false
  try {
    for (const group of groupsOf(commands)) {
      if (Array.isArray(group)) await doTogether(group, hands, signal)
      else {
        await doOne(group, hands, signal)
        if (group.do === 'arm') armed = group.name
        if (group.do === 'disarm') armed = undefined
      }
      begun = true
    }
    return { result: 'done' }
  } catch (error) {
    if (armed !== undefined) await takeBack(armed, hands)
    return error instanceof CommandFailed ? { result: 'refused', refusal: error.refusal } : outcomeOf(error, begun)
  }
}

/** Neighbours that may travel together, together. */
function groupsOf(commands: readonly Command[]): readonly (Command | Ready[])[] {
  const groups: (Command | Ready[])[] = []
  for (const command of commands) {
    const last = groups.at(-1)
    if (!isSmall(command)) groups.push(command)
    else if (Array.isArray(last)) last.push(command)
    else groups.push([command])
  }
  return groups
}

async function doTogether(commands: readonly Ready[], hands: Hands, signal: AbortSignal): Promise<void> {
  const ready: Ready[] = []
  for (const command of commands) {
    const secret = command.do === 'put' ? command.secret : undefined
    ready.push(
      secret === undefined ? command : ({ ...command, content: (await hands.resolveSecret(secret)).reveal() } as Ready),
    )
  }
  const { text, timeoutMs } = batchOf(ready)
  const ran = await hands.shell.run(['sh', '-c', BATCH], { input: text, timeoutMs, signal })
  const answer = readBatch(ran.stdout, commands.length)
  if (answer.is === 'cut')
    throw new ShellFailure(
      'maybe',
      'cut',
      `${hands.host} did not say how the commands ended: ${ran.stderr.slice(0, 200)}`,
    )
  if (answer.is === 'failed') {
    const command = commands[answer.at]
    if (command !== undefined) throw commandFailed(hands.host, command, answer.code, answer.said)
  }
}

/** The script is gone: it has run. */
const TAKEN_BACK = 7

async function doOne(command: Command, hands: Hands, signal: AbortSignal): Promise<void> {
  const { shell, host } = hands
  switch (command.do) {
    case 'run': {
      const { argv, input, ok = [0], timeoutMs = LIMITS.hostCommandMs } = command
      const ran = await shell.run(argv, { timeoutMs, signal, ...defined({ input }) })
      if (!ok.includes(ran.code)) throw commandFailed(host, command, ran.code, ran.stderr || ran.stdout)
      return
    }
    case 'put': {
      const { path, content, secret, mode, owner, group } = command
      const text = secret === undefined ? (content ?? '') : (await hands.resolveSecret(secret)).reveal()
      const rights = {
        ...defined({ mode, owner, group }),
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
      // We were cut off, it took the change back, and so we hear of it again: that is no success.
      if (ran.code === TAKEN_BACK)
        throw new CommandFailed({
          reason: 'TakenBack',
          meaning: 'backoff',
          message: `${host} was not to be reached after the change, and has taken it back by itself`,
        })
      if (ran.code !== 0) throw commandFailed(host, command, ran.code, ran.stderr)
      return
    }
  }
}

/** At once where we still can; the host does it by itself where we cannot. */
async function takeBack(name: string, { shell }: Hands): Promise<void> {
  try {
    await shell.run(['/bin/sh', `${ARMED}/${name}`])
    await shell.run(['sh', '-c', DISARM, 'croft', name, `${ARMED}/${name}`])
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
