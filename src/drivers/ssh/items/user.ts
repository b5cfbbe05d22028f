import type { Change } from '../../../model/change.ts'
import type { HostItemOf } from '../../../model/host-item.ts'
import type { Ask, Seen } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { closeDoors, doorAsks, doorChanges, homeOf, openDoors, sudoersPath } from '../user-doors.ts'

/** A user with groups, authorized keys and, where it is said, the right to become root without a password. */
export const user: ItemRules<'user'> = {
  type: 'user',
  queues: ['single/users'],
  asks: (item) => [passwd(item.name), groups(item.name), ...doorAsks(item)],
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
      ]
      // 9: somebody made it meanwhile; what differs then is seen in the next look.
      commands.push({ do: 'run', argv: ['useradd', ...how, '--', name], ok: [0, 9] })
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
    // The files of a person are not croft's to remove: the home stays.
    if (entryOf(name, seen) === undefined)
      return [
        { do: 'run', argv: ['userdel', '--', name], ok: [0, 6] },
        { do: 'remove', path: sudoersPath(name) },
      ]
    return formerUser(item, seen)
  },
}

/** Somebody's account as it was before. */
function formerUser(item: UserItem, seen: Seen): readonly Command[] | undefined {
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

const passwd = (name: string): Ask => ({ ask: 'run', argv: ['getent', 'passwd', name] })
const groups = (name: string): Ask => ({ ask: 'run', argv: ['id', '-nG', name] })

function entryOf(name: string, seen: Seen) {
  const { code, out } = seen.run('getent', 'passwd', name)
  if (code !== 0) return undefined
  const [, , uid = '', , , home = '', shell = ''] = out.trim().split(':')
  return { uid: Number(uid), home, shell }
}

function groupsOf(name: string, seen: Seen): readonly string[] {
  const { code, out } = seen.run('id', '-nG', name)
  return code === 0 ? out.trim().split(/\s+/) : []
}
