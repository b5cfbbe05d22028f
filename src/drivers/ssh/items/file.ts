import type { Change } from '../../../model/resource.ts'
import { sha256 } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { change, fileChanges, type ItemRules, put, restoreFile } from '../item.ts'

/** The default mode of a secret: readable by its owner only. */
const SECRET_MODE = 0o600

/** A whole file with content from Git or from a secret. */
export const file: ItemRules<'file'> = {
  type: 'file',
  asks: ({ name, spec }) => [
    { ask: 'file', path: name, ...(spec.content === undefined ? {} : { sha256: sha256(spec.content) }) },
  ],
  diff({ name, spec }, seen) {
    const there = seen.file(name)
    if (spec.absent === true)
      return there.kind === 'absent' ? [] : [change('content', there.content ?? there.kind, null)]
    if (spec.secret === undefined) return fileChanges(there, spec.content ?? '', spec)
    const all = fileChanges(there, '', { mode: SECRET_MODE, ...spec })
    if (all.some(({ blocked }) => blocked !== undefined)) return all
    const changes: Change[] = all.filter((one) => one.path !== 'content')
    if (seen.secretSha === undefined)
      return [
        {
          ...change('content', '', '***'),
          secret: true,
          blocked: { message: `the secret for ${name} is not to be had`, allow: 'correct its reference' },
        },
      ]
    if (there.kind !== 'file' || there.sha256 !== seen.secretSha)
      changes.unshift({ ...change('content', there.kind === 'absent' ? null : '***', '***'), secret: true })
    return changes
  },
  commands({ name, spec }) {
    if (spec.absent === true) return [{ do: 'remove', path: name }]
    const { mode = spec.secret === undefined ? 0o644 : SECRET_MODE, owner = 'root', group = 'root' } = spec
    const wanted: readonly Command[] =
      spec.secret === undefined
        ? put(name, spec.content ?? '', { mode, owner, group })
        : [
            run('mkdir', '-p', '--', name.slice(0, Math.max(1, name.lastIndexOf('/')))),
            { do: 'put', path: name, secret: spec.secret, mode, owner, group },
          ]
    return [...wanted, ...(spec.restart ?? []).map((unit) => run('systemctl', 'try-restart', '--', unit))]
  },
  undo({ name, spec }, seen) {
    // The former content may be a secret as well, and undo commands are stored in plain text.
    if (spec.secret !== undefined) return seen.file(name).kind === 'absent' ? [{ do: 'remove', path: name }] : undefined
    const back = restoreFile(name, seen.file(name), spec.content)
    return back === undefined
      ? undefined
      : [...back, ...(spec.restart ?? []).map((unit) => run('systemctl', 'try-restart', '--', unit))]
  },
}
