import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { croft, declared } from './as-a-person.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])

const shaOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

test('a file goes there and comes back, and the difference to Git is shown line by line', within, async () => {
  const one = await lab()
  const git = declared(one)
  writeFileSync(join(one.directory, 'motd'), 'old line\n')
  const there = croft(one, ['copy', 'cow', './motd', '/etc/motd', '--mode', '0600', '--dir', git])
  assert.equal(there.status, 0, there.stderr)
  assert.equal(readFileSync(join(one.hosts[0]?.root ?? '', 'etc/motd'), 'utf8'), 'old line\n')
  const back = croft(one, ['copy', 'cow', ':/etc/motd', './motd-back', '--dir', git])
  assert.equal(back.status, 0, back.stderr)
  assert.equal(readFileSync(join(one.directory, 'motd-back'), 'utf8'), 'old line\n')
  const diff = croft(one, ['diff', 'cow', '--dir', git])
  assert.equal(diff.status, 2, diff.stderr)
  assert.match(diff.stdout, /file:\/etc\/motd\n {2}content:\n {4}-old line\n {4}\+new line\n {2}mode: 0600 → 0644/)
})

test(
  '[S-15] a disc image goes in pieces to where its storage keeps such, under a name that is only a name',
  within,
  async () => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const git = declared(one)
    const image = join(one.directory, 'debian-13.iso')
    // More than two pieces, and not a whole number of them.
    writeFileSync(image, randomBytes(20 * 1024 * 1024 + 7))
    const nowhere = croft(one, ['upload-iso', 'cow', './debian-13.iso', '--dir', git])
    assert.equal(nowhere.status, 1)
    assert.match(nowhere.stderr, /It is not a Proxmox host/)
    const folder = join(cow.root, 'var/lib/vz/template/iso')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(cow.root, 'usr/local/bin/pvesm'),
      '#!/bin/sh\necho "/var/lib/vz/template/iso/$(basename "$2")"\n',
      { mode: 0o755 },
    )
    for (const name of ['../../../etc/sudoers.d/x', '-rf.iso']) {
      const refused = croft(one, ['upload-iso', 'cow', './debian-13.iso', `--as=${name}`, '--dir', git])
      assert.equal(refused.status, 64, name)
      assert.match(refused.stderr, /is not a name for a disc image/, name)
    }
    const done = croft(one, ['upload-iso', 'cow', './debian-13.iso', '--as', 'debian.iso', '--dir', git])
    assert.deepEqual([done.status, done.stdout], [0, 'local:iso/debian.iso\n'], done.stderr)
    assert.equal(shaOf(join(folder, 'debian.iso')), shaOf(image))
    assert.deepEqual(readdirSync(folder), ['debian.iso'], 'no piece is left')
    const back = croft(one, ['copy', 'cow', ':/var/lib/vz/template/iso/debian.iso', './back.iso', '--dir', git])
    assert.equal(back.status, 0, back.stderr)
    assert.equal(shaOf(join(one.directory, 'back.iso')), shaOf(image))
  },
)
