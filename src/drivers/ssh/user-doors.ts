import type { Change } from '../../model/change.ts'
import type { HostItemOf } from '../../model/host-item.ts'
import type { Ask, Seen } from './ask.ts'
import { type Command, run } from './command.ts'
import { armed, change, fileAsk, fileChanges, octal, put, restoreFile } from './item.ts'

/**
 * By which keys one comes in as a user, and whether one becomes root. croft itself may come in by this very account, so
 * what could shut it out is proved by a new connection, and taken back by the host when that fails.
 */
type UserItem = HostItemOf<'user'>

export function doorAsks(item: UserItem): readonly Ask[] {
  const { keys, sudo } = item.spec
  return [
    ...(keys === undefined
      ? []
      : [fileAsk(keysPath(item), keysText(keys)), { ask: 'file', path: sshFolder(item) } as const]),
    ...(sudo === undefined ? [] : [fileAsk(sudoersPath(item.name), sudoersText(item.name))]),
  ]
}

export function doorChanges(item: UserItem, seen: Seen): readonly Change[] {
  const { keys, sudo } = item.spec
  return [
    ...(keys === undefined ? [] : keyChanges(item, keys, seen)),
    ...(sudo === undefined ? [] : sudoChanges(item.name, sudo, seen)),
  ]
}

/** As declared. `existed`: somebody may come in by it already. */
export function openDoors(item: UserItem, seen: Seen, existed: boolean): readonly Command[] {
  const doors = doorsOf(item)
  const commands = doors.flatMap(({ now }) => now)
  if (!existed || !doors.some(({ shuts }) => shuts)) return commands
  const back = doors.flatMap(({ path, content }) => restoreFile(path, seen.file(path), content) ?? [])
  return armed(`user-${item.name}`, back, commands)
}

/** As it was before. Undefined: it cannot be taken back. */
export function closeDoors(item: UserItem, seen: Seen): readonly Command[] | undefined {
  const doors = doorsOf(item)
  if (doors.length === 0) return []
  const back = doors.map(({ path, content }) => restoreFile(path, seen.file(path), content))
  if (back.some((one) => one === undefined)) return undefined
  return armed(
    `user-${item.name}`,
    doors.flatMap(({ now }) => now),
    back.flatMap((one) => one ?? []),
  )
}

interface Door {
  readonly path: string
  readonly content: string
  readonly now: readonly Command[]
  /** It may shut somebody out; a right that is given cannot. */
  readonly shuts: boolean
}

function doorsOf(item: UserItem): readonly Door[] {
  const { name, spec } = item
  const [sudoers, text] = [sudoersPath(name), sudoersText(name)]
  return [
    ...(spec.keys === undefined ? [] : [keysDoor(item, spec.keys)]),
    ...(spec.sudo === undefined
      ? []
      : [
          {
            path: sudoers,
            content: text,
            shuts: !spec.sudo,
            now: spec.sudo
              ? [...put(sudoers, text, { mode: 0o440 }), run('visudo', '-cf', sudoers)]
              : [{ do: 'remove', path: sudoers } as const],
          },
        ]),
  ]
}

function keysDoor(item: UserItem, keys: readonly string[]): Door {
  const [path, content, folder, owner] = [keysPath(item), keysText(keys), sshFolder(item), `${item.name}:`]
  return {
    path,
    content,
    shuts: true,
    now: [
      run('mkdir', '-p', '--', folder),
      run('chown', '--', owner, folder),
      run('chmod', '--', '0700', folder),
      { do: 'put', path, content, mode: 0o600, owner },
    ],
  }
}

/** Where its keys are, unless it lives elsewhere. */
export const homeOf = ({ name, spec }: UserItem) => spec.home ?? (name === 'root' ? '/root' : `/home/${name}`)
const sshFolder = (item: UserItem) => `${homeOf(item)}/.ssh`
const keysPath = (item: UserItem) => `${sshFolder(item)}/authorized_keys`
const keysText = (keys: readonly string[]) => keys.map((key) => `${key}\n`).join('')
export const sudoersPath = (name: string) => `/etc/sudoers.d/croft-${name}`
const sudoersText = (name: string) => `${name} ALL=(ALL:ALL) NOPASSWD: ALL\n`

function keyChanges(item: UserItem, keys: readonly string[], seen: Seen): readonly Change[] {
  const [file, folder] = [seen.file(keysPath(item)), seen.file(sshFolder(item))]
  const rights = { mode: 0o600, owner: item.name, group: file.group }
  const changes = fileChanges(file, keysText(keys), rights).map((one) => ({ ...one, path: `keys.${one.path}` }))
  if (folder.kind !== 'directory' || (folder.mode === 0o700 && folder.owner === item.name)) return changes
  return [...changes, change('keys.folder', `${octal(folder.mode)} ${folder.owner}`, `0700 ${item.name}`)]
}

function sudoChanges(name: string, wanted: boolean, seen: Seen): readonly Change[] {
  const there = seen.file(sudoersPath(name))
  if (!wanted) return there.kind === 'absent' ? [] : [change('sudo', true, false)]
  return fileChanges(there, sudoersText(name), { mode: 0o440 }).length === 0
    ? []
    : [change('sudo', there.content ?? false, true)]
}
