import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { CLEAN_RULES, cleaningSteps, type ImageEntry, judgeCleanliness, readListing } from './cleanliness.ts'
import { TRACES } from './testing/traces.ts'

const file = (path: string, size = 10): ImageEntry => ({ type: 'f', mode: '644', size, path })
const CLEAN: readonly ImageEntry[] = [
  file('etc/machine-id', 0),
  { type: 'd', mode: '755', size: 4096, path: 'var/lib/cloud' },
  { type: 'd', mode: '755', size: 4096, path: 'etc/netplan' },
  file('etc/ssh/sshd_config'),
  file('var/log/lastlog', 0),
  file('etc/udev/rules.d/60-own.rules'),
  file('usr/local/bin/k3s'),
  file('var/lib/rancher/k3s/agent/images/k3s-airgap-images-amd64.tar.zst'),
]

test('[R16] an image that nobody has booted is clean', () => {
  assert.deepEqual(judgeCleanliness(CLEAN), [])
})

test('[R16] each trace of an earlier boot is found by the rule that names it', () => {
  assert.deepEqual(Object.keys(TRACES).sort(), [...CLEAN_RULES].sort())
  for (const [rule, paths] of Object.entries(TRACES)) {
    for (const path of paths) {
      const found = judgeCleanliness([...CLEAN.filter((entry) => entry.path !== path), file(path)])
      assert.deepEqual(
        found.map((one) => [one.rule, one.path]),
        [[rule, `/${path}`]],
      )
    }
  }
})

test('[R16] [A17] without an empty machine-id an image is not clean', () => {
  assert.equal(judgeCleanliness(CLEAN.slice(1))[0]?.rule, 'machine-id')
  assert.equal(judgeCleanliness([file('etc/machine-id', 33), ...CLEAN.slice(1)])[0]?.rule, 'machine-id')
})

test('a listing with a name that breaks the line is not believed', () => {
  assert.equal(readListing('f 644 10 etc/passwd\nx\n'), undefined)
  assert.deepEqual(readListing('f 644 10 etc/with space\n'), [file('etc/with space')])
})

test('[R16] cleaning takes away every trace that is judged, on a real file system', () => {
  const root = mkdtempSync(join(tmpdir(), 'croft-clean-'))
  try {
    const kept = ['etc/ssh/sshd_config', 'etc/udev/rules.d/60-own.rules', 'root/notes', 'usr/local/bin/k3s']
    for (const path of [...Object.values(TRACES).flat(), ...kept]) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), 'left behind\n')
    }
    // Its owner depends on whether the build directory was accessible.
    mkdirSync(join(root, 'var/lib/apt/lists/partial'), { recursive: true })
    mkdirSync(join(root, 'var/cache/apt/archives/partial'), { recursive: true })
    const listing = () => {
      const ran = spawnSync('find', [root, '-mindepth', '1', '-printf', '%y %m %s %P\\n'], { encoding: 'utf8' })
      return readListing(ran.stdout) ?? assert.fail('no listing')
    }
    assert.equal(new Set(judgeCleanliness(listing()).map(({ rule }) => rule)).size, CLEAN_RULES.length)
    for (const [command = '', ...args] of cleaningSteps(root)) {
      const ran = spawnSync(command, args, { encoding: 'utf8' })
      assert.equal(ran.status, 0, `${command} ${args.join(' ')}: ${ran.stderr}`)
    }
    assert.deepEqual(judgeCleanliness(listing()), [])
    const left = listing().map(({ path }) => path)
    for (const path of kept) assert.ok(left.includes(path), path)
    assert.deepEqual(
      left.filter((path) => /apt\/(?:lists\/.|archives)/.test(path)),
      [],
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
