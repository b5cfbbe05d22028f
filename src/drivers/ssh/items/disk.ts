import type { Change } from '../../../model/change.ts'
import type { Ask, Seen } from '../ask.ts'
import { change } from '../item.ts'

/** What is known of a disk before anything on it may be lost. */
export interface Disk {
  readonly there: boolean
  readonly serial: string
  /** What is on it: `ext4`, `zfs_member`, `part`. Empty: nothing that anybody knows. */
  readonly content: string
  readonly mounted: boolean
}

/**
 * Disks are named by their id, never by the letter that they happened to get. What is on one is read from the disk
 * itself: lsblk only repeats what udev noted once, and says nothing where udev does not run.
 */
export function diskAsks(device: string): readonly Ask[] {
  return [
    { ask: 'run', argv: rowsOf(device) },
    { ask: 'run', argv: signaturesOf(device) },
  ]
}

const rowsOf = (device: string) => ['lsblk', '-n', '-r', '-o', 'TYPE,SERIAL,FSTYPE,MOUNTPOINT', '--', device]
const signaturesOf = (device: string) => ['wipefs', '--noheadings', '--output', 'TYPE', '--', device]

export function diskIn(device: string, seen: Seen): Disk {
  const { code, out } = seen.run(...rowsOf(device))
  const rows = linesOf(out).map((line) => line.split(' '))
  const [, serial = '', own = ''] = rows[0] ?? []
  const read = seen.run(...signaturesOf(device))
  const signatures = [...new Set(linesOf(read.out).map((line) => line.trim()))]
  const parts = rows.slice(1).map((row) => row[2] || row[0])
  const content = read.code !== 0 ? 'something that cannot be read' : signatures.join(',') || own || parts.join(',')
  return { there: code === 0 && rows.length > 0, serial, content, mounted: rows.some((row) => (row[3] ?? '') !== '') }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

/**
 * May this disk be emptied? Only when it is there, nothing on it is in use, and either nothing is on it or a person wrote
 * its serial number down. Undefined: yes.
 */
export function eraseObjection(
  device: string,
  disk: Disk,
  erase: readonly string[] | undefined,
  what: string,
): Change | undefined {
  const refuse = (message: string, allow: string): Change => ({
    ...change('disk', disk.content, what),
    blocked: { message, allow },
  })
  if (!disk.there) return refuse(`there is no disk ${device}`, 'correct the path; croft host devices shows them')
  if (disk.mounted) return refuse(`something on ${device} is mounted`, 'unmount it, or name another disk')
  if (erase === undefined || !erase.includes(disk.serial) || disk.serial === '')
    return refuse(
      `${device} (serial ${disk.serial || 'unknown'}) holds ${disk.content || 'nothing that is known'}, and ${what} would erase it`,
      `write its serial number down: erase: ["${disk.serial || 'SERIAL'}"]`,
    )
  return undefined
}
