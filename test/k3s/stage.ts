import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type K3sLab, sleep } from './hosts.ts'
import { type Declared, manifests } from './manifests.ts'
import type { Program } from './programs.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly seconds: number
}

/** A person with croft and kubectl, a directory of manifests, and hosts that they can reach. */
export interface Stage {
  readonly lab: K3sLab
  readonly programs: readonly Program[]
  readonly mirror: string
  /** Writes what Git says from now on. */
  declare(changes: Partial<Declared>): void
  readonly declared: Declared
  /** Starts as a first run of croft: no database, no vault, nothing in Git but the manifests. */
  forget(): void
  croft(words: readonly string[], timeoutSeconds?: number): Promise<Ran>
  /** As croft, and it must end with that code. */
  mustCroft(words: readonly string[], timeoutSeconds?: number, code?: number): Promise<Ran>
  kubectl(...words: readonly string[]): Promise<Ran>
  /** Names of the nodes that are Ready, by kubectl. */
  ready(): Promise<readonly string[]>
  startCroft(words: readonly string[]): ChildProcess
  /** MACs that were called since the last time. */
  woken(): readonly string[]
  close(): Promise<void>
}

const CROFT = join(import.meta.dirname, '../../bin/croft')
const PORT = 8480
/** Limits are for what hangs, not for what is slow: a computer that also does other work gets three times as long. */
export const PATIENCE = 3

export async function openStage(lab: K3sLab, programs: readonly Program[]): Promise<Stage> {
  const git = join(lab.directory, 'git')
  const log = join(lab.directory, 'log')
  const home = join(lab.directory, 'home')
  for (const folder of [git, home]) mkdirSync(folder)
  const mirror = `http://${lab.gateway}:${PORT}`
  const beside = await openMirror(lab, programs)
  const kubeconfig = join(lab.directory, 'kubeconfig')
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    CROFT_STATE: join(home, 'croft.db'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_STATE_HOME: join(home, 'state'),
    KUBECONFIG: kubeconfig,
    // Where K3s unpacks itself when it is called as kubectl: not into this computer's own.
    K3S_DATA_DIR: join(lab.directory, 'kubectl'),
    NO_COLOR: '1',
  }
  let declared: Declared = {
    version: programs[0]?.version ?? '',
    servers: ['h1', 'h2', 'h3'],
    agents: [],
    hosts: [...lab.hosts.values()],
    key: lab.key,
    mirror,
  }
  const write = () => writeFileSync(join(git, 'lab.yaml'), manifests(declared))

  function begin(argv: readonly string[]): ChildProcess {
    const [program = '', ...rest] = lab.inside(argv)
    return spawn(program, rest, { cwd: git, env, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  function run(argv: readonly string[], timeoutSeconds: number): Promise<Ran> {
    const startedMs = Date.now()
    return new Promise((resolve, reject) => {
      const child = begin(argv)
      let out = ''
      const take = (chunk: Buffer) => {
        out += chunk.toString('utf8')
      }
      child.stdout?.on('data', take)
      child.stderr?.on('data', take)
      const late = setTimeout(() => child.kill('SIGTERM'), timeoutSeconds * PATIENCE * 1000)
      child.once('error', reject)
      child.once('close', (code) => {
        clearTimeout(late)
        const seconds = (Date.now() - startedMs) / 1000
        appendFileSync(log, `$ ${argv.join(' ')}\n${out}[${code ?? 'ended'} after ${seconds.toFixed(1)} s]\n\n`)
        resolve({ code: code ?? -1, out, seconds })
      })
    })
  }

  const stage: Stage = {
    lab,
    programs,
    mirror,
    get declared() {
      return declared
    },
    declare(changes) {
      declared = { ...declared, ...changes }
      write()
    },
    forget() {
      for (const folder of [home, git]) {
        rmSync(folder, { recursive: true, force: true })
        mkdirSync(folder)
      }
      write()
    },
    croft: (words, timeoutSeconds = 600) => run([CROFT, ...words], timeoutSeconds),
    async mustCroft(words, timeoutSeconds, code = 0) {
      const ran = await stage.croft(words, timeoutSeconds)
      if (ran.code !== code)
        throw new Error(
          `croft ${words.join(' ')} ended with ${ran.code} after ${ran.seconds.toFixed(0)} s:\n${ran.out}`,
        )
      return ran
    },
    kubectl: (...words) => run([programs[0]?.path ?? 'k3s', 'kubectl', '--request-timeout=20s', ...words], 60),
    async ready() {
      const made = await stage.croft(['cluster', 'kubeconfig', 'lab'], 60)
      if (made.code !== 0) throw new Error(`croft cluster kubeconfig: ${made.out}`)
      writeFileSync(kubeconfig, made.out, { mode: 0o600 })
      const { out } = await stage.kubectl('get', 'nodes', '--no-headers')
      return out.split('\n').flatMap((line) => {
        const [name = '', status] = line.split(/\s+/)
        return status === 'Ready' ? [name] : []
      })
    },
    startCroft: (words) => begin([CROFT, ...words]),
    woken: () => beside.woken.splice(0),
    async close() {
      beside.child.kill('SIGTERM')
    },
  }
  write()
  return stage
}

async function openMirror(lab: K3sLab, programs: readonly Program[]) {
  const name = process.arch === 'arm64' ? 'k3s-arm64' : 'k3s'
  const sums = `sha256sum-${process.arch === 'arm64' ? 'arm64' : 'amd64'}.txt`
  const files = Object.fromEntries(
    programs.flatMap(({ path, version, sha256 }) => [
      [`/${version}/${name}`, { file: path }],
      [`/${version}/${sums}`, { text: `${sha256}  ${name}\n` }],
    ]),
  )
  const order = JSON.stringify({ address: lab.gateway, port: PORT, files })
  const words = ['node', join(import.meta.dirname, '../../bin/run'), join(import.meta.dirname, 'mirror.ts'), order]
  const [program = '', ...rest] = lab.inside(words)
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  // What starts the mirror passes this on, and could not pass on a SIGKILL.
  process.once('exit', () => child.kill('SIGTERM'))
  const woken: string[] = []
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
    for (const [, mac] of said.matchAll(/^wake (\S+)\n/gm)) woken.push(mac ?? '')
    said = said.replace(/^wake \S+\n/gm, '')
  })
  for (let waited = 0; !said.includes('ready'); waited++) {
    if (waited > 300) throw new Error('the mirror of the lab does not start')
    await sleep(100)
  }
  return { child, woken }
}
