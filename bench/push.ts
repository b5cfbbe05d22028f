import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGitServer } from '../src/controller/testing/git-server.ts'
import { writeEstate } from './estate.ts'
import { startSimulator } from './simulator.ts'
import { showTable } from './table.ts'

/**
 * From the notice of a push to the first call that writes: `croft run` on a repository over https, with the simulator
 * behind it. The fetch by git is part of it. npm run bench:push [-- --machines 10 --pushes 20]
 */
const option = (name: string, usual: number) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? usual : Number(process.argv[at + 1])
}
const machines = option('--machines', 10)
const pushes = option('--pushes', 20)
const SECRET = 'shared'
const croft = join(import.meta.dirname, '..', 'bin', 'croft')
const scratch = mkdtempSync(join(tmpdir(), 'croft-push-'))
const simulator = await startSimulator(croft, machines)
const work = join(scratch, 'work')
const srv = join(scratch, 'srv')
mkdirSync(srv)
writeEstate(work, machines, simulator)
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Anna', '-c', 'user.email=anna@localhost', ...words], {
    cwd: work,
    stdio: 'pipe',
  })
const commit = (message: string) => {
  git('add', '.')
  git('commit', '-q', '-m', message)
}
git('init', '-q', '-b', 'main')
commit('First')
execFileSync('git', ['clone', '-q', '--bare', work, join(srv, 'home.git')])
git('remote', 'add', 'origin', join(srv, 'home.git'))
const server = await startGitServer(srv, 'token')
const config = join(scratch, 'croft.yaml')
writeFileSync(
  config,
  JSON.stringify({
    listen: '127.0.0.1:0',
    state: join(scratch, 'croft.db'),
    sources: [
      { url: server.url('home.git'), ca: server.ca, token: { env: 'T' }, poll: '1h', webhook: { env: 'HOOK' } },
    ],
  }),
)
const env = { ...process.env, HOME: scratch, PROXMOX_TOKEN: simulator.token, T: 'token', HOOK: SECRET }
const child = spawn(process.execPath, [croft, 'run', '--config', config], { env, stdio: ['ignore', 'ignore', 'pipe'] })
const ended = once(child, 'exit')
try {
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  while (!/The page is at \S+/.test(said)) await sleep(50)
  const page = /The page is at (\S+)/.exec(said)?.[1] ?? ''
  await calm()
  const took: number[] = []
  const manifest = join(work, 'vm-1000.yaml')
  for (let n = 1; n <= pushes; n++) {
    const text = readFileSync(manifest, 'utf8').replace(/\n {4}onBoot: \w+/, '')
    writeFileSync(manifest, text.replace('    started: true', `    started: true\n    onBoot: ${n % 2 === 1}`))
    commit(`Push ${n}`)
    git('push', '-q', 'origin', 'main')
    await simulator.reset()
    const body = JSON.stringify({ ref: 'refs/heads/main', after: String(n) })
    const sign = createHmac('sha256', SECRET).update(body).digest('hex')
    const headers = { 'x-gitea-event': 'push', 'x-gitea-signature': sign }
    const begun = performance.now()
    await fetch(`${page}/hooks/main`, { method: 'POST', headers, body })
    while ((await simulator.stats()).writes === 0) await sleep(2)
    took.push(performance.now() - begun)
    await calm()
  }
  took.sort((a, b) => a - b)
  const at = (part: number) => `${(took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? 0).toFixed(0)} ms`
  const rows = [[String(machines), String(pushes), at(0), at(0.5), at(0.9), at(1)]]
  process.stdout.write(`${showTable(['machines', 'pushes', 'least', 'median', '9 of 10', 'most'], rows)}\n`)
} finally {
  child.kill('SIGTERM')
  await ended
  await server.close()
  await simulator.stop()
  rmSync(scratch, { recursive: true, force: true })
}

/** Until nothing has been written for two seconds. */
async function calm(): Promise<void> {
  for (let writes = -1, still = 0; still < 4; ) {
    await sleep(500)
    const now = (await simulator.stats()).writes
    still = now === writes ? still + 1 : 0
    writes = now
  }
}
