import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import type { ItemFacts } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { diskAsks, diskIn, eraseObjection } from './disk.ts'

/** A ZFS pool: created, imported, extended by mirrors; never taken apart. */
export const zpool: ItemRules<'zpool'> = {
  type: 'zpool',
  queues: ['single/disks'],
  asks: (item) => [
    ...[LIST, statusOf(item.name), statusOf(item.name, '-L'), getAll(item.name), importable(item.name)].map(
      (argv) => ({ ask: 'run', argv }) as const,
    ),
    ...devicesOf(item).flatMap(diskAsks),
  ],
  diff(item, seen) {
    const { name, spec } = item
    const pools = seen.run(...LIST)
    // A silent ZFS does not prove that there is no pool: its module may be missing after an upgrade.
    if (pools.code !== 0)
      return [refusal('zfs', 'ZFS does not answer on this host', 'install zfsutils-linux, and load the module zfs')]
    if (!pools.out.split('\n').includes(name)) return missingPool(item, seen)
    const changes: Change[] = []
    for (const vdev of spec.vdevs) {
      const missing = vdev.devices.filter((device) => nameInPool(name, device, seen) === undefined)
      if (missing.length === 0) continue
      if (vdev.type === 'mirror' && missing.length < vdev.devices.length) {
        for (const device of missing) changes.push(objectionTo(item, device, seen) ?? change('mirror', null, device))
      } else
        changes.push(
          refusal(
            'vdevs',
            `${missing.join(', ')} is not in the pool ${name}`,
            'a pool is only given more mirrors; add other vdevs by hand',
          ),
        )
    }
    const properties = propertiesIn(seen.run(...getAll(name)).out)
    for (const [property, value] of Object.entries(spec.properties)) {
      const there = properties.get(property)?.value
      if (!sameProperty(there, value)) changes.push(change(`properties.${property}`, there ?? null, value))
    }
    return changes
  },
  commands(item, seen, changes) {
    const { name, spec } = item
    const properties = Object.entries(spec.properties)
    const pool = changes.find((one) => one.path === 'pool')
    if (pool?.to === 'imported') return [run('zpool', 'import', '-d', BY_ID, name)]
    if (pool !== undefined)
      return [
        ...devicesOf(item).map((device) => run('wipefs', '-a', '--', device)),
        run(
          'zpool',
          'create',
          '-f',
          ...properties.flatMap(([key, value]) => ['-o', `${key}=${value}`]),
          name,
          ...layout(item),
        ),
      ]
    const commands: Command[] = []
    for (const one of changes) {
      if (one.path === 'mirror') {
        const device = String(one.to)
        const [mirrorOf] = (spec.vdevs.find((vdev) => vdev.devices.includes(device))?.devices ?? []).flatMap(
          (other) => nameInPool(name, other, seen) ?? [],
        )
        if (mirrorOf !== undefined)
          commands.push(run('wipefs', '-a', '--', device), run('zpool', 'attach', name, mirrorOf, device))
      }
      if (one.path.startsWith('properties.'))
        commands.push(run('zpool', 'set', `${one.path.slice('properties.'.length)}=${String(one.to)}`, name))
    }
    return commands
  },
}

/** The pool is missing: import it from the disks, create it, or neither. */
function missingPool(item: HostItemOf<'zpool'>, seen: ItemFacts): readonly Change[] {
  const { name, spec } = item
  if (isImportable(name, seen.run(...importable(name)).out))
    return spec.import === false
      ? [refusal('pool', `a pool ${name} is on the disks of this host already`, 'set import: true to take it over')]
      : [change('pool', 'exported', 'imported')]
  const objections = devicesOf(item).flatMap((device) => objectionTo(item, device, seen) ?? [])
  return objections.length > 0 ? objections.slice(0, 1) : [change('pool', null, layout(item).join(' '))]
}

/** A disk of the same pool is never erased for it: `erase` permitted that for its former content. */
function objectionTo({ name, spec }: HostItemOf<'zpool'>, device: string, seen: ItemFacts): Change | undefined {
  const disk = diskIn(device, seen)
  if (disk.pools.includes(name))
    return refusal(
      'disk',
      `${device} holds a part of a pool ${name}, which is not erased for a new one`,
      `bring that pool back (zpool import ${name}), or empty the disk by hand: zpool labelclear ${device}`,
    )
  return eraseObjection(device, disk, spec.erase, `the pool ${name}`)
}

const devicesOf = (item: HostItemOf<'zpool'>) => item.spec.vdevs.flatMap(({ devices }) => devices)
const layout = (item: HostItemOf<'zpool'>) =>
  item.spec.vdevs.flatMap(({ type, devices }) => [...(type === 'disk' ? [] : [type]), ...devices])

function refusal(path: string, message: string, allow: string): Change {
  return { ...change(path, null, null), blocked: { message, allow } }
}

const LIST = ['zpool', 'list', '-H', '-o', 'name']
const statusOf = (name: string, ...how: readonly string[]) => ['zpool', 'status', ...how, '-P', name]
const getAll = (name: string) => ['zpool', 'get', '-H', '-p', '-o', 'property,value', 'all', name]
const BY_ID = '/dev/disk/by-id'

/** Scans all disks, which wakes sleeping ones: only while the pool is missing. */
function importable(name: string): readonly string[] {
  return ['sh', '-c', 'zpool list -H "$1" >/dev/null 2>&1 || zpool import -d "$2"', 'sh', name, BY_ID]
}

function isImportable(name: string, out: string): boolean {
  return out.split('\n').some((line) => line.trim() === `pool: ${name}`)
}

/**
 * Returns the pool's name of this disk; undefined: it is not one of its disks. It may have been added by another name
 * (/dev/sdb, wwn-…): both lists have the same lines, one with resolved names. A whole disk is listed by its first
 * partition.
 */
function nameInPool(name: string, device: string, seen: ItemFacts): string | undefined {
  const [shown, real] = [statusOf(name), statusOf(name, '-L')].map((argv) => seen.run(...argv).out.split('\n'))
  const words = (line = '') => line.split(/\s+/)
  if (shown?.some((line) => words(line).some((word) => word === device || word === `${device}-part1`))) return device
  const { real: path } = diskIn(device, seen)
  const own = [path, `${path}1`, `${path}p1`]
  const at = path === '' ? -1 : (real ?? []).findIndex((line) => words(line).some((word) => own.includes(word)))
  return words(shown?.[at]).find((word) => word !== '')
}

/**
 * Reports whether the value is the wanted one. `-p` shows sizes in bytes, and no limit as 0 or as the largest number; a
 * person writes 1G and none.
 */
export function sameProperty(seen: string | undefined, wanted: string): boolean {
  if (seen === undefined) return false
  if (seen === wanted) return true
  if (PLAIN_NAMES[wanted] !== undefined) return seen === PLAIN_NAMES[wanted]
  if (wanted === 'none') return seen === '0' || seen === NO_LIMIT
  const bytes = bytesOf(wanted)
  return bytes !== undefined && bytes === bytesOf(seen)
}

/** Values that ZFS accepts and shows by another name. */
const PLAIN_NAMES: Readonly<Record<string, string>> = { posixacl: 'posix', noacl: 'off' }

const NO_LIMIT = '18446744073709551615'
const UNITS = 'KMGTPE'
const SIZE = /^([0-9]+(?:\.[0-9]+)?)(?:([KMGTPE])(?:i?B)?|B)?$/i

/** ZFS counts in powers of 1024, with every unit. */
function bytesOf(text: string): bigint | undefined {
  const [, number = '', unit = ''] = SIZE.exec(text) ?? []
  if (number === '') return undefined
  const shift = BigInt(unit === '' ? 0 : 10 * (UNITS.indexOf(unit.toUpperCase()) + 1))
  const [whole = '0', part = ''] = number.split('.')
  return (BigInt(whole + part) << shift) / 10n ** BigInt(part.length)
}

/** One property as `get -H -p -o property,value,source` prints it. */
export interface ZfsProperty {
  readonly value: string
  /** It is set on this dataset; otherwise it is inherited or a default. */
  readonly isOwn: boolean
}

export function propertiesIn(out: string): ReadonlyMap<string, ZfsProperty> {
  const rows = out.split('\n').map((line) => line.split('\t'))
  return new Map(
    rows.map(([name = '', value = '', source = 'local']) => [
      name,
      { value, isOwn: source === 'local' || source === 'received' },
    ]),
  )
}
