import { LIMITS } from '../../lib/limits.ts'
import { HOST_PROGRAMS } from '../../model/host-item.ts'
import type { Command } from './command.ts'
import { HOST_PATH } from './item.ts'
import { word } from './probe.ts'

/** Commands for one round trip, and their time limit. */
export interface Batch {
  readonly text: string
  readonly timeoutMs: number
}

/** One command with its secret's current content. */
export type Ready = Extract<Command, { readonly do: 'run' | 'put' | 'remove' }>

/** Reports whether it can be batched. Commands with input or large content go alone. */
export function isSmall(command: Command): command is Ready {
  switch (command.do) {
    case 'run':
      return command.input === undefined
    case 'put':
      return (command.content ?? '').length <= LIMITS.batchedFileLength
    case 'remove':
      return true
    case 'arm':
    case 'prove':
    case 'disarm':
      return false
  }
}

/**
 * Package work in a separate script: completes what dpkg left half done, and updates missing or stale lists if an
 * installation fails.
 */
const PACKAGES = `exec >/var/lib/croft/packages.log 2>&1 </dev/null
LC_ALL=C; export LC_ALL; ${HOST_PATH}
[ -z "$(dpkg --audit 2>/dev/null)" ] || DEBIAN_FRONTEND=noninteractive dpkg --configure -a || exit
"$@" && exit; c=$?
case " $* " in *" install "*) apt-get -o DPkg::Lock::Timeout=120 update && exec "$@" ;; esac
exit "$c"
`

/**
 * Runs several commands in one round trip and stops at the first failure. Constant text: the commands come on the
 * input, one per line, every word encoded. A file is written beside its place and moved there, as a Shell does it. The
 * last line is the number of completed ones: fewer than sent means that the input was cut off.
 */
export const BATCH = String.raw`${HOST_PROGRAMS.batch}
LC_ALL=C; export LC_ALL; ${HOST_PATH}; umask 022
dec() { d=${'$'}{1#=}; case $d in *[!A-Za-z0-9_./:=@%+,-]*) d=$(printf %bx "$d"); d=${'$'}{d%x};; esac; }
fail() { printf 'failed %s %s\n' "$n" "$1"; printf '%s\n' "$2" | tail -c 3000; exit 0; }
putfile() {
  dec "$1"; p=$d; dec "$2"; o=$d; m=$3
  t=$(umask 077; mktemp -- "$(dirname -- "$p")/.croft.XXXXXXXX") || return 1
  printf '%s' "$4" | base64 -d >"$t" && { [ -z "$o" ] || chown -- "$o" "$t"; } && chmod -- "$m" "$t" &&
    { sync -d -- "$t" 2>/dev/null || :; } && mv -fT -- "$t" "$p" && return 0
  rm -f -- "$t"; return 1
}
packages() {
  limit=$1; shift; w=/var/lib/croft; mkdir -p -m 0700 -- "$w"
  if [ -d /run/systemd/system ]; then
    timeout "$limit" sh -c 'while systemctl is-active --quiet croft-packages.service; do sleep 1; done' || return
  fi
  cat >"$w/packages.sh.new" <<'END_OF_PACKAGES'
${PACKAGES}END_OF_PACKAGES
  mv -fT -- "$w/packages.sh.new" "$w/packages.sh"
  if [ -d /run/systemd/system ]; then
    timeout "$limit" systemd-run --quiet --wait --collect --unit=croft-packages /bin/sh "$w/packages.sh" "$@"
  else timeout "$limit" sh -c 'setsid /bin/sh "$@" & wait "$!"' sh "$w/packages.sh" "$@"; fi
  c=$?; [ "$c" = 0 ] || tail -c 2500 -- "$w/packages.log"; return "$c"
}
n=0
while IFS= read -r line; do
  set -f; set -- $line; set +f
  what=$1; shift
  case $what in
    run|packages)
      ok=$1; limit=$2; shift 2; k=$#; i=0
      while [ "$i" -lt "$k" ]; do dec "$1"; shift; set -- "$@" "$d"; i=$((i + 1)); done
      if [ "$what" = packages ]; then out=$(packages "$limit" "$@" 2>&1 </dev/null); c=$?
      else out=$(timeout -k 5 "$limit" "$@" 2>&1 </dev/null); c=$?; fi
      case ",$ok," in *",$c,"*) ;; *) fail "$c" "$out" ;; esac ;;
    put) out=$(putfile "$1" "$2" "$3" "$4" 2>&1) || fail 1 "$out" ;;
    remove) dec "$1"; out=$(rm -f -- "$d" 2>&1) || fail 1 "$out" ;;
    *) fail 2 "an unknown command" ;;
  esac
  n=$((n + 1))
done
echo "done $n"
`

export function batchOf(commands: readonly Ready[]): Batch {
  const limits = commands.map((command) => (command.do === 'run' ? limitOf(command) : 0))
  return {
    text: commands.map((command) => `${lineOf(command)}\n`).join(''),
    timeoutMs: limits.reduce((sum, limit) => sum + limit, LIMITS.commandTimeoutMs),
  }
}

function limitOf({ timeoutMs }: { readonly timeoutMs?: number }): number {
  return timeoutMs ?? LIMITS.hostCommandMs
}

function lineOf(command: Ready): string {
  switch (command.do) {
    case 'run': {
      const seconds = String(Math.ceil(limitOf(command) / 1000))
      return [
        command.packages === true ? 'packages' : 'run',
        (command.ok ?? [0]).join(','),
        seconds,
        ...command.argv.map(word),
      ].join(' ')
    }
    case 'put': {
      const { path, content = '', mode = 0o644, owner, group } = command
      const who = `${owner ?? ''}${group === undefined ? '' : `:${group}`}`
      const base64 = Buffer.from(content, 'utf8').toString('base64')
      return ['put', word(path), word(who), mode.toString(8).padStart(4, '0'), base64].join(' ')
    }
    case 'remove':
      return `remove ${word(command.path)}`
  }
}

export type BatchAnswer =
  | { readonly is: 'done' }
  | { readonly is: 'failed'; readonly at: number; readonly code: number; readonly said: string }
  /** Some may have run. */
  | { readonly is: 'cut' }

export function readBatch(output: string, sent: number): BatchAnswer {
  const failed = /^failed ([0-9]+) ([0-9]+)\n([\s\S]*)$/.exec(output)
  if (failed !== null) return { is: 'failed', at: Number(failed[1]), code: Number(failed[2]), said: failed[3] ?? '' }
  return output === `done ${sent}\n` ? { is: 'done' } : { is: 'cut' }
}
