import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Edit, editBack } from './edit.ts'

const directory = mkdtempSync(join(tmpdir(), 'croft-edit-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** Runs the real program in a real sh and awk. Undefined: the file is gone. */
function edited(text: string, edit: Omit<Edit, 'path'>): string | undefined {
  const path = join(directory, 'file')
  writeFileSync(path, text)
  chmodSync(path, 0o640)
  const command = editBack({ ...edit, path })
  assert.ok(command.do === 'run')
  const [program = '', ...args] = command.argv
  const ran = spawnSync(program, args, { encoding: 'utf8' })
  assert.deepEqual([ran.status, ran.stderr], [0, ''])
  if (!existsSync(path)) return undefined
  assert.equal(statSync(path).mode & 0o777, 0o640)
  return readFileSync(path, 'utf8')
}

const line = (ours: string, before: string, created = false) => ({ what: 'line', ours, before, created }) as const
const block = (before: string, created = false) =>
  ({ what: 'block', ours: '# b', end: '# e', before, created }) as const
const mount = (before: string) => ({ what: 'mount', ours: '/srv', before, created: false }) as const

const words = (ours: string, added: string, before: string) =>
  ({ what: 'words', ours, end: added, before, created: false }) as const

const GRUB = 'GRUB_CMDLINE_LINUX_DEFAULT='
const CASES: readonly (readonly [string, string, Omit<Edit, 'path'>, string | undefined])[] = [
  ['our line goes, theirs stay', 'x=1\nours\ny=2\n', line('ours', ''), 'x=1\ny=2\n'],
  ['the old line comes back in its place', 'x=1\nA=new\ny=2\n', line('A=new', 'A=old'), 'x=1\nA=old\ny=2\n'],
  ['a line that was removed comes back', 'x=1\n', line('gone', 'gone'), 'x=1\ngone\n'],
  ['a line that is back already stays once', 'gone\nx=1\n', line('gone', 'gone'), 'gone\nx=1\n'],
  ['what somebody changed meanwhile is theirs', 'A=theirs\n', line('A=new', ''), 'A=theirs\n'],
  ['a file of ours goes when nothing is left in it', 'ours\n', line('ours', '', true), undefined],
  ['a file of ours with theirs in it stays', 'ours\nx\n', line('ours', '', true), 'x\n'],
  ['[S-01] a word is a word', 'a\\nb $(id) \\1 &\nx\n', line('a\\nb $(id) \\1 &', 'c\\d &'), 'c\\d &\nx\n'],
  ['a block goes whole', 'x\n# b\n1\n2\n# e\ny\n', block(''), 'x\ny\n'],
  ['a block gets its old lines back', 'x\n# b\n1\n# e\ny\n', block('7\n8'), 'x\n# b\n7\n8\n# e\ny\n'],
  ['a block without an end is not ours to cut', 'x\n# b\n1\ny\n', block(''), 'x\n# b\n1\ny\n'],
  ['a block that was removed comes back', 'x\n', block('7'), 'x\n# b\n7\n# e\n'],
  ['a mount goes', 'A / ext4 o 0 1\nB  /srv\tbtrfs o 0 0\n# B /srv x\n', mount(''), 'A / ext4 o 0 1\n# B /srv x\n'],
  ['words go and come, and theirs stay', 'c=1 ours d=2\n', words('', 'ours o=9', 'quiet'), 'c=1 d=2 quiet\n'],
  [
    'words in their line, with its quotes',
    `T=5\n${GRUB}"iommu=pt theirs"\nZ=1\n`,
    words(GRUB, 'iommu=pt', 'quiet'),
    `T=5\n${GRUB}"theirs quiet"\nZ=1\n`,
  ],
  [
    'words in single quotes, with a remark behind them',
    `${GRUB}'iommu=pt theirs' # "ours"\n`,
    words(GRUB, 'iommu=pt', 'quiet'),
    `${GRUB}'theirs quiet' # "ours"\n`,
  ],
  ['a torn block before ours is theirs', '# b\nx\n# b\n1\n# e\ny\n', block(''), '# b\nx\ny\n'],
  [
    'words that stand several times stay as often as they did',
    `${GRUB}"hugepagesz=1G hugepages=8 hugepagesz=2M hugepages=8 ours"\n`,
    words(GRUB, 'ours', ''),
    `${GRUB}"hugepagesz=1G hugepages=8 hugepagesz=2M hugepages=8"\n`,
  ],
  [
    'all lines come back that ours took the place of',
    'a\nours\nb\n',
    line('ours', 'server a\nserver b'),
    'a\nserver a\nserver b\nb\n',
  ],
  ['the last word leaves an empty line', `${GRUB}"ours"\n`, words(GRUB, 'ours', ''), `${GRUB}""\n`],
  ['a line that somebody took away is not made again', 'T=5\n', words(GRUB, 'ours', 'quiet'), 'T=5\n'],
  ['a mount becomes the old one', 'B /srv btrfs o 0 0\n', mount('C /srv ext4 o 0 0'), 'C /srv ext4 o 0 0\n'],
]

for (const [what, text, edit, wanted] of CASES) test(what, () => assert.equal(edited(text, edit), wanted))

test('a file that is not there is nothing to take anything back from', () => {
  const command = editBack({ ...line('x', 'y'), path: join(directory, 'none') })
  assert.ok(command.do === 'run')
  assert.equal(spawnSync(command.argv[0] ?? '', command.argv.slice(1)).status, 0)
  assert.equal(existsSync(join(directory, 'none')), false)
})
