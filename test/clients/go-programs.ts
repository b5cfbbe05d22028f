import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { findCommand } from '../../scripts/packages.ts'

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft', 'clients')
const BUILD_MS = 3_600_000
const TAIL = 600

/** A program of a public Go module, built at its released version. */
export interface GoProgram {
  readonly module: string
  readonly version: string
  /** Below the module. */
  readonly at: string
  /** Its path below the cache. */
  readonly file: string
}

/** A session of our own with a client library, built against its released version. */
export interface GoSession {
  readonly module: string
  readonly version: string
  readonly source: string
  /**
   * Its checksums, of the module and of its go.mod, where the public database of checksums may not know it. What it needs
   * itself is then held to its own list.
   */
  readonly sums?: readonly [module: string, goMod: string]
}

/** Builds it once and keeps it. Answers its path, or why it cannot be had. */
export async function builtProgram({ module, version, at, file }: GoProgram): Promise<{ path: string } | string> {
  const path = join(CACHE, file)
  if (existsSync(path)) return { path }
  const go = findGo()
  if (go === undefined) return 'there is no Go to build it with'
  const fetched = await run(go, ['mod', 'download', '-json', `${module}@${version}`], CACHE)
  const place = /"Dir": "([^"]+)"/.exec(fetched.output)?.[1]
  if (place === undefined) return `${module} ${version} is not to be had: ${reason(fetched.output)}`
  mkdirSync(dirname(path), { recursive: true })
  return await finished(path, await run(go, ['build', '-trimpath', '-ldflags=-s -w', '-o', `${path}.new`, at], place))
}

export async function builtSession(session: GoSession): Promise<{ path: string } | string> {
  const { module, version, source } = session
  const go = findGo()
  if (go === undefined) return 'there is no Go to build it with'
  const name = `${module.split('/').at(-1)}-${version}`
  const place = join(CACHE, `session-${name}`)
  const path = join(place, 'session')
  mkdirSync(place, { recursive: true })
  copyFileSync(source, join(place, 'main.go'))
  writeFileSync(join(place, 'go.mod'), goMod(session))
  writeFileSync(join(place, 'go.sum'), goSum(session))
  const fetched = await run(go, ['mod', 'download', '-json', `${module}@${version}`], place)
  const from = /"Dir": "([^"]+)"/.exec(fetched.output)?.[1]
  if (fetched.code !== 0 || from === undefined)
    return `${module} ${version} is not to be had: ${reason(fetched.output)}`
  if (session.sums !== undefined) {
    const [wants, sums] = ['go.mod', 'go.sum'].map((file) => readFileSync(join(from, file), 'utf8'))
    // Go heeds what a module replaces only where that module is the program.
    writeFileSync(join(place, 'go.mod'), `${goMod(session)}\n${/^replace \($.*?^\)$/ms.exec(wants ?? '')?.[0] ?? ''}\n`)
    writeFileSync(join(place, 'go.sum'), `${goSum(session)}${sums}`)
  }
  const tidied = await run(go, ['mod', 'tidy', '-e'], place)
  const built = await run(go, ['build', '-o', `${path}.new`, '.'], place)
  return await finished(path, built.code === 0 ? built : { ...built, output: `${tidied.output}\n${built.output}` })
}

function goMod({ module, version }: GoSession): string {
  return `module croft.dev/session\n\ngo 1.24.0\n\nrequire ${module} ${version}\n`
}

function goSum({ module, version, sums: [sum, goModSum] = ['', ''] }: GoSession): string {
  return sum === '' ? '' : `${module} ${version} ${sum}\n${module} ${version}/go.mod ${goModSum}\n`
}

async function finished(
  path: string,
  built: { readonly code: number | null; readonly output: string },
): Promise<{ path: string } | string> {
  if (built.code !== 0) return `it could not be built: ${reason(built.output)}`
  renameSync(`${path}.new`, path)
  return { path }
}

function findGo(): string | undefined {
  return [findCommand('go'), '/usr/local/go/bin/go'].find((path) => path !== undefined && existsSync(path))
}

/** The line that says it, if there is one. */
function reason(output: string): string {
  const said = /"Error": "((?:[^"\\]|\\.)+)"/.exec(output)?.[1]
  return said?.split('\\n')[0] ?? output.trim().slice(-TAIL)
}

function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  mkdirSync(cwd, { recursive: true })
  return new Promise((resolve) => {
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' }
    const child = spawn(program, args, { cwd, env, timeout: BUILD_MS, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8')
      })
    child.on('error', (error) => {
      output += error.message
    })
    child.on('close', (code) => resolve({ code, output }))
  })
}
