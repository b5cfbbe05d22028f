import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findCommand } from '../../scripts/packages.ts'
import { config, declare, engineFor, said, settle } from './keep.ts'
import type { Lab } from './lab.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'], gpgMissing)

function gpgMissing(): string | undefined {
  if (findCommand('gpg') !== undefined) return undefined
  if (process.env.CI !== undefined) throw new Error('the sources of packages must be tested in CI, and gpg is missing')
  return 'needs gpg; to have it, run: apt-get install -y --no-install-recommends gnupg'
}

function must(program: string, args: readonly string[], input = ''): string {
  const ran = spawnSync(program, args, { encoding: 'utf8', input })
  assert.equal(ran.status, 0, `${program} ${args.join(' ')}: ${ran.stderr}`)
  return ran.stdout
}

/** A source of packages in a folder of the host, with two versions of one package, signed. Gives its public key. */
function repository(one: Lab, root: string): string {
  const folder = join(root, 'srv/packages')
  mkdirSync(folder, { recursive: true })
  const stanzas = ['1.0', '2.0'].map((version) => {
    const tree = join(one.directory, `hello-lab-${version}`)
    mkdirSync(join(tree, 'DEBIAN'), { recursive: true })
    mkdirSync(join(tree, 'usr/share/hello-lab'), { recursive: true })
    const control = `Package: hello-lab\nVersion: ${version}\nArchitecture: all\nMaintainer: Lab <lab@example.org>\nDescription: for a test\n`
    writeFileSync(join(tree, 'DEBIAN/control'), control)
    writeFileSync(join(tree, 'usr/share/hello-lab/version'), `${version}\n`)
    const name = `hello-lab_${version}_all.deb`
    must('dpkg-deb', ['--root-owner-group', '--build', tree, join(folder, name)])
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
    return `${control}Filename: ./${name}\nSize: ${statSync(join(folder, name)).size}\nSHA256: ${sum}\n`
  })
  const packages = stanzas.join('\n')
  writeFileSync(join(folder, 'Packages'), packages)
  const sum = createHash('sha256').update(packages).digest('hex')
  const date = new Date().toUTCString().replace('GMT', '+0000')
  writeFileSync(join(folder, 'Release'), `Date: ${date}\nSHA256:\n ${sum} ${packages.length} Packages\n`)
  const home = join(one.directory, 'gpg')
  mkdirSync(home, { mode: 0o700 })
  const gpg = (...args: string[]) => must('gpg', ['--batch', '--quiet', '--homedir', home, '--passphrase', '', ...args])
  try {
    gpg('--quick-gen-key', 'lab@example.org', 'ed25519', 'sign', 'never')
    gpg('--clearsign', '--output', join(folder, 'InRelease'), join(folder, 'Release'))
    return gpg('--armor', '--export')
  } finally {
    spawnSync('gpgconf', ['--homedir', home, '--kill', 'gpg-agent'])
  }
}

test(
  'a source of packages with its key, a package in one version, in another, and everything taken back',
  within,
  async () => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const key = repository(one, cow.root)
    const source = `  aptRepositories:\n    - name: lab\n      uris: ["file:/srv/packages"]\n      suites: ["/"]\n      key: |\n${key
      .trimEnd()
      .split('\n')
      .map((line) => `        ${line}`)
      .join('\n')}\n`
    const base = '  directories:\n    - {path: /srv/kept}\n'
    const at = (version: string) =>
      config('apt', 'cow', `${base}${source}  packages: [{name: hello-lab, version: "${version}"}]\n`)
    const installed = () => {
      const status = readFileSync(join(cow.root, 'var/lib/dpkg/status'), 'utf8')
      const [own = ''] = status.split('\n\n').filter((stanza) => stanza.startsWith('Package: hello-lab\n'))
      return own.includes('\nStatus: install ok installed\n') ? /^Version: (.*)$/m.exec(own)?.[1] : undefined
    }
    const { engine } = engineFor(one)
    await settle(engine, await declare(one, at('1.0')))
    assert.equal(installed(), '1.0', 'the older one, because a person named it')
    await settle(engine, await declare(one, at('2.0')))
    assert.equal(installed(), '2.0')
    const { last } = await settle(engine, await declare(one, config('apt', 'cow', base)))
    assert.deepEqual(
      last.plan.entries.map(({ action }) => action.do),
      ['nothing'],
    )
    assert.equal(installed(), undefined)
    assert.equal(existsSync(join(cow.root, 'etc/apt/sources.list.d/croft-lab.sources')), false)
    await engine.close()
  },
)

test('the node exporter listens where it is told to, and says how the host is', within, async () => {
  const one = await lab()
  const { engine } = engineFor(one)
  const at = (port: number) => config('exporter', 'cow', `  nodeExporter: {listen: "127.0.0.1:${port}"}\n`)
  const asked = (port: number) =>
    said(
      one,
      'bash',
      '-c',
      `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`,
    )
  await settle(engine, await declare(one, at(9110)))
  assert.match(await asked(9110), /^node_load1 /m)
  await settle(engine, await declare(one, at(9111)))
  assert.match(await asked(9111), /^node_load1 /m)
  await engine.close()
})
