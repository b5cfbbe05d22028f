// Makes the container image and the chart for croft operator, from this clone: node bin/run scripts/image.ts [--out DIRECTORY]
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from './build.ts'
import { installedTree } from './installed-tree.ts'
import { archiveOf, PACKED_AT, type PackedFile, reproducible, tarOf } from './release-parts.ts'
import { startedAs } from './started.ts'

/** Programs that croft starts. There is no shell among them, and nothing that installs anything. */
const PROGRAMS = ['/usr/bin/ssh', '/usr/bin/ssh-keyscan', '/usr/bin/ssh-keygen']
const USER = 65_532

/** Writes an image that docker load, podman load and ctr images import read, and the chart, of a directory that is built. */
export function image(directory: string, out: string): readonly string[] {
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { readonly version: string }
  mkdirSync(out, { recursive: true })
  const files = [
    [join(out, `croft-${version}-linux-${process.arch}.oci.tar`), ociArchive(layersOf(directory, version), version)],
    [join(out, `croft-${version}.tgz`), archiveOf('croft', chartFiles(directory))],
  ] as const
  for (const [path, bytes] of files) writeFileSync(path, bytes)
  return files.map(([path]) => path)
}

/** Below, what changes seldom: libraries and OpenSSH of the system that builds it. Above, croft with its own Node. */
function layersOf(directory: string, version: string): readonly Buffer[] {
  const program = installedTree(directory, version).flatMap(({ name, ...file }) =>
    name.startsWith('lib/croft/') ? [{ ...file, name: `opt/croft/${name.slice('lib/croft/'.length)}` }] : [],
  )
  const node = join(directory, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  const libraries = [...new Set([node, ...PROGRAMS].flatMap(librariesOf))]
  const taken = [...libraries, ...PROGRAMS].map((path) => ({
    name: path.slice(1),
    bytes: readFileSync(path),
    mode: 0o755,
  }))
  const text = (name: string, content: string): PackedFile => ({ name, bytes: Buffer.from(content) })
  const system = [
    text('etc/passwd', `root:x:0:0:root:/:/nonexistent\ncroft:x:${USER}:${USER}:croft:/tmp:/nonexistent\n`),
    text('etc/group', `root:x:0:\ncroft:x:${USER}:\n`),
    text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    { name: 'tmp/', bytes: Buffer.alloc(0), mode: 0o1777 },
    // Where the runtime puts its own.
    ...['dev/', 'proc/', 'sys/'].map((name) => ({ name, bytes: Buffer.alloc(0), mode: 0o755 })),
  ]
  return [tarOf([...taken, ...system]), tarOf(program)]
}

/** Where the loader finds the libraries of a program, and the loader itself. */
function librariesOf(program: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync('ldd', [program], { encoding: 'utf8', env: { LC_ALL: 'C' } })
  if (status !== 0) throw new Error(`${program} cannot be taken into an image: ${stderr.trim()}`)
  if (stdout.includes('not found')) throw new Error(`${program} lacks a library here:\n${stdout}`)
  return [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = '']) => path)
}

function ociArchive(layers: readonly Buffer[], version: string): Buffer {
  const blobs = new Map<string, Buffer>()
  const put = (bytes: Buffer) => {
    const digest = sha256(bytes)
    blobs.set(digest, bytes)
    return { digest: `sha256:${digest}`, size: bytes.length }
  }
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  const created = new Date(PACKED_AT * 1000).toISOString()
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const config = put(
    json({
      created,
      architecture,
      os: 'linux',
      config: {
        User: `${USER}:${USER}`,
        Env: ['PATH=/usr/bin', 'HOME=/tmp', 'NODE_ENV=production', 'MALLOC_ARENA_MAX=2'],
        Entrypoint: [
          '/opt/croft/node',
          '--max-semi-space-size=1',
          '--no-parallel-scavenge',
          '--no-maglev',
          '/opt/croft/bin/croft',
        ],
        Cmd: ['operator'],
        WorkingDir: '/tmp',
        Labels: { 'org.opencontainers.image.title': 'croft', 'org.opencontainers.image.version': version },
      },
      rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
      history: layers.map(() => ({ created, created_by: 'npm run image' })),
    }),
  )
  const manifest = put(
    json({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
      layers: layers.map((layer) => ({
        mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
        ...put(reproducible(gzipSync(layer, { level: 6 }))),
      })),
    }),
  )
  const index = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        ...manifest,
        platform: { architecture, os: 'linux' },
        annotations: {
          'io.containerd.image.name': `docker.io/library/croft:${version}`,
          'org.opencontainers.image.ref.name': version,
        },
      },
    ],
  })
  return tarOf([
    { name: 'oci-layout', bytes: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', bytes: index },
    ...[...blobs].map(([digest, bytes]) => ({ name: `blobs/sha256/${digest}`, bytes })),
  ])
}

function chartFiles(directory: string): readonly PackedFile[] {
  const chart = join(directory, 'deploy', 'chart')
  return globSync('**/*.yaml', { cwd: chart }).map((name) => ({ name, bytes: readFileSync(join(chart, name)) }))
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

if (startedAs(import.meta.filename)) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'release' } } })
  const root = dirname(import.meta.dirname)
  await build(join(root, 'dist'))
  await import('./build-web.ts')
  for (const path of image(root, resolve(values.out))) process.stdout.write(`${path}\n`)
}
