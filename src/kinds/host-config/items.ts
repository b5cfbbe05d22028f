import type { HostItem } from '../../model/host-item.ts'
import { secretReferenceOf } from '../fields/ssh.ts'
import type { HostConfigSpec } from './schema.ts'

/** Returns the separate items of a configuration. */
export function itemsOf(name: string, spec: HostConfigSpec): readonly HostItem[] {
  return [
    ...spec.aptRepositories.map(({ name, ...rest }): HostItem => ({ type: 'apt-repository', name, spec: clean(rest) })),
    ...spec.packages.map((one): HostItem => {
      const { name, ...rest } = typeof one === 'string' ? { name: one } : one
      return { type: 'package', name, spec: clean(rest) }
    }),
    ...spec.users.map(({ name, ...rest }): HostItem => ({ type: 'user', name, spec: clean(rest) })),
    ...spec.directories.map(({ path, ...rest }): HostItem => ({ type: 'directory', name: path, spec: clean(rest) })),
    ...spec.files.map(
      ({ path, secret, ...rest }): HostItem => ({
        type: 'file',
        name: path,
        spec: clean({ ...rest, ...(secret === undefined ? {} : { secret: secretReferenceOf(secret) }) }),
      }),
    ),
    ...spec.fetches.map(({ path, ...rest }): HostItem => ({ type: 'fetch', name: path, spec: clean(rest) })),
    ...spec.commands.map(({ name, ...rest }): HostItem => ({ type: 'command', name, spec: clean(rest) })),
    ...spec.lines.map(
      (one): HostItem => ({ type: 'line', name: `${one.path}:${one.match ?? one.line}`, spec: clean(one) }),
    ),
    ...spec.blocks.map(
      ({ name, ...rest }): HostItem => ({
        type: 'block',
        name: `${rest.path}:${name}`,
        spec: clean({ ...rest, block: name }),
      }),
    ),
    ...Object.entries(spec.sysctl).map(([key, value]): HostItem => ({ type: 'sysctl', name: key, spec: { value } })),
    ...spec.modules.map((one): HostItem => {
      const { name, ...rest } = typeof one === 'string' ? { name: one } : one
      return { type: 'module', name, spec: clean(rest) }
    }),
    ...(spec.kernel === undefined ? [] : [{ type: 'kernel-args', name: 'cmdline', spec: spec.kernel } as const]),
    ...(spec.vfio === undefined ? [] : [{ type: 'vfio', name: 'vfio-pci', spec: spec.vfio } as const]),
    ...spec.udev.map(({ name, rules }): HostItem => ({ type: 'udev', name, spec: { rules } })),
    ...(spec.coral === undefined ? [] : [{ type: 'coral', name: spec.coral, spec: { bus: spec.coral } } as const]),
    ...spec.units.map(({ name, ...rest }): HostItem => ({ type: 'unit', name, spec: clean(rest) })),
    ...spec.btrfs.map(({ path, ...rest }): HostItem => ({ type: 'btrfs', name: path, spec: clean(rest) })),
    ...spec.zpools.map(({ name, ...rest }): HostItem => ({ type: 'zpool', name, spec: clean(rest) })),
    ...spec.datasets.map(({ name, properties }): HostItem => ({ type: 'zfs-dataset', name, spec: { properties } })),
    ...spec.cephDisks.map(({ device, ...rest }): HostItem => ({ type: 'ceph-disk', name: device, spec: clean(rest) })),
    ...spec.mounts.map(({ path, ...rest }): HostItem => ({ type: 'mount', name: path, spec: clean(rest) })),
    ...spec.addresses.map((one): HostItem => ({ type: 'network-address', name: one.interface, spec: clean(one) })),
    ...(spec.hostname === undefined
      ? []
      : [{ type: 'hostname', name: 'hostname', spec: { hostname: spec.hostname } } as const]),
    ...(spec.hostEntries.length === 0 ? [] : [{ type: 'hosts', name, spec: { entries: spec.hostEntries } } as const]),
    ...(spec.dns === undefined ? [] : [{ type: 'dns', name: 'resolver', spec: spec.dns } as const]),
    ...(spec.time === undefined ? [] : [{ type: 'time', name: 'clock', spec: clean(spec.time) } as const]),
    ...(spec.nodeExporter === undefined
      ? []
      : [{ type: 'node-exporter', name: 'node-exporter', spec: spec.nodeExporter } as const]),
    ...(spec.sshd === undefined
      ? []
      : [{ type: 'sshd', name: 'sshd', spec: { settings: sshdSettings(spec.sshd) } } as const]),
  ]
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Removes undefined fields. */
function clean<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}

/** In sshd's own words. */
function sshdSettings(sshd: NonNullable<HostConfigSpec['sshd']>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(sshd)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name === 'x11Forwarding' ? 'X11Forwarding' : name.charAt(0).toUpperCase() + name.slice(1),
        Array.isArray(value) ? value.join(' ') : value === true ? 'yes' : value === false ? 'no' : String(value),
      ]),
  )
}

/** Returns the items on the same host that an item depends on: by type and name, never by position. */
export function standsOn(item: HostItem, others: readonly HostItem[]): readonly HostItem[] {
  const some = (keep: (other: HostItem) => boolean) => others.filter((other) => other !== item && keep(other))
  switch (item.type) {
    case 'package':
    case 'node-exporter':
      return some((other) => other.type === 'apt-repository')
    case 'directory':
    case 'file':
      return some(
        (other) =>
          (other.type === 'user' && (other.name === item.spec.owner || other.name === item.spec.group)) ||
          (other.type === 'directory' && item.name.startsWith(`${other.name}/`)) ||
          ((other.type === 'mount' || other.type === 'btrfs') && item.name.startsWith(`${other.name}/`)),
      )
    case 'fetch':
      return some(
        (other) => other.type === 'package' || (other.type === 'mount' && item.name.startsWith(`${other.name}/`)),
      )
    case 'command':
      // A command may use any of these. Not units: it may prepare one.
      return some((other) => ['package', 'fetch', 'file', 'directory', 'user', 'mount'].includes(other.type))
    case 'line':
    case 'block':
      return some((other) => (other.type === 'file' && other.name === item.spec.path) || other.type === 'package')
    case 'sysctl':
      return some((other) => other.type === 'module')
    case 'vfio':
      return some((other) => other.type === 'kernel-args')
    case 'unit':
      return some(
        (other) =>
          other.type === 'package' ||
          other.type === 'user' ||
          (other.type === 'unit' && item.name === other.name.replace(/\.service$/, '.timer')) ||
          ((other.type === 'file' || other.type === 'fetch') && (item.spec.content ?? '').includes(other.name)),
      )
    case 'mount':
      return some((other) => (other.type === 'btrfs' && other.name === item.name) || other.type === 'package')
    case 'btrfs':
    case 'zpool':
    case 'ceph-disk':
    case 'coral':
      return some((other) => other.type === 'package' || (other.type === 'module' && item.type !== 'coral'))
    case 'zfs-dataset':
      return some((other) => other.type === 'zpool' && item.name.startsWith(`${other.name}/`))
    case 'sshd':
      // Create users before restricting logins: they must be able to log in afterwards.
      return some((other) => other.type === 'user')
    default:
      return []
  }
}
