import type { Change } from '../../../model/resource.ts'
import type { HostQuestion, ItemFacts } from '../ask.ts'
import { change } from '../item.ts'

/** The facts about a disk before anything on it may be lost. */
export interface HostDisk {
  readonly there: boolean
  readonly serial: string
  /** The kernel's path of it, like /dev/sdb. */
  readonly real: string
  /** Everything on it: `ext4`, `zfs_member`, `part`. Empty: nothing recognised. */
  readonly content: string
  /** Signatures on the disk itself, without its partitions. */
  readonly own: readonly string[]
  /** ZFS pools that it belongs or belonged to. */
  readonly pools: readonly string[]
  /** False: its content is unreadable, so it may be anything. */
  readonly readable: boolean
  readonly mounted: boolean
}

/**
 * Disks are named by their id, never by a letter, which may change. Their content is read from the disk itself: lsblk
 * only repeats udev's notes, and shows nothing where udev does not run.
 */
export function diskAsks(device: string): readonly HostQuestion[] {
  return [rowsOf, signaturesOf, partitionsOf, realOf].map((of) => ({ ask: 'run', argv: of(device) }))
}

const rowsOf = (device: string) => ['lsblk', '-n', '-r', '-o', 'TYPE,SERIAL,FSTYPE,MOUNTPOINT', '--', device]
const signaturesOf = (device: string) => ['wipefs', '--noheadings', '--output', 'TYPE,LABEL', '--', device]
/** A whole disk of ZFS or Ceph has its signature on the first partition. */
const partitionsOf = (device: string) => [
  'sh',
  '-c',
  'for q in "$1"-part*; do [ ! -e "$q" ] || wipefs --noheadings --output TYPE,LABEL -- "$q" || exit; done',
  'sh',
  device,
]
const realOf = (device: string) => ['readlink', '-f', '--', device]

export function diskIn(device: string, seen: ItemFacts): HostDisk {
  const { code, out } = seen.run(...rowsOf(device))
  const rows = linesOf(out).map((line) => line.split(' '))
  const [, serial = '', noted = ''] = rows[0] ?? []
  const [whole, parts] = [seen.run(...signaturesOf(device)), seen.run(...partitionsOf(device))]
  const signatures = [whole, parts].map((read) => linesOf(read.out).map((line) => line.trim().split(/\s+/)))
  const typesIn = (found: readonly string[][] = []) => [...new Set(found.map(([type = '']) => type))]
  const onAll = typesIn(signatures.flat())
  const readable = whole.code === 0 && parts.code === 0
  const known = onAll.join(',') || noted || rows.slice(1).map((row) => row[2] || row[0])
  return {
    there: code === 0 && rows.length > 0,
    // lsblk prints an inner blank as \x20.
    serial: serial.replaceAll('\\x20', ' ').trim(),
    real: seen.run(...realOf(device)).out.trim(),
    content: readable ? String(known) : 'something that cannot be read',
    own: typesIn(signatures[0]),
    pools: signatures.flat().flatMap(([type, ...label]) => (type === 'zfs_member' ? [label.join(' ')] : [])),
    readable,
    mounted: rows.some((row) => (row[3] ?? '') !== ''),
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

/**
 * Returns why this disk must not be erased, or undefined. It must exist, be unused and readable, and a person must have
 * declared its serial number. That number stays in Git after the first erasure, so it permits not everything: the
 * caller names what must never be erased.
 */
export function eraseObjection(
  device: string,
  disk: HostDisk,
  erase: readonly string[] | undefined,
  what: string,
): Change | undefined {
  const refuse = (message: string, allow: string): Change => ({
    ...change('disk', disk.content, what),
    blocked: { message, allow },
  })
  if (!disk.there) return refuse(`there is no disk ${device}`, 'correct the path; croft host devices shows them')
  if (disk.mounted) return refuse(`something on ${device} is mounted`, 'unmount it, or name another disk')
  if (!disk.readable)
    return refuse(
      `${device} holds ${disk.content}, so nothing on it is erased`,
      'look at it by hand: croft host smart, wipefs',
    )
  if (erase === undefined || !erase.includes(disk.serial) || disk.serial === '')
    return refuse(
      `${device} (serial ${disk.serial || 'unknown'}) holds ${disk.content || 'nothing that is known'}, and ${what} would erase it`,
      `write its serial number down: erase: ["${disk.serial || 'SERIAL'}"]`,
    )
  return undefined
}
