import type { HostItemOf } from '../../../model/host-item.ts'
import type { Command } from '../command.ts'
import { fileAsk, fileChanges, fileWord, type ItemRules, put, restoreFile } from '../item.ts'

/** A package source in the deb822 form, with its own key only. */
export const aptRepository: ItemRules<'apt-repository'> = {
  type: 'apt-repository',
  queues: ['single/apt'],
  asks: (item) => filesOf(item).map(({ path, content }) => fileAsk(path, content)),
  diff: (item, seen) =>
    filesOf(item).flatMap(({ path, content, what }) =>
      fileChanges(seen.file(path), content).map((one) => ({ ...one, path: `${what}.${one.path}` })),
    ),
  commands: (item) => [...filesOf(item).flatMap(({ path, content }) => put(path, content)), UPDATE],
  undo(item, seen) {
    const back = filesOf(item).map(({ path, content }) => restoreFile(path, seen.file(path), content))
    return back.some((one) => one === undefined) ? undefined : [...back.flatMap((one) => one ?? []), UPDATE]
  },
}

const UPDATE: Command = {
  do: 'run',
  argv: ['apt-get', '-o', 'DPkg::Lock::Timeout=120', 'update'],
  timeoutMs: 300_000,
}

function filesOf({ name, spec }: HostItemOf<'apt-repository'>) {
  const base = `croft-${fileWord(name)}`
  const keyring = `/etc/apt/keyrings/${base}.asc`
  const lines = [
    'Types: deb',
    `URIs: ${spec.uris.join(' ')}`,
    `Suites: ${spec.suites.join(' ')}`,
    ...(spec.components.length === 0 ? [] : [`Components: ${spec.components.join(' ')}`]),
    ...(spec.architectures === undefined ? [] : [`Architectures: ${spec.architectures.join(' ')}`]),
    ...(spec.key === undefined ? [] : [`Signed-By: ${keyring}`]),
    '',
  ]
  return [
    ...(spec.key === undefined ? [] : [{ what: 'key', path: keyring, content: spec.key }]),
    { what: 'source', path: `/etc/apt/sources.list.d/${base}.sources`, content: lines.join('\n') },
  ]
}
