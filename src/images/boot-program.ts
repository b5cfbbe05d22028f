import { recordIn } from '../lib/foreign-json.ts'
import { isRecord } from '../lib/is-record.ts'

/*
 * One program on the computer with the image does the whole look, so that the machine ends with that program or with
 * us. It only collects; its findings are judged here.
 */

/**
 * Starts QEMU (all further words), waits for the guest agent, has it run the request in $4, and prints the results, one
 * line each. An agent that starts late finds all earlier requests queued: each has its own number. The console's
 * timeout is half as long again as all before it, for the login that comes last.
 */
export const BOOT_PROGRAM = `set -u
work=$1 limit=$2 patience=$3 request=$4
shift 4
mkfifo "$work/agent.in" "$work/agent.out" || exit 1
exec 4<>"$work/agent.in" 5<>"$work/agent.out"
: >"$work/console"
started=$(date +%s)
timeout --foreground -k 10 "$limit" "$@" >"$work/said" 2>&1 </dev/null 4>&- 5>&- &
qemu=$!
trap 'kill "$qemu" 2>/dev/null; wait "$qemu" 2>/dev/null' EXIT
trap 'exit 143' HUP INT TERM
asked=0
passed() { echo $(($(date +%s) - started)); }
runs() { kill -0 "$qemu" 2>/dev/null; }
ask() {
  asked=$((asked + 1))
  printf '{"execute":"guest-sync","arguments":{"id":%s}}\\n%s\\n' "$asked" "$1" >&4
  answer=$(timeout 10 sh -c '
    found=
    while read -r line; do
      if [ -n "$found" ]; then printf "%s\\n" "$line"; exit 0; fi
      case $line in *"\\"return\\": $1}"*) found=yes ;; esac
    done' croft "$asked" <&5)
  [ -n "$answer" ]
}
until ask '{"execute":"guest-ping"}'; do
  if ! runs; then echo "agent ended"; break; fi
  if [ "$(passed)" -ge "$patience" ]; then echo "agent silent"; break; fi
done
if [ -n "$answer" ]; then
  echo "agent $(passed)"
  ask "$request"
  pid=$(printf '%s' "$answer" | sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p')
  while [ -n "$pid" ] && runs && [ "$(passed)" -lt "$limit" ]; do
    sleep 2
    ask "{\\"execute\\":\\"guest-exec-status\\",\\"arguments\\":{\\"pid\\":$pid}}" || continue
    case $answer in *'"exited": true'*) break ;; esac
  done
  printf 'answer %s\\n' "$(printf '%s' "$answer" | base64 -w0)"
  patience=$((60 + $(passed) * 3 / 2))
  while runs && [ "$(passed)" -lt "$patience" ] && ! grep -q 'login:' "$work/console"; do sleep 2; done
fi
printf 'console %s\\n' "$(tail -c 65536 "$work/console" | base64 -w0)"
printf 'said %s\\n' "$(tail -c 4096 "$work/said" | base64 -w0)"
`

/** Inside the machine: waits until cloud-init has ended or the machine is up for $1 seconds, and lists what is judged. */
const LOOK = `up() { cut -d. -f1 /proc/uptime; }
if command -v cloud-init >/dev/null; then
  while [ ! -e /run/cloud-init/result.json ] && [ "$(up)" -lt "$1" ]; do sleep 2; done
  echo cloud-init there
fi
echo boot "$(sed -n 's/^btime //p' /proc/stat)"
echo machine-id "$(stat -c %Y /etc/machine-id)" "$(cat /etc/machine-id)"
for file in result status; do
  [ -e /run/cloud-init/$file.json ] && echo "$file" "$(tr -d '\\n' </run/cloud-init/$file.json)"
done
[ -e /var/lib/cloud/data/instance-id ] && echo instance-id "$(cat /var/lib/cloud/data/instance-id)"
command -v sshd >/dev/null && echo sshd there
for key in /etc/ssh/ssh_host_*_key; do [ -e "$key" ] && echo key "$(stat -c %Y "$key")" "$key"; done
exit 0`

/** Returns the request to the guest agent: the look with its output. */
export function lookRequest(uptimeSeconds: number): string {
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return JSON.stringify({
    execute: 'guest-exec',
    arguments: {
      path: '/bin/sh',
      arg: ['-c', LOOK, 'croft', String(uptimeSeconds)],
      env: [`PATH=${path}`, 'LC_ALL=C'],
      'capture-output': true,
    },
  })
}

/** The observations of a started image. */
export interface BootReport {
  /** Seconds until the guest agent answered; `silent`: it did not; `ended`: the machine was gone before. */
  readonly agent: number | 'silent' | 'ended'
  /** The machine's output, one line per fact. Undefined: none. */
  readonly told: string | undefined
  /** Why there is no output although the agent answers. */
  readonly refused: string | undefined
  /** The last of what came on the serial console. */
  readonly console: string
  /** QEMU's own output. */
  readonly said: string
}

/** Reads what BOOT_PROGRAM printed. Undefined: it did not get so far as to print it. Pure. */
export function readBootReport(text: string): BootReport | undefined {
  const lines = new Map(
    text.split('\n').map((line) => {
      const [, name = '', value = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
      return [name, value] as const
    }),
  )
  const agent = lines.get('agent')
  if (agent === undefined || !lines.has('said')) return undefined
  const decoded = (name: string) => Buffer.from(lines.get(name) ?? '', 'base64').toString('utf8')
  return {
    agent: agent === 'silent' || agent === 'ended' ? agent : Number(agent),
    ...readAnswer(decoded('answer')),
    console: decoded('console'),
    said: decoded('said'),
  }
}

function readAnswer(text: string): Pick<BootReport, 'told' | 'refused'> {
  const reply = recordIn(text)
  const done = reply?.return
  if (isRecord(done) && done.exited === true) {
    const printed = done['out-data']
    return {
      told: Buffer.from(typeof printed === 'string' ? printed : '', 'base64').toString('utf8'),
      refused: undefined,
    }
  }
  const error = reply?.error
  return { told: undefined, refused: isRecord(error) && typeof error.desc === 'string' ? error.desc : undefined }
}
