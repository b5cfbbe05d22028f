import { HOST_PROGRAMS } from '../../model/host-item.ts'
import { type Command, run } from './command.ts'

/**
 * Reverts lines of a file that others write too: their later lines must stay, so restoring the whole old text would be
 * wrong. Constant text; a person's text comes as words, and reaches awk through its environment, where nothing is
 * interpreted. The file keeps its owner and mode, and is replaced atomically.
 */
export const EDIT = `${HOST_PROGRAMS.edit}
set -eu
[ -f "$2" ] || exit 0
t=$(mktemp -- "$2.croft-XXXXXXXX")
trap 'rm -f -- "$t"' EXIT
cp -p -- "$2" "$t"
W=$1 A=$3 B=$4 T=$5 awk '
BEGIN { w = ENVIRON["W"]; a = ENVIRON["A"]; b = ENVIRON["B"]; t = ENVIRON["T"] }
w == "block" && $0 == a { if (open) print kept; open = 1; kept = $0; next }
open && $0 == b { open = 0; if (t != "" && !done) { print a; print t; print b; done = 1 }; next }
open { kept = kept "\\n" $0; next }
w == "words" && !done && index($0, a) == 1 {
  text = substr($0, length(a) + 1); rest = ""; mark = substr(text, 1, 1)
  if (mark == "\\"" || mark == "\\047") {
    text = substr(text, 2); i = index(text, mark); if (i) { rest = substr(text, i + 1); text = substr(text, 1, i - 1) }
  } else mark = ""
  split("", out); n = 0; split("", gone); m = split(b, list, " "); for (i = 1; i <= m; i++) gone[list[i]] = 1
  k = split(text, list, " "); for (i = 1; i <= k; i++) if (!(list[i] in gone)) { out[list[i]] = 1; all[++n] = list[i] }
  k = split(t, list, " "); for (i = 1; i <= k; i++) if (!(list[i] in gone) && !(list[i] in out)) all[++n] = list[i]
  text = ""; for (i = 1; i <= n; i++) text = text (i > 1 ? " " : "") all[i]
  print a mark text mark rest; done = 1; next
}
w == "line" && $0 == t { done = 1 }
(w == "line" && $0 == a && a != t) || (w == "mount" && $1 !~ /^#/ && $2 == a) {
  if (t != "" && !done) { print t; done = 1 }
  next
}
{ print }
END {
  if (open) print kept
  if (t != "" && !done && w != "words") { if (w == "block") { print a; print t; print b } else print t }
}' <"$2" >"$t"
sync -d -- "$t" 2>/dev/null || :
if [ "$6" = new ] && [ ! -s "$t" ]; then rm -f -- "$2"; else mv -fT -- "$t" "$2"; fi
`

export interface Edit {
  readonly what: 'line' | 'block' | 'mount' | 'words'
  readonly path: string
  /** Our line, the first line of our block, our mount's place, or the prefix of the line with our words. */
  readonly ours: string
  /** The last line of our block; our words. */
  readonly end?: string
  /** What it replaced. Empty: nothing. */
  readonly before: string
  /** The file did not exist: it is deleted once it is empty. */
  readonly created: boolean
}

export function editBack({ what, path, ours, end = '', before, created }: Edit): Command {
  return run('sh', '-c', EDIT, 'croft', what, path, ours, end, before, created ? 'new' : 'old')
}

/** Returns the lines that a command of ours reverts; undefined for any other command. */
export function editOf(command: Command): Edit | undefined {
  if (command.do !== 'run' || command.argv[2] !== EDIT) return undefined
  const [, , , , what, path = '', ours = '', end = '', before = '', created] = command.argv
  return { what: what as Edit['what'], path, ours, end, before, created: created === 'new' }
}

export function wordsIn(text = ''): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
