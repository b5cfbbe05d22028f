// Makes a release from a commit: node bin/run scripts/release.ts --key ~/.ssh/release --out DIRECTORY [--commit REF]
//
// Packs the files of that commit, built in a separate directory; uncommitted files of the clone are left out. The key is
// an SSH key; with an Ed25519 key the whole result is the same to the byte wherever it is made.
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { NAMESPACE, provenanceFile, SUMS, sha256, sumsText } from '../src/cli/verify-release.ts'
import { packages } from './package.ts'
import { billOfMaterials, type LockFile, type PackedFile, packageOf, provenanceOf } from './release-parts.ts'
import { startedAs } from './started.ts'

const root = dirname(import.meta.dirname)

export interface ReleaseOptions {
  readonly key: string
  readonly out: string
  readonly commit: string
  /** Where others find the commit. */
  readonly repository: string
}

/** Writes the packages, for each its provenance and the provenance's signature; answers the path of the one for npm. */
export function release({ key, out, commit: ref, repository }: ReleaseOptions): string {
  const commit = run('git', ['rev-parse', '--verify', `${ref}^{commit}`], root).trim()
  const directory = mkdtempSync(join(tmpdir(), 'croft-release-'))
  try {
    checkOut(commit, directory)
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    for (const script of ['build.ts', 'build-web.ts']) run('node', ['bin/run', `scripts/${script}`], directory)
    const made = { key, out, commit, repository }
    for (const path of packages(directory, out)) attest(path, directory, made)
    return pack(directory, made)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Packs a directory in which everything has been built. */
export function pack(directory: string, made: ReleaseOptions): string {
  const lockText = readFileSync(join(directory, 'package-lock.json'))
  const lock = JSON.parse(lockText.toString('utf8')) as LockFile
  const { files: published } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { files: string[] }
  const names = [
    'package.json',
    'README.md',
    'LICENSE',
    ...published.map((one) => (one.endsWith('/') ? `${one}**/*` : one)),
  ]
  const files: PackedFile[] = globSync(names, { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(resolve(directory).length + 1))
    .map((name) => ({ name, bytes: readFileSync(join(directory, name)) }))
  // npm reads a package's own list of what it needs, to the byte, only under this name.
  files.push({ name: 'npm-shrinkwrap.json', bytes: lockText })
  files.push({ name: 'sbom.cdx.json', bytes: json(billOfMaterials(lock)) })
  const sums = Buffer.from(sumsText(new Map(files.map(({ name, bytes }) => [name, sha256(bytes)]))))
  files.push({ name: SUMS, bytes: sums }, { name: `${SUMS}.sig`, bytes: signed(sums, made.key) })
  const bytes = packageOf(files)
  mkdirSync(made.out, { recursive: true })
  const artefact = `croft-${lock.version}.tgz`
  const path = join(made.out, artefact)
  writeFileSync(path, bytes)
  attest(path, directory, made)
  return path
}

/** Writes beside a file from what it was made, signed. */
function attest(path: string, directory: string, made: ReleaseOptions): void {
  const provenance = json(
    provenanceOf({
      artefact: basename(path),
      sha256: sha256(readFileSync(path)),
      commit: made.commit,
      repository: made.repository,
      lockSha256: sha256(readFileSync(join(directory, 'package-lock.json'))),
      node: process.versions.node,
      builder: `${made.repository}#scripts/release.ts`,
    }),
  )
  writeFileSync(provenanceFile(path), provenance)
  writeFileSync(`${provenanceFile(path)}.sig`, signed(provenance, made.key))
}

function checkOut(commit: string, directory: string): void {
  const archive = join(directory, 'tree.tar')
  run('git', ['archive', '--format=tar', '--output', archive, commit], root)
  run('tar', ['-xf', archive, '-C', directory], root)
  rmSync(archive)
}

function signed(bytes: Uint8Array, key: string): Buffer {
  const made = spawnSync('ssh-keygen', ['-Y', 'sign', '-f', key, '-n', NAMESPACE], { input: bytes })
  if (made.status !== 0) throw new Error(`ssh-keygen could not sign: ${made.stderr.toString('utf8')}`)
  return made.stdout
}

function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)
}

function run(command: string, args: readonly string[], cwd: string): string {
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (ran.status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed:\n${ran.stderr}${ran.error?.message ?? ''}`)
  return ran.stdout
}

if (startedAs(import.meta.filename)) {
  const { values } = parseArgs({
    options: {
      key: { type: 'string' },
      repository: { type: 'string', default: 'urn:croft' },
      out: { type: 'string', default: 'release' },
      commit: { type: 'string', default: 'HEAD' },
    },
  })
  if (values.key === undefined) {
    process.stderr.write('Name the key that signs the release: --key ~/.ssh/release\n')
    process.exit(64)
  }
  process.stdout.write(
    `${release({ key: resolve(values.key), out: resolve(values.out), commit: values.commit, repository: values.repository })}\n`,
  )
}
