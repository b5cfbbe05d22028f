import { ownText } from '../lib/own-text.ts'

/*
 * The two programs that croft puts on a node, as text: they travel in user data and over shells. They are POSIX shell
 * and need only coreutils, sed, awk, systemd and curl or wget, because a node starts with nothing installed. They are
 * separate files, so that editors and shellcheck read them; the build copies them next to the program.
 */

/** The text of NODE_PROGRAM. */
export const NODE_PROGRAM_TEXT = ownText(import.meta.dirname, 'node-program.sh')
/** The text of GATES_PROGRAM. */
export const GATES_TEXT = ownText(import.meta.dirname, 'gates.sh')
