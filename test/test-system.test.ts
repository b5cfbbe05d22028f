import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inLayers, type Situation, whyNoLayers } from '../scripts/test-system.ts'

const able: Situation = {
  missing: ['zsh'],
  inside: false,
  root: true,
  apt: true,
  namespaces: true,
  merged: true,
}

test('tests run in layers of their own exactly where something is missing and layers can be made', () => {
  assert.equal(whyNoLayers(able), undefined)
  for (const [change, why] of [
    [{ inside: true }, /already/],
    [{ missing: [] }, /nothing is missing/],
    [{ root: false }, /root/],
    [{ apt: false }, /apt-get/],
    [{ merged: false }, /\/usr/],
    [{ namespaces: false }, /namespace/],
  ] as const)
    assert.match(whyNoLayers({ ...able, ...change }) ?? '', why)
})

const why =
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0
    ? false
    : 'it needs root and mount namespaces'

test('a package that is installed in layers is seen there, and the computer is as it was', { skip: why }, () => {
  const room = mkdtempSync(join(tmpdir(), 'croft-layers-'))
  try {
    // A package of nothing but a program and a script that writes where packages write.
    const tree = join(room, 'tree')
    for (const folder of ['DEBIAN', 'usr/bin']) mkdirSync(join(tree, folder), { recursive: true })
    writeFileSync(
      join(tree, 'DEBIAN/control'),
      'Package: croft-layers-test\nVersion: 1\nArchitecture: all\nMaintainer: croft <croft@example.org>\nDescription: test\n',
    )
    writeFileSync(
      join(tree, 'DEBIAN/postinst'),
      '#!/bin/sh\nset -e\necho made > /etc/croft-layers-test\necho made > /var/lib/croft-layers-test\n',
      { mode: 0o755 },
    )
    writeFileSync(join(tree, 'usr/bin/croft-layers-test'), '#!/bin/sh\necho works\n', { mode: 0o755 })
    const file = join(room, 'test.deb')
    assert.equal(spawnSync('dpkg-deb', ['--build', '--root-owner-group', tree, file]).status, 0)
    const status = readFileSync('/var/lib/dpkg/status')
    const run = (top: string, below: string | undefined, script: string) =>
      spawnSync('unshare', [...inLayers({ below, top }, ['sh', '-c', script])], { encoding: 'utf8' })

    const made = run(join(room, 'kept'), undefined, `dpkg -i ${file} >&2 && croft-layers-test && ! ls -d /run/systemd`)
    assert.equal(made.status, 0, made.stderr)
    assert.equal(made.stdout, 'works\n', 'and no service manager is in reach')
    rmSync(join(room, 'kept/work'), { recursive: true })

    // Two runs above the same layers: what one writes the other does not see, and nothing of it stays.
    for (const _ of [1, 2]) {
      const used = run(
        '/run/top',
        join(room, 'kept'),
        'croft-layers-test && cat /etc/croft-layers-test && > /etc/two; ls /etc',
      )
      assert.equal(used.status, 0, used.stderr)
      assert.match(used.stdout, /^works\nmade\n/)
    }
    assert.equal(existsSync(join(room, 'kept/etc/two')), false)
    for (const path of [
      '/usr/bin/croft-layers-test',
      '/etc/croft-layers-test',
      '/var/lib/croft-layers-test',
      '/etc/two',
    ])
      assert.equal(existsSync(path), false, path)
    assert.ok(readFileSync('/var/lib/dpkg/status').equals(status))

    // The clone, /tmp and /var/tmp are the computer's own.
    const shared = mkdtempSync('/var/tmp/croft-layers-')
    try {
      assert.equal(
        run('/run/top', join(room, 'kept'), `touch ${shared}/seen ${room}/seen; pwd`).stdout.trim(),
        process.cwd(),
      )
      assert.deepEqual([existsSync(`${shared}/seen`), existsSync(`${room}/seen`)], [true, true])
    } finally {
      rmSync(shared, { recursive: true })
    }
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
})
