import { HOST_PROGRAMS } from '../../model/host-item.ts'
import { type Command, run } from './command.ts'
import { editOf } from './edit.ts'
import { armed, fileWord, HOST_PATH } from './item.ts'
import { filesIn, touchedBy } from './touched.ts'

/** Copies of files that a change replaces and that may break a login. */
const COPIES = '/var/lib/croft/before'

/**
 * Copies files as they are now, or notes that they do not exist. Copies of an attempt that is still armed stay: a
 * revert restores the state before that attempt.
 */
const KEEP = `${HOST_PROGRAMS.keep}
set -e
[ ! -e "$2" ] || exit 0
d=$1; shift 2; rm -rf -- "$d"; mkdir -p -m 0700 -- /var/lib/croft "${COPIES}" "$d"; n=0
for p; do n=$((n + 1)); if [ -L "$p" ] || [ -f "$p" ]; then cp -aT -- "$p" "$d/$n"; fi; done
sync -f -- "$d" 2>/dev/null || :
`

const PUT_BACK = `${HOST_PROGRAMS.putBack}
d=$1; shift; [ -d "$d" ] || exit 0; n=0
for p; do
  n=$((n + 1))
  if [ -L "$d/$n" ] || [ -e "$d/$n" ]; then cp -aT -- "$d/$n" "$p.croft-revert" && mv -fT -- "$p.croft-revert" "$p"
  elif [ ! -d "$p" ]; then rm -f -- "$p"; fi
done
`

/** Makes sshd reload its configuration. */
export const RELOAD_SSHD = run(
  'sh',
  '-c',
  'systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || if [ -s /run/sshd.pid ]; then kill -HUP "$(cat /run/sshd.pid)"; fi',
)

/**
 * Tests on croft's own computer whether sshd still admits an account with a shell. croft needs no login there, so its
 * own could prove nothing about people.
 */
export const LOGIN = `${HOST_PROGRAMS.login}
LC_ALL=C; export LC_ALL; ${HOST_PATH}
command -v sshd >/dev/null 2>&1 || exit 0
said=$(sshd -T 2>&1) || { printf '%s\n' "$said" | tail -n 3; exit 1; }
allowed=$(printf '%s\n' "$said" | sed -n 's/^allowusers //p')
[ -n "$allowed" ] || exit 0
set -f
users=$(getent passwd | awk -F: '($3 == 0 || $3 >= 1000) && $7 !~ /(nologin|false)$/ { print $1 }')
for one in $allowed; do
  case $one in *[*?@!]*) exit 0 ;; esac
  for user in $users; do [ "$one" != "$user" ] || exit 0; done
done
echo "sshd would let in nobody but" $allowed", and none of them has a shell"
exit 1
`

/**
 * Arms commands that change a way into the host, so that the host reverts them by itself unless a new login succeeds
 * afterwards. `undo` are programs that revert what no file holds. Other commands, and those that arm themselves, stay
 * as they are.
 */
export function guarded(id: string, commands: readonly Command[], undo: readonly Command[]): readonly Command[] {
  if (!touchedBy(commands).door || commands.some((one) => one.do === 'arm')) return commands
  const name = `item-${fileWord(id)}`.slice(0, 100)
  const copies = `${COPIES}/${name}`
  const paths = filesIn(commands)
  const ssh = paths.some((path) => path.startsWith('/etc/ssh/'))
  const sudo = paths.some((path) => /^\/etc\/sudoers(?:\.d)?(?:\/|$)/.test(path))
  const netplan = paths.some((path) => path.startsWith('/etc/netplan/'))
  const programs = undo.filter((one) => one.do === 'run' && editOf(one) === undefined)
  return [
    run('sh', '-c', KEEP, 'croft', copies, `/var/lib/croft/revert/${name}`, ...paths),
    ...armed(
      name,
      [run('sh', '-c', PUT_BACK, 'croft', copies, ...paths), ...programs, ...(ssh ? [RELOAD_SSHD] : [])],
      [
        ...commands,
        ...(sudo ? [run('visudo', '-c')] : []),
        ...(ssh ? [run('sshd', '-t'), RELOAD_SSHD] : []),
        ...(netplan ? [run('netplan', 'generate')] : []),
      ],
    ),
    run('rm', '-rf', '--', copies),
  ]
}
