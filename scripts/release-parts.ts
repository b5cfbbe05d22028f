// What a release is made of, as data: the same files give the same bytes, on every computer and at any time.
import { gzipSync } from 'node:zlib'
import { PROVENANCE_TYPE } from '../src/cli/verify-release.ts'

export interface PackedFile {
  readonly name: string
  readonly bytes: Uint8Array
  /** 0644 unless it is said otherwise. */
  readonly mode?: number
}

const BLOCK = 512

/** A package as npm reads it. */
export function packageOf(files: readonly PackedFile[]): Buffer {
  const program = (name: string) => name.startsWith('bin/') && !name.includes('.')
  return archiveOf(
    'package',
    files.map((file) => (program(file.name) ? { ...file, mode: 0o755 } : file)),
  )
}

/** Packs one folder into a compressed archive that does not depend on owners, times or the caller's umask. */
export function archiveOf(folder: string, files: readonly PackedFile[]): Buffer {
  const tar = tarOf(files.map((file) => ({ ...file, name: `${folder}/${file.name}` })))
  return reproducible(gzipSync(tar, { level: 6 }))
}

/** The same, not compressed. A name that ends with a slash is a folder. */
export function tarOf(files: readonly PackedFile[]): Buffer {
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const blocks = sorted.flatMap(({ name, bytes, mode }) => [
    header(name, bytes.length, mode ?? 0o644),
    bytes,
    Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])
}

/** zlib writes down on which system it ran. */
export function reproducible(zipped: Buffer): Buffer {
  zipped[9] = 255
  return zipped
}

/** npm gives everything that it packs this time; so do we. */
export const PACKED_AT = 499_162_500

function header(path: string, size: number, mode: number): Buffer {
  const cut = path.length <= 100 ? -1 : path.indexOf('/', path.length - 101)
  const [prefix, name] = cut === -1 ? ['', path] : [path.slice(0, cut), path.slice(cut + 1)]
  if (name.length > 100 || prefix.length > 155) throw new Error(`${path} is too long for a package`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  const fields: readonly (readonly [number, string])[] = [
    [0, name],
    [100, octal(mode, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(size, 11)],
    [136, octal(PACKED_AT, 11)],
    [148, ' '.repeat(8)],
    [156, path.endsWith('/') ? '5' : '0'],
    [257, 'ustar\u000000'],
    [345, prefix],
  ]
  for (const [at, text] of fields) block.write(text, at, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
}

export interface LockFile {
  readonly name: string
  readonly version: string
  readonly packages: Readonly<Record<string, Locked>>
}

/** What runs beside croft when it is installed, as CycloneDX lists it. */
export function billOfMaterials(lock: LockFile): unknown {
  const components = Object.entries(lock.packages)
    .filter(([at, { dev }]) => at !== '' && dev !== true)
    .map(([at, { version = '', integrity = '', license, optional }]) => {
      const name = at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length)
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
      return {
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        purl,
        scope: optional === true ? 'optional' : 'required',
        hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
        ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
      }
    })
    .toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
  const purl = `pkg:npm/${lock.name}@${lock.version}`
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': purl, name: lock.name, version: lock.version, purl } },
    components,
    dependencies: [{ ref: purl, dependsOn: components.map((one) => one.purl) }],
  }
}

/** From what, and by what, these bytes were made. */
export function provenanceOf(made: {
  readonly artefact: string
  readonly sha256: string
  readonly commit: string
  readonly repository: string
  readonly lockSha256: string
  readonly node: string
  readonly builder: string
}): unknown {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: made.artefact, digest: { sha256: made.sha256 } }],
    predicateType: PROVENANCE_TYPE,
    predicate: {
      buildDefinition: {
        buildType: 'https://croft.dev/release/v1',
        externalParameters: { repository: made.repository, commit: made.commit },
        internalParameters: { node: made.node },
        resolvedDependencies: [
          { uri: `git+${made.repository}`, digest: { gitCommit: made.commit } },
          { uri: 'package-lock.json', digest: { sha256: made.lockSha256 } },
        ],
      },
      runDetails: { builder: { id: made.builder } },
    },
  }
}
