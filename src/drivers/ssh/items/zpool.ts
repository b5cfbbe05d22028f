import type { Change } from '../../../model/change.ts'
import type { HostItemOf } from '../../../model/host-item.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { diskAsks, diskIn, eraseObjection } from './disk.ts'

/** A ZFS pool: made, imported, given more mirrors; never taken apart. */
export const zpool: ItemRules<'zpool'> = {
  type: 'zpool',
  queues: ['single/disks'],
  asks: ({ name, spec }) => [
    { ask: 'run', argv: ['zpool', 'status', '-P', name] },
    { ask: 'run', argv: ['zpool', 'get', '-H', '-p', '-o', 'property,value', 'all', name] },
    { ask: 'run', argv: importable(name) },
    ...spec.vdevs.flatMap(({ devices }) => devices.flatMap(diskAsks)),
  ],
  diff(item, seen) {
    const { name, spec } = item
    const status = seen.run('zpool', 'status', '-P', name)
    if (status.code !== 0) {
      if (isImportable(name, seen.run(...importable(name)).out))
        return spec.import === false
          ? [refusal('pool', `a pool ${name} is on the disks of this host already`, 'set import: true to take it over')]
          : [change('pool', 'exported', 'imported')]
      const objections = devicesOf(item).flatMap((device) => {
        const found = eraseObjection(device, diskIn(device, seen), spec.erase, `the pool ${name}`)
        return found === undefined ? [] : [found]
      })
      return objections.length > 0 ? objections.slice(0, 1) : [change('pool', null, layout(item).join(' '))]
    }
    const changes: Change[] = []
    for (const vdev of spec.vdevs) {
      const missing = vdev.devices.filter((device) => !hasDevice(status.out, device))
      if (missing.length === 0) continue
      if (vdev.type === 'mirror' && missing.length < vdev.devices.length) {
        for (const device of missing)
          changes.push(
            eraseObjection(device, diskIn(device, seen), spec.erase, `the pool ${name}`) ??
              change('mirror', null, device),
          )
      } else
        changes.push(
          refusal(
            'vdevs',
            `${missing.join(', ')} is not in the pool ${name}`,
            'a pool is only given more mirrors; add other vdevs by hand',
          ),
        )
    }
    const properties = new Map(
      seen
        .run('zpool', 'get', '-H', '-p', '-o', 'property,value', 'all', name)
        .out.split('\n')
        .map((line) => line.split('\t') as [string, string]),
    )
    for (const [property, value] of Object.entries(spec.properties))
      if (properties.get(property) !== value)
        changes.push(change(`properties.${property}`, properties.get(property) ?? null, value))
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
    const { out } = seen.run('zpool', 'status', '-P', name)
    for (const one of changes) {
      if (one.path === 'mirror') {
        const device = String(one.to)
        const beside = spec.vdevs
          .find((vdev) => vdev.devices.includes(device))
          ?.devices.find((other) => hasDevice(out, other))
        if (beside !== undefined)
          commands.push(run('wipefs', '-a', '--', device), run('zpool', 'attach', name, beside, device))
      }
      if (one.path.startsWith('properties.'))
        commands.push(run('zpool', 'set', `${one.path.slice('properties.'.length)}=${String(one.to)}`, name))
    }
    return commands
  },
}

const devicesOf = (item: HostItemOf<'zpool'>) => item.spec.vdevs.flatMap(({ devices }) => devices)
const layout = (item: HostItemOf<'zpool'>) =>
  item.spec.vdevs.flatMap(({ type, devices }) => [...(type === 'disk' ? [] : [type]), ...devices])

function refusal(path: string, message: string, allow: string): Change {
  return { ...change(path, null, null), blocked: { message, allow } }
}

const BY_ID = '/dev/disk/by-id'

/** Looks through all disks, which wakes those that sleep: only while the pool is not there. */
function importable(name: string): readonly string[] {
  return ['sh', '-c', 'zpool list -H "$1" >/dev/null 2>&1 || zpool import -d "$2"', 'sh', name, BY_ID]
}

function isImportable(name: string, out: string): boolean {
  return out.split('\n').some((line) => line.trim() === `pool: ${name}`)
}

/** zpool shows the first partition of a disk that it was given whole. */
function hasDevice(status: string, device: string): boolean {
  return status.split(/\s+/).some((word) => word === device || word === `${device}-part1`)
}
