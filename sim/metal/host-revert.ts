import { HOST_PROGRAMS } from '../../src/model/host-item.ts'
import type { Box } from '../world/types.ts'

/** Where croft leaves the scripts that take unconfirmed changes back. */
export const REVERTS = '/var/lib/croft/revert/'

/** Runs such a script: what it writes is in it as base64, what it removes by name. False: it is not there any more. */
export function runRevert(
  box: Box,
  script: string,
  copies: ReadonlyMap<string, ReadonlyMap<string, Uint8Array | undefined>>,
): boolean {
  const { files } = box.machine
  const bytes = files.read(script)
  if (bytes === undefined) return false
  files.remove(script)
  const text = Buffer.from(bytes).toString('utf8')
  const [, folder = ''] = new RegExp(`${HOST_PROGRAMS.putBack}[^']*' 'croft' '([^']*)'`).exec(text) ?? []
  for (const [path, before] of copies.get(folder) ?? []) {
    if (before === undefined) box.machine.files.remove(path)
    else box.machine.files.write(path, before)
  }
  const home = new RegExp(`${HOST_PROGRAMS.home}[\\s\\S]*?\\n' 'croft' '([^']*)' '([^']*)' '([^']*)' '([^']*)'`, 'g')
  for (const [, place = '', name = '', what = '', content = ''] of text.matchAll(home)) {
    if (what === 'absent') files.remove(`${place}/${name}`)
    else files.write(`${place}/${name}`, content)
  }
  let pending = ''
  for (const line of text.split('\n')) {
    const written = /^printf %s '([^']*)' \| base64 -d >'([^']*)'\.croft-revert$/.exec(line)
    const removed = /^rm -f -- '([^']*)'$/.exec(line)
    if (written !== null) pending = written[1] ?? ''
    const moved = /^mv -fT -- '[^']*'\.croft-revert '([^']*)'$/.exec(line)
    if (moved !== null) files.write(moved[1] ?? '', Buffer.from(pending, 'base64'))
    else if (removed !== null) files.remove(removed[1] ?? '')
  }
  return true
}
