import type { Change } from '../../../model/change.ts'
import type { HostItemOf } from '../../../model/host-item.ts'
import type { Ask, Seen } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { change, fileAsk, fileChanges, type ItemRules, octal, put } from '../item.ts'

/** A user with groups, authorized keys and, where it is said, the right to become root without a password. */
export const user: ItemRules<'user'> = {
  type: 'user',
  queues: ['single/users'],
  asks(item) {
    const { name, spec } = item
    const asks: Ask[] = [passwd(name), groups(name)]
    if (spec.keys !== undefined)
      asks.push(fileAsk(keysPath(item), keysText(spec.keys)), { ask: 'file', path: sshFolder(item) })
    if (spec.sudo !== undefined) asks.push(fileAsk(sudoersPath(name), sudoersText(name)))
    return asks
  },
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
      if (spec.shell !== undefined && there.shell !== spec.shell) changes.push(change('shell', there.shell, spec.shell))
      if (spec.home !== undefined && there.home !== spec.home) changes.push(change('home', there.home, spec.home))
    }
    const missing = spec.groups.filter((group) => !groupsOf(name, seen).includes(group))
    if (missing.length > 0) changes.push(change('groups', groupsOf(name, seen), spec.groups))
    if (spec.keys !== undefined) changes.push(...keyChanges(item, spec.keys, seen))
    if (spec.sudo !== undefined) changes.push(...sudoChanges(name, spec.sudo, seen))
    return changes
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
    if (spec.keys !== undefined) {
      commands.push(
        run('mkdir', '-p', '--', sshFolder(item)),
        run('chown', '--', `${name}:`, sshFolder(item)),
        run('chmod', '--', '0700', sshFolder(item)),
        { do: 'put', path: keysPath(item), content: keysText(spec.keys), mode: 0o600, owner: `${name}:` },
      )
    }
    if (spec.sudo === true)
      commands.push(
        ...put(sudoersPath(name), sudoersText(name), { mode: 0o440 }),
        run('visudo', '-cf', sudoersPath(name)),
      )
    if (spec.sudo === false) commands.push({ do: 'remove', path: sudoersPath(name) })
    return commands
  },
  undo({ name }, seen) {
    // The files of a person are not croft's to remove: the home stays.
    if (entryOf(name, seen) === undefined)
      return [
        { do: 'run', argv: ['userdel', '--', name], ok: [0, 6] },
        { do: 'remove', path: sudoersPath(name) },
      ]
    return undefined
  },
}

type UserItem = HostItemOf<'user'>

const passwd = (name: string): Ask => ({ ask: 'run', argv: ['getent', 'passwd', name] })
const groups = (name: string): Ask => ({ ask: 'run', argv: ['id', '-nG', name] })
const homeOf = ({ name, spec }: UserItem) => spec.home ?? (name === 'root' ? '/root' : `/home/${name}`)
const sshFolder = (item: UserItem) => `${homeOf(item)}/.ssh`
const keysPath = (item: UserItem) => `${sshFolder(item)}/authorized_keys`
const keysText = (keys: readonly string[]) => keys.map((key) => `${key}\n`).join('')
const sudoersPath = (name: string) => `/etc/sudoers.d/croft-${name}`
const sudoersText = (name: string) => `${name} ALL=(ALL:ALL) NOPASSWD: ALL\n`

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

function keyChanges(item: UserItem, keys: readonly string[], seen: Seen): readonly Change[] {
  const folder = seen.file(sshFolder(item))
  const changes = fileChanges(seen.file(keysPath(item)), keysText(keys), {
    mode: 0o600,
    owner: item.name,
    group: seen.file(keysPath(item)).group,
  })
  if (folder.kind === 'directory' && folder.mode !== 0o700)
    return [...changes.map(named), change('keys.folder', octal(folder.mode), '0700')]
  return changes.map(named)
}

function named(one: Change): Change {
  return { ...one, path: `keys.${one.path}` }
}

function sudoChanges(name: string, wanted: boolean, seen: Seen): readonly Change[] {
  const there = seen.file(sudoersPath(name))
  if (!wanted) return there.kind === 'absent' ? [] : [change('sudo', true, false)]
  return fileChanges(there, sudoersText(name), { mode: 0o440 }).length === 0
    ? []
    : [change('sudo', there.content ?? false, true)]
}
