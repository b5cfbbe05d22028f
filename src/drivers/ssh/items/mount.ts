import type { Change } from '../../../model/resource.ts'
import { run } from '../command.ts'
import { editBack } from '../edit.ts'
import { change, type ItemRules } from '../item.ts'
import { textOf, unreadable } from './line.ts'

const FSTAB = '/etc/fstab'

/** A file system at its place, now and after the next start. */
export const mount: ItemRules<'mount'> = {
  type: 'mount',
  queues: ['single/mounts', `single/file${FSTAB}`],
  asks: ({ name }) => [
    { ask: 'file', path: FSTAB },
    { ask: 'run', argv: ['findmnt', '-n', '-o', 'FSTYPE', '--mountpoint', name] },
  ],
  diff({ name, spec }, seen) {
    const fstab = textOf(seen.file(FSTAB))
    if (fstab === undefined) return [unreadable(FSTAB, seen.file(FSTAB))]
    const changes: Change[] = []
    const old = lineIn(fstab, name)
    if (old?.trim().split(/\s+/).join(' ') !== entry(name, spec))
      changes.push(change('fstab', old ?? null, entry(name, spec)))
    const mounted = seen.run('findmnt', '-n', '-o', 'FSTYPE', '--mountpoint', name).code === 0
    if (mounted !== spec.mounted) changes.push(change('mounted', mounted, spec.mounted))
    return changes
  },
  commands({ name, spec }, seen) {
    const fstab = textOf(seen.file(FSTAB)) ?? ''
    return [
      run('mkdir', '-p', '--', name),
      {
        do: 'put',
        path: FSTAB,
        content: withEntry(fstab, name, entry(name, spec)),
        mode: 0o644,
        owner: 'root',
        group: 'root',
      },
      { do: 'run', argv: ['sh', '-c', 'if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi'] },
      spec.mounted
        ? run('sh', '-c', 'mountpoint -q -- "$1" || mount -- "$1"', 'sh', name)
        : run('sh', '-c', 'if mountpoint -q -- "$1"; then umount -- "$1"; fi', 'sh', name),
    ]
  },
  undo({ name }, seen) {
    const fstab = textOf(seen.file(FSTAB))
    if (fstab === undefined) return undefined
    const created = seen.file(FSTAB).kind === 'absent'
    const back = editBack({ what: 'mount', path: FSTAB, ours: name, before: lineIn(fstab, name) ?? '', created })
    const was = seen.run('findmnt', '-n', '-o', 'FSTYPE', '--mountpoint', name).code === 0
    return [...(was ? [] : [run('sh', '-c', 'if mountpoint -q -- "$1"; then umount -- "$1"; fi', 'sh', name)]), back]
  },
}

type MountSpec = Parameters<(typeof mount)['asks']>[0]['spec']

const entry = (path: string, spec: MountSpec) => `${spec.device} ${path} ${spec.fs} ${spec.options} 0 0`

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
