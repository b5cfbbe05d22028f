import type { Box } from '../world/types.ts'

/** Where croft leaves the scripts that take unconfirmed changes back. */
export const REVERTS = '/var/lib/croft/revert/'

/** Runs such a script: what it writes is in it as base64, what it removes by name. False: it is not there any more. */
export function runRevert({ machine: { files } }: Box, script: string): boolean {
  const bytes = files.read(script)
  if (bytes === undefined) return false
  files.remove(script)
  let pending = ''
  for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
    const written = /^printf %s '([^']*)' \| base64 -d >'([^']*)'\.croft-revert$/.exec(line)
    const removed = /^rm -f -- '([^']*)'$/.exec(line)
    if (written !== null) pending = written[1] ?? ''
    const moved = /^mv -fT -- '[^']*'\.croft-revert '([^']*)'$/.exec(line)
    if (moved !== null) files.write(moved[1] ?? '', Buffer.from(pending, 'base64'))
    else if (removed !== null) files.remove(removed[1] ?? '')
  }
  return true
}
