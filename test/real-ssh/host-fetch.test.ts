import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CROFT, personIn } from './as-a-person.ts'
import { hostsYaml } from './keep.ts'
import type { Lab } from './lab.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])
const shaOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

function croft(one: Lab, verb: 'plan' | 'apply', spec: string) {
  const git = join(one.directory, 'git')
  mkdirSync(git, { recursive: true })
  writeFileSync(join(git, 'hosts.yaml'), hostsYaml(one))
  const head = 'apiVersion: croft.dev/v1alpha1\nkind: HostConfig\nmetadata: {name: c}\nspec:\n  hosts: [cow]\n'
  writeFileSync(join(git, 'config.yaml'), head + spec)
  const words = verb === 'apply' ? ['apply', git, '--yes'] : ['plan', git]
  return spawnSync(CROFT, words, { ...personIn(one), encoding: 'utf8' })
}

test('a program is fetched by its checksum, versions stand side by side, and it goes as it came', within, async () => {
  const one = await lab()
  const root = one.hosts[0]?.root ?? ''
  const store = join(root, 'srv/releases')
  mkdirSync(store, { recursive: true })
  for (const version of ['1.0', '2.0'])
    writeFileSync(join(store, `tool-${version}`), `#!/bin/sh\necho tool ${version}\n`)
  const declare = (version: string, sum: string) =>
    `  fetches:\n    - {path: /usr/local/bin/tool, url: "file:/srv/releases/tool-${version}", version: "${version}", sha256: "${sum}"}\n`
  const sum = (version: string) => shaOf(join(store, `tool-${version}`))

  const wrong = croft(one, 'apply', declare('1.0', '0'.repeat(64)))
  assert.notEqual(wrong.status, 0)
  assert.match(wrong.stdout + wrong.stderr, new RegExp(`has the checksum ${sum('1.0')}, and 0{64} is declared`))

  const plan = croft(one, 'plan', declare('1.0', sum('1.0')))
  assert.equal(plan.status, 2, plan.stderr)
  assert.match(plan.stdout, /content: .*file:\/srv\/releases\/tool-1\.0 \(sha256 [0-9a-f]{12}…\)/)
  const link = join(root, 'usr/local/bin/tool')
  for (const version of ['1.0', '2.0']) {
    const done = croft(one, 'apply', declare(version, sum(version)))
    assert.equal(done.status, 0, done.stdout + done.stderr)
    assert.equal(readlinkSync(link), `/opt/croft/tool/${version}/tool`)
    const again = croft(one, 'plan', declare(version, sum(version)))
    assert.equal(again.status, 0, again.stdout)
  }
  for (const version of ['1.0', '2.0'])
    assert.equal(
      spawnSync('chroot', [root, `/opt/croft/tool/${version}/tool`], { encoding: 'utf8' }).stdout,
      `tool ${version}\n`,
    )

  // The program file is changed: it differs from what was fetched.
  writeFileSync(join(root, 'opt/croft/tool/2.0/tool'), '#!/bin/sh\necho other\n')
  assert.equal(croft(one, 'plan', declare('2.0', sum('2.0'))).status, 2)

  const gone = croft(one, 'apply', '  packages: []\n')
  assert.equal(gone.status, 0, gone.stdout + gone.stderr)
  assert.throws(() => readlinkSync(link), /ENOENT/)
})

test('an archive is unpacked beside its versions, and a member of it is the program', within, async () => {
  const one = await lab()
  const root = one.hosts[0]?.root ?? ''
  mkdirSync(join(root, 'srv/pack/bin'), { recursive: true })
  writeFileSync(join(root, 'srv/pack/bin/cli'), '#!/bin/sh\necho packed\n', { mode: 0o755 })
  const packed = spawnSync('chroot', [root, 'tar', '-czf', '/srv/cli.tar.gz', '-C', '/srv/pack', '.'])
  assert.equal(packed.status, 0, String(packed.stderr))
  const sum = shaOf(join(root, 'srv/cli.tar.gz'))
  const spec = `  fetches:\n    - {path: /usr/local/bin/cli, url: "file:/srv/cli.tar.gz", sha256: "${sum}", archive: true, member: bin/cli}\n`
  const done = croft(one, 'apply', spec)
  assert.equal(done.status, 0, done.stdout + done.stderr)
  assert.equal(readlinkSync(join(root, 'usr/local/bin/cli')), `/opt/croft/cli/${sum.slice(0, 12)}/content/bin/cli`)
  assert.equal(spawnSync('chroot', [root, '/usr/local/bin/cli'], { encoding: 'utf8' }).stdout, 'packed\n')
  assert.equal(croft(one, 'plan', spec).status, 0)
})

test('a command runs while what it is for is not there, is shown before, and must have made it', within, async () => {
  const one = await lab()
  const root = one.hosts[0]?.root ?? ''
  const spec = (creates: string) =>
    `  commands:\n    - {name: seed, run: [sh, -c, "echo once >> /var/log/seed; touch /var/lib/seeded"], creates: ${creates}}\n`
  const plan = croft(one, 'plan', spec('/var/lib/seeded'))
  assert.equal(plan.status, 2, plan.stderr)
  assert.match(plan.stdout, /run: .*sh -c echo once >> \/var\/log\/seed; touch \/var\/lib\/seeded/)
  for (const _ of [1, 2]) {
    const done = croft(one, 'apply', spec('/var/lib/seeded'))
    assert.equal(done.status, 0, done.stdout + done.stderr)
  }
  assert.equal(readFileSync(join(root, 'var/log/seed'), 'utf8'), 'once\n')
  const unless = `  commands:\n    - {name: user, run: [touch, /var/lib/two], unless: [test, -e, /var/lib/two]}\n`
  assert.equal(croft(one, 'apply', unless).status, 0)
  assert.equal(croft(one, 'plan', unless).status, 0)
  const vain = croft(one, 'apply', spec('/var/lib/other'))
  assert.notEqual(vain.status, 0)
  assert.match(vain.stdout + vain.stderr, /the command seed ran, and \/var\/lib\/other is still not there/)
})
