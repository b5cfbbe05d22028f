import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import { shellQuoted } from '../../lib/shell-quoted.ts'
import { HOST_PROGRAMS } from '../../model/host-item.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import type { Outcome, Refusal, Step } from '../../model/step.ts'
import { BATCH, batchOf, isSmall, type Ready, readBatch } from './batch.ts'
import { type Command, showCommand } from './command.ts'
import { outcomeOf } from './failures.ts'
import { HOST_PATH } from './item.ts'

export interface Hands {
  readonly host: string
  readonly shell: Shell
  /** Opens a new connection, to prove that the host still accepts our login. */
  prove(signal: AbortSignal): Promise<void>
  resolveSecret(reference: SecretReference): Promise<Secret>
}

/** A program ended with a failing exit code. */
class CommandFailed extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Returns the commands of a step; this driver creates no others. */
export function hostCommands({ lane, summary, ...step }: Step): readonly Command[] {
  const commands = 'commands' in step ? step.commands : []
  return commands.map((one) => {
    if ('object' in one || one.do === 'put-snippet')
      throw new Error(`${summary} (${lane}) is not a step of a host over SSH`)
    return one
  })
}

/**
 * Performs the commands of one step in order, in as few round trips as possible. If one fails, an armed change is
 * reverted at once.
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

/** Groups neighbours that can be batched. */
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
      // croft was cut off and the host reverted the change: that is no success.
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

/** Reverts at once if croft still has access; otherwise the host does it by itself. */
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
    transient: true,
    message: `${showCommand(command).slice(0, 200)} on ${host} ended with ${code}${why === '' ? '' : `: ${why}`}`,
  })
}

/** The scripts that revert unconfirmed changes, one file each. */
const ARMED = '/var/lib/croft/revert'

const UNIT = '/etc/systemd/system/croft-revert.service'
/**
 * A host that restarts in between has lost its timer: it reverts the change once the affected services run. Earlier, a
 * reload of sshd would wait for sshd, and sshd for this unit.
 */
const AT_START = [
  '[Unit]',
  'Description=Revert what croft changed and nobody confirmed',
  'After=network.target ssh.service',
  '[Service]',
  'Type=oneshot',
  `ExecStart=/bin/sh -c 'for f in ${ARMED}/*; do [ -f "$$f" ] && /bin/sh "$$f"; done; :'`,
  '[Install]',
  'WantedBy=multi-user.target',
].join('\\n')

/**
 * As a systemd timer if systemd runs, else as a detached process; both survive croft's connection and use the monotonic
 * clock.
 */
const ARM =
  `${HOST_PROGRAMS.arm}\n${HOST_PATH}; ` +
  'if [ -d /run/systemd/system ]; then systemctl stop "croft-revert-$1.timer" 2>/dev/null; ' +
  `[ -s ${UNIT} ] && systemctl is-enabled --quiet croft-revert.service 2>/dev/null || { printf '${AT_START.replaceAll("'", `'\\''`)}\\n' >${UNIT}.new && mv -f ${UNIT}.new ${UNIT} && systemctl enable --quiet croft-revert.service; }; ` +
  'systemd-run --quiet --collect --unit="croft-revert-$1" --on-active="$2" --timer-property=AccuracySec=1s /bin/sh "$3"; ' +
  'else setsid -f sh -c \'sleep "$1"; exec /bin/sh "$2"\' sh "$2" "$3" </dev/null >/dev/null 2>&1; fi'

const DISARM =
  `${HOST_PROGRAMS.disarm}\n${HOST_PATH}; ` +
  // The timer is stopped in any case: left behind, it would revert the next change of the same thing.
  'said=0; [ -e "$2" ] || said=7; rm -f -- "$2"; ' +
  'if [ -d /run/systemd/system ]; then systemctl stop "croft-revert-$1.timer" 2>/dev/null || :; ' +
  `if rmdir ${ARMED} 2>/dev/null; then systemctl disable --quiet croft-revert.service 2>/dev/null; rm -f ${UNIT}; fi; fi; exit "$said"`

/**
 * The script by which a host reverts an unconfirmed change. It deletes itself first, so that it runs once; if it is
 * missing, the change was confirmed. sh reads it, so every word is quoted.
 */
export function revertScript(commands: readonly Command[], self: string): string {
  const lines = [
    `[ -e ${shellQuoted(self)} ] || exit 0`,
    `rm -f -- ${shellQuoted(self)}`,
    `LC_ALL=C; export LC_ALL; ${HOST_PATH}; umask 077`,
  ]
  for (const command of commands) {
    switch (command.do) {
      case 'run':
        lines.push(command.argv.map(shellQuoted).join(' '))
        break
      case 'remove':
        lines.push(`rm -f -- ${shellQuoted(command.path)}`)
        break
      case 'put': {
        const path = shellQuoted(command.path)
        const base64 = Buffer.from(command.content ?? '', 'utf8').toString('base64')
        const { owner = 'root', group } = command
        // An owner with a trailing colon means that user's group.
        const who = owner.endsWith(':') ? owner : `${owner}:${group ?? 'root'}`
        lines.push(`printf %s ${shellQuoted(base64)} | base64 -d >${path}.croft-revert`)
        lines.push(`chown -- ${shellQuoted(who)} ${path}.croft-revert`)
        lines.push(`chmod -- ${(command.mode ?? 0o644).toString(8).padStart(4, '0')} ${path}.croft-revert`)
        lines.push(`sync -d -- ${path}.croft-revert 2>/dev/null`)
        lines.push(`mv -fT -- ${path}.croft-revert ${path}`)
        break
      }
      case 'arm':
      case 'prove':
      case 'disarm':
        break
    }
  }
  return `${lines.join('\n')}\n`
}
