import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Architecture, checksumIn, checksumSources, programSources } from '../../src/k3s/artifacts.ts'

/** A K3s to test with. */
export interface Program {
  readonly path: string
  readonly version: string
  readonly sha256: string
}

/** The releases fetched by default: one, and the one before it. */
const OFFICIAL = ['v1.34.2+k3s1', 'v1.34.3+k3s1'] as const
const ARCHITECTURE: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

interface Source {
  /** Answers only what was found. */
  get(url: string): Promise<Response>
  readonly cache: string
}

const NETWORK: Source = { get, cache: process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache') }

/**
 * The programs that were given as paths, older first; else the official releases, proved by their checksums and kept in
 * the cache. A sentence says why there is none.
 */
export async function programs(given: readonly string[], from: Source = NETWORK): Promise<readonly Program[] | string> {
  if (given.length > 0) return given.map(programAt)
  try {
    const found: Program[] = []
    for (const version of OFFICIAL) found.push(await official(version, from))
    return found
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `no K3s was given (CROFT_K3S=/path[,/path-of-a-second-version]), and the official release cannot be fetched: ${why}`
  }
}

function programAt(path: string): Program {
  accessSync(path, constants.X_OK)
  const ran = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 60_000 })
  const version = /^\S+ version (v\S+)/.exec(ran.stdout)?.[1]
  if (version === undefined) throw new Error(`${path} does not say which version of K3s it is: ${ran.stderr}`)
  return { path, version, sha256: createHash('sha256').update(readFileSync(path)).digest('hex') }
}

async function official(version: string, { get: ask, cache }: Source): Promise<Program> {
  const folder = join(cache, 'croft', 'k3s')
  const path = join(folder, `${version}-${ARCHITECTURE}`)
  if (existsSync(path)) return programAt(path)
  const [from = ''] = programSources([{ release: true }], version, ARCHITECTURE)
  const sums = checksumSources([{ release: true }], version, ARCHITECTURE)[0]?.url ?? ''
  const sum = checksumIn(await (await ask(sums)).text(), ARCHITECTURE)
  if (sum === undefined) throw new Error(`${sums} names no program for ${ARCHITECTURE}`)
  const bytes = Buffer.from(await (await ask(from)).arrayBuffer())
  if (createHash('sha256').update(bytes).digest('hex') !== sum)
    throw new Error(`${from} has another checksum than ${sum}`)
  mkdirSync(folder, { recursive: true })
  const partial = `${path}.${process.pid}`
  try {
    writeFileSync(partial, bytes, { mode: 0o755 })
    const program = programAt(partial)
    if (program.version !== version) throw new Error(`${from} calls itself ${program.version}`)
    renameSync(partial, path)
    return { ...program, path }
  } finally {
    rmSync(partial, { force: true })
  }
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(600_000) })
  if (!response.ok) throw new Error(`${url} answers ${response.status}`)
  return response
}
