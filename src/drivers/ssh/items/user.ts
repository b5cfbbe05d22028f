import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import type { HostQuestion, ItemFacts } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { removeInHome, writeInHome } from '../home.ts'
import { armed, change, fileAsk, fileChanges, type ItemRules, octal, put, restoreFile } from '../item.ts'

/** A user with groups, authorized keys and, if declared, passwordless sudo. */
export const user: ItemRules<'user'> = {
  type: 'user',
  queues: ['single/users'],
  asks: (item) => [passwd(item.name), groups(item.name), ownGroup(item.name), ...doorAsks(item)],
  diff(item, seen) {
    const { name, spec } = item
    const there = entryOf(name, seen)
    if (spec.absent === true) return there === undefined ? [] : [change('user', name, null)]
    const changes: Change[] = []
    if (there === undefined) changes.push(change('user', null, name))
    else {
      if (spec.uid !== undefined && there.uid !== spec.uid)
        changes.push({
          ...change('uid', there.uid, spec.uid),
          blocked: {
            message: `${name} has the id ${there.uid}; its files would be left behind`,
            allow: 'correct the declaration, or move them by hand',
          },
        })
      const home = homeOf(item)
      if (spec.keys !== undefined && spec.home === undefined && there.home !== home)
        changes.push({
          ...change('keys', null, null),
          blocked: {
            message: `${name} lives in ${there.home}, where its keys are looked for`,
            allow: `declare home: ${there.home}`,
          },
        })
      if (spec.shell !== undefined && there.shell !== spec.shell) changes.push(change('shell', there.shell, spec.shell))
      if (spec.home !== undefined && there.home !== spec.home) changes.push(change('home', there.home, spec.home))
    }
    const missing = spec.groups.filter((group) => !groupsOf(name, seen).includes(group))
    if (missing.length > 0) changes.push(change('groups', groupsOf(name, seen), spec.groups))
    return [...changes, ...doorChanges(item, seen)]
  },
  commands(item, seen, changes) {
    const { name, spec } = item
    if (spec.absent === true)
      return [
        { do: 'run', argv: ['userdel', '--', name], ok: [0, 6] },
        { do: 'remove', path: sudoersPath(name) },
      ]
    const paths = new Set(changes.map((one) => one.path))
    const commands: Command[] = []
    if (entryOf(name, seen) === undefined) {
      const how = [
        ...(spec.system === true ? ['--system'] : []),
        '--create-home',
        '--shell',
        spec.shell ?? '/bin/bash',
        ...(spec.uid === undefined ? [] : ['--uid', String(spec.uid)]),
        ...(spec.home === undefined ? [] : ['--home-dir', spec.home]),
        // A group of that name exists, like git's: it becomes the user's own.
        ...(hasGroup(name, seen) ? ['--no-user-group', '--gid', name] : []),
      ]
      commands.push(run('useradd', ...how, '--', name))
    } else {
      if (paths.has('shell')) commands.push(run('usermod', '--shell', spec.shell ?? '', '--', name))
      if (paths.has('home')) commands.push(run('usermod', '--home', spec.home ?? '', '--move-home', '--', name))
    }
    for (const group of spec.groups) commands.push({ do: 'run', argv: ['groupadd', '--force', '--', group] })
    if (spec.groups.length > 0) commands.push(run('usermod', '--append', '--groups', spec.groups.join(','), '--', name))
    return [...commands, ...openDoors(item, seen, entryOf(name, seen) !== undefined)]
  },
  undo(item, seen) {
    const { name, spec } = item
    if (spec.absent === true) return undefined
    // A person's files are not croft's to delete: the home stays.
    if (entryOf(name, seen) === undefined)
      return [
        { do: 'run', argv: ['userdel', '--', name], ok: [0, 6] },
        { do: 'remove', path: sudoersPath(name) },
      ]
    return formerUser(item, seen)
  },
}

/** The commands that restore an existing account. */
function formerUser(item: UserItem, seen: ItemFacts): readonly Command[] | undefined {
  const { name, spec } = item
  const { shell = '', home = '' } = entryOf(name, seen) ?? {}
  const were = groupsOf(name, seen)
  const doors = closeDoors(item, seen)
  if (doors === undefined) return undefined
  return [
    ...(spec.shell === undefined ? [] : [run('usermod', '--shell', shell, '--', name)]),
    ...(spec.home === undefined ? [] : [run('usermod', '--home', home, '--move-home', '--', name)]),
    ...spec.groups
      .filter((group) => !were.includes(group))
      .map((group): Command => ({ do: 'run', argv: ['gpasswd', '--delete', name, group], ok: [0, 3] })),
    ...doors,
  ]
}

type UserItem = HostItemOf<'user'>

const passwd = (name: string): HostQuestion => ({ ask: 'run', argv: ['getent', 'passwd', name] })
const ownGroup = (name: string): HostQuestion => ({ ask: 'run', argv: ['getent', 'group', name] })
const hasGroup = (name: string, seen: ItemFacts) => seen.run('getent', 'group', name).code === 0
const groups = (name: string): HostQuestion => ({ ask: 'run', argv: ['id', '-nG', name] })

function entryOf(name: string, seen: ItemFacts) {
  const { code, out } = seen.run('getent', 'passwd', name)
  if (code !== 0) return undefined
  const [, , uid = '', , , home = '', shell = ''] = out.trim().split(':')
  return { uid: Number(uid), home, shell }
}

function groupsOf(name: string, seen: ItemFacts): readonly string[] {
  const { code, out } = seen.run('id', '-nG', name)
  return code === 0 ? out.trim().split(/\s+/) : []
}

/**
 * The login keys of a user, and its sudo right. croft itself may use this account, so a change that could break its
 * login is proved by a new connection, and reverted by the host if that fails.
 */

function doorAsks(item: UserItem): readonly HostQuestion[] {
  const { keys, sudo } = item.spec
  return [
    ...(keys === undefined
      ? []
      : [fileAsk(keysPath(item), keysText(keys)), { ask: 'file', path: sshFolder(item) } as const]),
    ...(sudo === undefined ? [] : [fileAsk(sudoersPath(item.name), sudoersText(item.name))]),
  ]
}

function doorChanges(item: UserItem, seen: ItemFacts): readonly Change[] {
  const { keys, sudo } = item.spec
  return [
    ...(keys === undefined ? [] : keyChanges(item, keys, seen)),
    ...(sudo === undefined ? [] : sudoChanges(item.name, sudo, seen)),
  ]
}

/** The login ways as declared. `existed`: a user may already depend on them. */
function openDoors(item: UserItem, seen: ItemFacts, existed: boolean): readonly Command[] {
  const doors = doorsOf(item)
  const commands = doors.flatMap(({ now }) => now)
  if (!existed || !doors.some(({ shuts }) => shuts)) return commands
  const back = doors.flatMap((door) => door.back(seen) ?? [])
  return armed(`user-${item.name}`, back, commands)
}

/** Restores the former state. Undefined: impossible. */
function closeDoors(item: UserItem, seen: ItemFacts): readonly Command[] | undefined {
  const doors = doorsOf(item)
  if (doors.length === 0) return []
  const back = doors.map((door) => door.back(seen))
  if (back.some((one) => one === undefined)) return undefined
  return armed(
    `user-${item.name}`,
    doors.flatMap(({ now }) => now),
    back.flatMap((one) => one ?? []),
  )
}

interface Door {
  readonly now: readonly Command[]
  /** Restores the former state. Undefined: impossible. */
  back(seen: ItemFacts): readonly Command[] | undefined
  /** It may cut off a user; an added right cannot. */
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
            shuts: !spec.sudo,
            back: (seen: ItemFacts) => restoreFile(sudoers, seen.file(sudoers), text),
            now: spec.sudo
              ? [...put(sudoers, text, { mode: 0o440 }), run('visudo', '-cf', sudoers)]
              : [{ do: 'remove', path: sudoers } as const],
          },
        ]),
  ]
}

function keysDoor(item: UserItem, keys: readonly string[]): Door {
  const [path, content, folder] = [keysPath(item), keysText(keys), sshFolder(item)]
  return {
    shuts: true,
    now: writeInHome(item.name, folder, AUTHORIZED, content),
    back: (seen) => {
      const [command] = restoreFile(path, seen.file(path), content) ?? []
      if (command?.do === 'remove') return [removeInHome(item.name, folder, AUTHORIZED)]
      // A link is never overwritten, so none needs restoring.
      return command?.do === 'put' ? writeInHome(item.name, folder, AUTHORIZED, command.content ?? '') : undefined
    },
  }
}

/** The default folder of its keys. */
const homeOf = ({ name, spec }: UserItem) => spec.home ?? (name === 'root' ? '/root' : `/home/${name}`)
const sshFolder = (item: UserItem) => `${homeOf(item)}/.ssh`
const AUTHORIZED = 'authorized_keys'
const keysPath = (item: UserItem) => `${sshFolder(item)}/${AUTHORIZED}`
const keysText = (keys: readonly string[]) => keys.map((key) => `${key}\n`).join('')
const sudoersPath = (name: string) => `/etc/sudoers.d/croft-${name}`
const sudoersText = (name: string) => `${name} ALL=(ALL:ALL) NOPASSWD: ALL\n`

function keyChanges(item: UserItem, keys: readonly string[], seen: ItemFacts): readonly Change[] {
  const [file, folder] = [seen.file(keysPath(item)), seen.file(sshFolder(item))]
  const rights = { mode: 0o600, owner: item.name, group: file.group }
  const changes = fileChanges(file, keysText(keys), rights).map((one) => ({ ...one, path: `keys.${one.path}` }))
  if (folder.kind === 'link') {
    const message = `${sshFolder(item)} is a link to ${folder.target}, which ${item.name} may have put there`
    return [{ ...change('keys.folder', folder.target, null), blocked: { message, allow: 'remove the link' } }]
  }
  if (folder.kind !== 'directory' || (folder.mode === 0o700 && folder.owner === item.name)) return changes
  return [...changes, change('keys.folder', `${octal(folder.mode)} ${folder.owner}`, `0700 ${item.name}`)]
}

function sudoChanges(name: string, wanted: boolean, seen: ItemFacts): readonly Change[] {
  const there = seen.file(sudoersPath(name))
  if (!wanted) return there.kind === 'absent' ? [] : [change('sudo', true, false)]
  return fileChanges(there, sudoersText(name), { mode: 0o440 }).length === 0
    ? []
    : [change('sudo', there.content ?? false, true)]
}
