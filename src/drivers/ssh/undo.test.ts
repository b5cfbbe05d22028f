import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { ObservedFile } from './ask.ts'
import { type Command, run, showCommand } from './command.ts'
import { editBack, editOf } from './edit.ts'
import { armed, restoreFile } from './item.ts'
import { aptRepository } from './items/apt-repository.ts'
import { placeOf, undoOfBoth } from './undo.ts'

const put = (path: string, content: string): Command => ({ do: 'put', path, content })
const remove = (path: string): Command => ({ do: 'remove', path })
const shown = (commands: readonly Command[] | null) => commands?.map(showCommand)

test('what the first declaration touched goes back to how it was before that, the rest to how it is now', () => {
  const first = [put('/etc/a', 'before croft')]
  assert.deepEqual(undoOfBoth(first, [put('/etc/a', 'our first')]), first)
  assert.deepEqual(undoOfBoth(first, [remove('/etc/b'), run('udevadm', 'trigger')]), [
    remove('/etc/b'),
    run('udevadm', 'trigger'),
    ...first,
  ])
  assert.equal(undoOfBoth(null, first), null, 'what could not be taken back cannot be taken back')
  assert.deepEqual(undoOfBoth(first, null), first)
})

test('a line that is declared otherwise is found by what it is now, and becomes what it was before us', () => {
  const edit = (ours: string, before: string) =>
    editBack({ what: 'line', path: '/etc/environment', ours, before, created: false })
  const both = undoOfBoth([edit('A=1', 'A=theirs')], [edit('A=2', 'A=1')]) ?? []
  assert.equal(both.length, 1)
  const [only] = both
  assert.ok(only)
  assert.deepEqual([editOf(only)?.ours, editOf(only)?.before], ['A=2', 'A=theirs'])
})

test('what is added to a change that is watched over is watched over as well', () => {
  const first = armed('network-eth0', [], [remove('/etc/netplan/x')])
  const both = undoOfBoth(first, armed('network-eth0', [], [remove('/etc/network/y')]))
  assert.deepEqual(shown(both), [
    'take it back after 90 s unless all goes well',
    'remove /etc/network/y',
    'remove /etc/netplan/x',
    'prove that the host can still be reached',
    'keep it',
  ])
})

const SAME: readonly (readonly [Command, Command])[] = [
  [run('systemctl', 'stop', '--', 'a.service'), run('systemctl', 'start', '--', 'a.service')],
  [run('env', 'X=1', 'apt-get', 'remove', '--', 'curl'), run('env', 'X=1', 'apt-get', 'install', '--', 'curl=1.0')],
  [run('sysctl', '-q', '-w', 'vm.swappiness=1'), run('sysctl', '-q', '-w', 'vm.swappiness=60')],
  [run('zfs', 'set', 'quota=1G', 'tank/a'), run('zfs', 'set', 'quota=none', 'tank/a')],
  [remove('/etc/resolv.conf'), run('ln', '-sfn', '--', '../run/x', '/etc/resolv.conf')],
]
const OTHER: readonly (readonly [Command, Command])[] = [
  [run('systemctl', 'stop', '--', 'a.service'), run('systemctl', 'disable', '--', 'a.service')],
  [run('systemctl', 'stop', '--', 'a.service'), run('systemctl', 'stop', '--', 'b.service')],
  [run('zfs', 'set', 'quota=1G', 'tank/a'), run('zfs', 'set', 'atime=off', 'tank/a')],
]
test('two commands are about one thing or they are not', () => {
  for (const [one, other] of SAME) assert.equal(placeOf(one), placeOf(other))
  for (const [one, other] of OTHER) assert.notEqual(placeOf(one), placeOf(other))
})

const UPDATE = run('apt-get', '-o', 'DPkg::Lock::Timeout=120', 'update')
const FILE: ObservedFile = {
  kind: 'file',
  mode: 0o640,
  owner: 'root',
  group: 'adm',
  sha256: 'x',
  content: 'old',
  target: '',
}

test('a file goes back to what it was, with its rights; what cannot be kept is not taken back at all', () => {
  const back = (seen: Partial<ObservedFile>, expected?: string) => restoreFile('/etc/a', { ...FILE, ...seen }, expected)
  const { content: _, ...unread } = FILE
  assert.deepEqual(back({}), [{ do: 'put', path: '/etc/a', content: 'old', mode: 0o640, owner: 'root', group: 'adm' }])
  assert.deepEqual(back({ kind: 'absent' }), [remove('/etc/a')])
  assert.deepEqual(back({ kind: 'link', target: '../x' }), [run('ln', '-sfn', '--', '../x', '/etc/a')])
  assert.equal(back({ kind: 'directory' }), undefined)
  assert.equal(back({ kind: 'other' }), undefined)
  assert.equal(restoreFile('/etc/a', unread), undefined, 'too large, or no text')
  const ours = { ...unread, sha256: createHash('sha256').update('ours').digest('hex') }
  assert.equal(restoreFile('/etc/a', ours, 'others'), undefined)
  assert.deepEqual(restoreFile('/etc/a', ours, 'ours')?.map(showCommand), [
    showCommand({ do: 'put', path: '/etc/a', content: 'ours', mode: 0o640, owner: 'root', group: 'adm' }),
  ])
})

test('a source of packages is taken back whole, its key too, or not at all', () => {
  const item = {
    type: 'apt-repository',
    name: 'x',
    spec: { uris: ['https://deb.example.org'], suites: ['stable'], components: ['main'], key: 'KEY' },
  } as unknown as Parameters<typeof aptRepository.commands>[0]
  const paths = aptRepository.commands(item, {} as never, []).flatMap((one) => (one.do === 'put' ? [one.path] : []))
  assert.equal(paths.length, 2)
  const undo = (bad?: string) =>
    aptRepository.undo?.(item, {
      file: (path: string) => (path === bad ? { ...FILE, kind: 'directory' } : { ...FILE, kind: 'absent' }),
    } as never)
  assert.deepEqual(undo()?.map(showCommand), [...paths.map((path) => `remove ${path}`), showCommand(UPDATE)])
  for (const path of paths) assert.equal(undo(path), undefined)
})
