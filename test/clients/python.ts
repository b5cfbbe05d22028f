import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ensurePackages, PYTHON } from '../../scripts/packages.ts'

/** Programs that other people wrote for Proxmox, as they are published. */
const PACKAGES = [
  'proxmoxer==2.3.0',
  'requests==2.34.2',
  'prometheus-pve-exporter==3.10.2',
  'ansible-core==2.19.14',
] as const
/** Only one of its collections is needed, so it is not installed but taken from the file. */
const ANSIBLE = 'ansible==12.3.0'
const COLLECTION = 'ansible_collections/community/proxmox/'

const STEP_TIMEOUT_MS = 150_000
const RUN_TIMEOUT_MS = 120_000
const OUTPUT_LENGTH = 200_000

export interface Clients {
  /** A program of the environment, by name. */
  readonly bin: (name: string) => string
  readonly collections: string
}

/** The environment, made on first use and kept. A text instead: why it cannot be had, and what to do about it. */
export async function pythonClients(): Promise<Clients | string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft', 'test-venv')
  const stamp = join(cache, 'ready.json')
  const wanted = JSON.stringify([...PACKAGES, ANSIBLE])
  const ready = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
  const clients: Clients = { bin: (name) => join(cache, 'venv', 'bin', name), collections: join(cache, 'collections') }
  if (ready()) return clients
  if (ensurePackages([PYTHON]).length > 0)
    return 'python3 with venv and pip is missing; install it with: apt-get install -y python3-venv'
  mkdirSync(cache, { recursive: true })
  return await alone(join(cache, 'making'), ready, () => install(cache, stamp, wanted) ?? clients, clients)
}

function install(cache: string, stamp: string, wanted: string): string | undefined {
  rmSync(join(cache, 'venv'), { recursive: true, force: true })
  const pip = join(cache, 'venv', 'bin', 'pip')
  const quiet = ['--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20']
  const python = join(cache, 'venv', 'bin', 'python')
  const wheel = join(cache, 'wheel')
  const problem =
    run('python3', ['-m', 'venv', join(cache, 'venv')]) ??
    run(pip, ['install', ...quiet, ...PACKAGES]) ??
    run(pip, ['download', ...quiet, '--no-deps', '--only-binary', ':all:', '-d', wheel, ANSIBLE]) ??
    run(python, ['-c', UNPACK, wheel, COLLECTION, join(cache, 'collections')])
  rmSync(wheel, { recursive: true, force: true })
  if (problem !== undefined) {
    const why = problem.trim().split('\n').at(-1) ?? ''
    return `could not install the clients from PyPI (${why}); by hand: ${pip} install ${PACKAGES.join(' ')}`
  }
  writeFileSync(stamp, wanted)
  return undefined
}

const UNPACK = `
import glob, sys, zipfile
with zipfile.ZipFile(glob.glob(sys.argv[1] + '/*.whl')[0]) as archive:
    archive.extractall(sys.argv[3], [name for name in archive.namelist() if name.startswith(sys.argv[2])])
`

/** Undefined when it went well, else what it printed. */
function run(command: string, args: readonly string[]): string | undefined {
  const ran = spawnSync(command, args, { encoding: 'utf8', timeout: STEP_TIMEOUT_MS, stdio: 'pipe' })
  if (ran.status === 0) return undefined
  return `${ran.stdout ?? ''}${ran.stderr ?? ''}` || (ran.error?.message ?? 'it failed')
}

/** Several test files want the same environment: one makes it, the others wait. */
async function alone(
  lock: string,
  ready: () => boolean,
  make: () => Clients | string,
  clients: Clients,
): Promise<Clients | string> {
  for (let tries = 0; tries < 600; tries++) {
    if (ready()) return clients
    try {
      mkdirSync(lock)
    } catch {
      // Left behind by a run that was killed: no run takes that long.
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 2 * STEP_TIMEOUT_MS)
        rmSync(lock, { recursive: true })
      await new Promise((resolve) => setTimeout(resolve, 250))
      continue
    }
    try {
      return make()
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
  return 'another test is making the Python environment and does not come to an end'
}

export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs a client to its end, without holding up the simulator that answers it in this same process. */
export function runClient(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  timeoutMs = RUN_TIMEOUT_MS,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const take = (chunk: Buffer) => {
      if (output.length < OUTPUT_LENGTH) output += chunk.toString('utf8')
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    child.on('error', (error) => {
      output += error.message
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })
}

/** For a test: the clients, or undefined after saying why the test is left out. Never left out where CI is set. */
export async function clientsOrSkip(context: { skip(message?: string): void }): Promise<Clients | undefined> {
  const found = await pythonClients()
  if (typeof found !== 'string') return found
  if (!['', '0', 'false'].includes(process.env.CI ?? '')) throw new Error(found)
  context.skip(found)
  return undefined
}
