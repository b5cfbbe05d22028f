import { HOST_PROGRAMS } from '../../model/host-item.ts'
import { type Command, run } from './command.ts'

/**
 * Writes or removes one file in a folder below a home, as the user that the home belongs to: root follows a link that a
 * user puts there, and gives away what it leads to.
 */
const WRITE = `${HOST_PROGRAMS.home}
set -eu
[ "$3" != absent ] || { rm -f -- "$1/$2"; exit; }
umask 077
chmod 0700 -- "$1"
t=$(mktemp -- "$1/.croft.XXXXXXXX")
trap 'rm -f -- "$t"' EXIT
printf %s "$4" >"$t"
chmod 0600 -- "$t"
sync -d -- "$t" 2>/dev/null || :
mv -fT -- "$t" "$1/$2"
`

/** The folder itself is made by root: a home may be root's own. Neither command follows a link in its place. */
export function writeInHome(user: string, folder: string, name: string, content: string): readonly Command[] {
  return [
    run('mkdir', '-p', '--', folder),
    run('chown', '-h', '--', `${user}:`, folder),
    asUser(user, folder, name, 'written', content),
  ]
}

export function removeInHome(user: string, folder: string, name: string): Command {
  return asUser(user, folder, name, 'absent', '')
}

function asUser(user: string, folder: string, name: string, what: 'written' | 'absent', content: string): Command {
  return run('runuser', '-u', user, '--', 'sh', '-c', WRITE, 'croft', folder, name, what, content)
}

/** The file that such a command is about; undefined for any other command. */
export function fileInHome(argv: readonly string[]): string | undefined {
  return argv[6] === WRITE ? `${argv[8] ?? ''}/${argv[9] ?? ''}` : undefined
}
