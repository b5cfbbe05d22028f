import type { Change } from '../../../model/resource.ts'
import { run } from '../command.ts'
import { editBack } from '../edit.ts'
import { change, type ItemRules } from '../item.ts'
import { textOf, unreadable } from './line.ts'

const FSTAB = '/etc/fstab'

/** A mounted file system, now and after the next start. */
export const mount: ItemRules<'mount'> = {
  type: 'mount',
  queues: ['single/mounts', `single/file${FSTAB}`],
  asks: ({ name, spec }) => [
    { ask: 'file', path: FSTAB },
    { ask: 'run', argv: mounted(name) },
    { ask: 'run', argv: mountedFrom(name, spec) },
  ],
  diff({ name, spec }, seen) {
    const fstab = textOf(seen.file(FSTAB))
    if (fstab === undefined) return [unreadable(FSTAB, seen.file(FSTAB))]
    const changes: Change[] = []
    const old = lineIn(fstab, name)
    if (old?.trim().split(/\s+/).join(' ') !== entry(name, spec))
      changes.push(change('fstab', old ?? null, entry(name, spec)))
    const is = seen.run(...mounted(name))
    if ((is.code === 0) !== spec.mounted) changes.push(change('mounted', is.code === 0, spec.mounted))
    if (
      is.code === 0 &&
      spec.mounted &&
      COMPARED.test(spec.device) &&
      seen.run(...mountedFrom(name, spec)).code !== 0
    ) {
      const from = is.out.trim().split(/\s+/)[0] ?? ''
      const message = `${name} shows ${from}, and ${spec.device} is declared: what is written there now would be gone after the next start`
      const allow = `umount ${name}; croft then mounts ${spec.device}`
      changes.push({ ...change('device', from, spec.device), blocked: { message, allow } })
    }
    return changes
  },
  commands({ name, spec }, seen) {
    const fstab = textOf(seen.file(FSTAB)) ?? ''
    return [
      run('mkdir', '-p', '--', name),
      // Mounted before it is written to fstab: the next start must not wait for what cannot be mounted.
      ...(spec.mounted ? [run('sh', '-c', MOUNT, 'sh', name, spec.device, spec.fs, optionsOf(spec))] : []),
      {
        do: 'put',
        path: FSTAB,
        content: withEntry(fstab, name, entry(name, spec)),
        mode: 0o644,
        owner: 'root',
        group: 'root',
      },
      { do: 'run', argv: ['sh', '-c', 'if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi'] },
      ...(spec.mounted ? [] : [run('sh', '-c', UNMOUNT, 'sh', name)]),
    ]
  },
  undo({ name }, seen) {
    const fstab = textOf(seen.file(FSTAB))
    if (fstab === undefined) return undefined
    const created = seen.file(FSTAB).kind === 'absent'
    const back = editBack({ what: 'mount', path: FSTAB, ours: name, before: lineIn(fstab, name) ?? '', created })
    const was = seen.run(...mounted(name)).code === 0
    return [...(was ? [] : [run('sh', '-c', UNMOUNT, 'sh', name)]), back]
  },
}

type MountSpec = Parameters<(typeof mount)['asks']>[0]['spec']

const MOUNT = 'mountpoint -q -- "$1" || mount -t "$3" -o "$4" -- "$2" "$1"'
const UNMOUNT = 'if mountpoint -q -- "$1"; then umount -- "$1"; fi'
const mounted = (path: string) => ['findmnt', '-n', '-o', 'SOURCE,FSTYPE', '--mountpoint', path] as const
/** Exits with 0 if exactly this is mounted there: findmnt resolves labels and UUIDs. */
const mountedFrom = (path: string, { device }: MountSpec) =>
  ['findmnt', '-n', '-o', 'SOURCE', '--source', device, '--mountpoint', path] as const
/** Devices whose name findmnt compares with the mount; a bind mount shows the disk behind it. */
const COMPARED = /^(?:UUID|LABEL|PARTUUID|PARTLABEL)=|^\/dev\//

/** By default a host starts even if this cannot be mounted. */
function optionsOf({ options, required }: MountSpec): string {
  const has = options.split(',').includes('nofail')
  return required === true || has ? options : `${options},nofail`
}

const entry = (path: string, spec: MountSpec) => `${spec.device} ${path} ${spec.fs} ${optionsOf(spec)} 0 0`

function lineIn(fstab: string, path: string): string | undefined {
  return fstab.split('\n').find((line) => !line.trimStart().startsWith('#') && line.trim().split(/\s+/)[1] === path)
}

export function withEntry(fstab: string, path: string, wanted: string): string {
  const old = lineIn(fstab, path)
  const lines = fstab === '' ? [] : fstab.replace(/\n$/, '').split('\n')
  const at = old === undefined ? -1 : lines.indexOf(old)
  if (at >= 0) lines[at] = wanted
  else lines.push(wanted)
  return `${lines.join('\n')}\n`
}
