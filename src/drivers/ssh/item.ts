import type { FileRights, HostItemOf, HostItemType } from '../../model/host-item.ts'
import type { Change } from '../../model/resource.ts'
import { type HostQuestion, type ItemFacts, type ObservedFile, sha256 } from './ask.ts'
import type { Command } from './command.ts'

/** All that is specific to one type of item. Pure: what to ask, what differs, what corrects it. */
export interface ItemRules<Type extends HostItemType = HostItemType> {
  readonly type: Type
  asks(item: HostItemOf<Type>): readonly HostQuestion[]
  diff(item: HostItemOf<Type>, seen: ItemFacts): readonly Change[]
  /** Idempotent, from any state. */
  commands(item: HostItemOf<Type>, seen: ItemFacts, changes: readonly Change[]): readonly Command[]
  /** Commands that restore the observed state. Undefined: that is impossible. */
  undo?(item: HostItemOf<Type>, seen: ItemFacts): readonly Command[] | undefined
  /** Resources for one user at a time: `single/apt`, or one file that several items write. */
  readonly queues?: readonly string[] | ((item: HostItemOf<Type>) => readonly string[])
}

export function change(path: string, from: unknown, to: unknown, effect: Change['effect'] = 'live'): Change {
  return { path, from, to, effect }
}

/** Asks for a file with this expected content. */
export function fileAsk(path: string, content?: string): HostQuestion {
  return { ask: 'file', path, ...(content === undefined ? {} : { sha256: sha256(content) }) }
}

/** Returns the differences of a file with known content, with old and new text. */
export function fileChanges(seen: ObservedFile, content: string, rights: FileRights = {}): readonly Change[] {
  const { mode = 0o644, owner = 'root', group = 'root' } = rights
  const changes: Change[] = []
  // Writing through the link would change an undeclared file; replacing it would cut off the target's readers.
  if (seen.kind === 'link' && seen.target !== '/dev/null')
    return [
      {
        ...change('content', `link to ${seen.target}`, content),
        blocked: { message: `it is a link to ${seen.target}`, allow: `declare ${seen.target}, or remove the link` },
      },
    ]
  if (seen.kind !== 'file' || seen.sha256 !== sha256(content)) {
    const from = seen.kind === 'absent' ? null : (seen.content ?? (seen.kind === 'file' ? '(not text)' : seen.kind))
    changes.push(change('content', from, content))
    if (seen.kind !== 'file') return changes
  }
  if (seen.mode !== mode) changes.push(change('mode', octal(seen.mode), octal(mode)))
  if (seen.owner !== owner) changes.push(change('owner', seen.owner, owner))
  if (seen.group !== group) changes.push(change('group', seen.group, group))
  return changes
}

export function put(path: string, content: string, rights: FileRights = {}): readonly Command[] {
  const { mode = 0o644, owner = 'root', group = 'root' } = rights
  const folder = path.slice(0, Math.max(1, path.lastIndexOf('/')))
  return [
    { do: 'run', argv: ['mkdir', '-p', '--', folder] },
    { do: 'put', path, content, mode, owner, group },
  ]
}

/**
 * Returns the commands that restore the file as it is now, or its absence. `expected`: the content that was asked
 * about, which a look omits if it matches. Undefined: it cannot be restored.
 */
export function restoreFile(path: string, seen: ObservedFile, expected?: string): readonly Command[] | undefined {
  if (seen.kind === 'absent') return [{ do: 'remove', path }]
  if (seen.kind === 'link') return [{ do: 'run', argv: ['ln', '-sfn', '--', seen.target, path] }]
  const isExpected = expected !== undefined && seen.sha256 === sha256(expected)
  const content = isExpected ? expected : seen.content
  if (seen.kind !== 'file' || content === undefined) return undefined
  return [{ do: 'put', path, content, mode: seen.mode, owner: seen.owner, group: seen.group }]
}

/**
 * A change that may cut off all logins: the host reverts it by itself unless a new connection succeeds afterwards.
 * Applies to setting it and to undoing it.
 */
export function armed(name: string, revert: readonly Command[], change: readonly Command[]): readonly Command[] {
  return [{ do: 'arm', name, seconds: 90, revert }, ...change, { do: 'prove' }, { do: 'disarm', name }]
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

/** A file that only croft writes, as a whole, under croft's name in a folder for such files. */
export function ownFile(path: string, content: string, after: readonly Command[] = []) {
  return {
    path,
    ask: fileAsk(path, content),
    changes: (seen: ItemFacts) => fileChanges(seen.file(path), content),
    put: [...put(path, content), ...after],
    undo: (seen: ItemFacts) => {
      const back = restoreFile(path, seen.file(path), content)
      return back === undefined ? undefined : [...back, ...after]
    },
  }
}

/** Returns a name in the form of a file name. */
export function fileWord(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+/, '') || 'x'
}

/**
 * The search path for programs on a host. Set explicitly: every session reads /etc/environment, and one without the
 * sbin folders would hide useradd.
 */
export const HOST_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH'
