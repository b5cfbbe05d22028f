import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { LIMITS } from '../lib/limits.ts'

/** The built page, in memory: a dozen files that never change while we run. */
export interface PageFile {
  readonly type: string
  readonly etag: string
  /** A name with a hash in it can be kept for ever. */
  readonly immutable: boolean
  readonly plain: Buffer
  readonly gzip: Buffer
  readonly brotli: Buffer
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}

const root = dirname(dirname(import.meta.dirname))

/**
 * Returns the directory of the page. In a checkout, builds it first if its sources are newer; a published package
 * brings it along and has no sources.
 */
export async function findPage(): Promise<string | undefined> {
  const built = join(root, 'dist', 'web')
  const builder = join(root, 'scripts', 'build-web.ts')
  if (existsSync(builder) && isStale(join(built, 'index.html')))
    await promisify(execFile)(process.execPath, [builder], { cwd: root, timeout: LIMITS.buildPageMs })
  return existsSync(join(built, 'index.html')) ? built : undefined
}

function isStale(index: string): boolean {
  if (!existsSync(index)) return true
  const builtMs = statSync(index).mtimeMs
  const sources = globSync(['web/**/*', 'scripts/build-web.ts', 'src/server/api/schemas.ts', 'package-lock.json'], {
    cwd: root,
  })
  return sources.some((path) => statSync(join(root, path)).mtimeMs > builtMs)
}

export function readPage(directory: string | undefined): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const name of directory === undefined ? [] : namesOf(directory)) {
    const type = TYPES[extname(name)]
    if (directory === undefined || type === undefined) continue
    const plain = readFileSync(join(directory, name))
    const immutable = /-[A-Z0-9]{8}\./.test(name)
    files.set(name === 'index.html' ? '/' : `/${name}`, pageFile(type, plain, immutable))
  }
  return files
}

/** In every form in which a browser may ask for it. */
export function pageFile(type: string, plain: Buffer, immutable: boolean): PageFile {
  return {
    type,
    plain,
    gzip: gzipSync(plain, { level: 9 }),
    brotli: brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    immutable,
  }
}

/** Returns the files that the build lists; the folder may still have files of an older build. */
function namesOf(directory: string): readonly string[] {
  const list = join(directory, 'files.json')
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as readonly string[]) : []
}
