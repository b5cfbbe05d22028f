import { HOST_PROGRAMS } from '../../model/host-item.ts'
import { type Command, run } from './command.ts'

/** Writes or deletes one file below a home, as that user: root would follow a user's link and give its target away. */
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

/** root creates the folder itself, since a home may be root's. Neither command follows a link there. */
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

/** Returns the file of such a command; undefined for any other command. */
export function fileInHome(argv: readonly string[]): string | undefined {
  return argv[6] === WRITE ? `${argv[8] ?? ''}/${argv[9] ?? ''}` : undefined
}
