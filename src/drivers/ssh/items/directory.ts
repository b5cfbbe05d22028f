import type { Change } from '../../../model/resource.ts'
import type { ObservedFile } from '../ask.ts'
import { run } from '../command.ts'
import { change, type ItemRules, octal } from '../item.ts'

/** A folder with its mode and owner; its content is not read, and a non-empty one is never deleted. */
export const directory: ItemRules<'directory'> = {
  type: 'directory',
  asks: ({ name }) => [{ ask: 'file', path: name }],
  diff({ name, spec }, seen) {
    const there = seen.file(name)
    if (spec.absent === true) return there.kind === 'absent' ? [] : [change('directory', there.kind, null)]
    const { mode = 0o755, owner = 'root', group = 'root' } = spec
    if (there.kind === 'absent') return [change('directory', null, octal(mode))]
    if (there.kind !== 'directory') return [inItsPlace(name, there)]
    const changes: Change[] = []
    if (there.mode !== mode) changes.push(change('mode', octal(there.mode), octal(mode)))
    if (there.owner !== owner) changes.push(change('owner', there.owner, owner))
    if (there.group !== group) changes.push(change('group', there.group, group))
    return changes
  },
  commands({ name, spec }) {
    if (spec.absent === true) return [run('rmdir', '--', name)]
    const { mode = 0o755, owner = 'root', group = 'root' } = spec
    return [
      run('mkdir', '-p', '--', name),
      run('chown', '--', `${owner}:${group}`, name),
      run('chmod', '--', octal(mode), name),
    ]
  },
  undo({ name }, seen) {
    const there = seen.file(name)
    if (there.kind === 'absent') return [{ do: 'run', argv: ['rmdir', '--ignore-fail-on-non-empty', '--', name] }]
    if (there.kind !== 'directory') return undefined
    return [run('chown', '--', `${there.owner}:${there.group}`, name), run('chmod', '--', octal(there.mode), name)]
  },
}

/** A foreign object is in its place: croft must not remove it. */
function inItsPlace(name: string, { kind, target }: ObservedFile): Change {
  const blocked =
    kind === 'link'
      ? { message: `${name} is a link to ${target}`, allow: `declare ${target}, or remove the link` }
      : {
          message: `${name} is ${kind === 'file' ? 'a file' : 'no folder'}`,
          allow: 'remove it, or choose another path',
        }
  return { ...change('directory', kind, 'directory'), blocked }
}
