import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { gitServerMissing, startGitServer } from '../../src/controller/testing/git-server.ts'
import { sopsYaml } from '../../src/source/testing/sops-writer.ts'
import { childrenOf } from '../process-children.ts'
import { endAll, scratch, signal, start, startSimulator } from './children.ts'
import { passwordFrom, webVm } from './web-vm.ts'

after(endAll)

/** With characters that are written otherwise in an address, in JSON and in a shell. */
const CANARIES = {
  git: 'canary-git/+"1',
  hook: 'canary-hook/+"2',
  forge: 'canary-forge-+3',
  check: 'canary-check-+4',
  notice: 'canary-notice/+"5',
  ntfy: 'canary-ntfy-+6',
  slack: 'canary-slack-7',
  gotify: 'canary-gotify-+8',
  mail: 'canary-mail/+"9',
  password: 'canary-password/+"10',
} as const

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const json = JSON.stringify(secret).slice(1, -1)
  return [secret, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex'), encodeURIComponent(secret), json]
}

const vm = (password: string) => webVm({ fields: [passwordFrom(password)] })
const NOTICES = (base: string) =>
  [
    ['webhook', `webhook: {url: "${base}/hook", secret: {file: /DIR/notice}}`],
    ['ntfy', `ntfy: {url: "${base}", topic: t, token: {file: /DIR/ntfy}}`],
    ['slack', 'slack: {address: {file: /DIR/slack}}'],
    ['gotify', `gotify: {url: "${base}", token: {file: /DIR/gotify}}`],
    [
      'mail',
      'smtp: {host: 127.0.0.1, port: 1, from: a@example.org, to: [b@example.org], user: u, password: {file: /DIR/mail}}',
    ],
  ].map(
    ([name, to]) =>
      `apiVersion: croft.dev/v1alpha1\nkind: Notification\nmetadata: {name: ${name}}\nspec: {after: 0s, ${to}}\n`,
  )

test('[S-17] secrets in every input, and every place refuses or is away: none is in anything that croft says, keeps or starts', {
  skip: gitServerMissing() ?? false,
}, async (t) => {
  const cwd = scratch()
  const at = (name: string) => path.join(cwd, name)
  for (const directory of ['srv', 'work', 'secrets']) mkdirSync(at(directory))
  // The HTTP server repeats each request in its answer and refuses it.
  const echo = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => response.writeHead(500).end(`${request.url} ${JSON.stringify(request.headers)} ${body}`))
  })
  await new Promise<void>((done) => echo.listen(0, '127.0.0.1', done))
  after(() => echo.close())
  const base = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`
  for (const [name, secret] of Object.entries(CANARIES))
    writeFileSync(at(`secrets/${name}`), name === 'slack' ? `${base}/${secret}` : secret)

  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const token = simulator.token.split('=')[1] ?? simulator.token
  const [identity, stranger] = [await generateIdentity(), await generateIdentity()]
  const sealed = async (name: string, to: string) =>
    sopsYaml(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { ubuntu: CANARIES.password } },
      { recipients: [await identityToRecipient(to)], encryptedRegex: '^(data|stringData)$' },
    )
  const proxmox = `apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: default}\nspec:\n  endpoint: ${simulator.endpoint}\n  fingerprint: "${simulator.fingerprint}"\n  token: {env: PROXMOX_TOKEN}\n`
  const check = `apiVersion: croft.dev/v1alpha1\nkind: HealthCheck\nmetadata: {name: c}\nspec: {every: 1s, failures: 1, http: {url: "${base}/c", token: {file: ${at('secrets/check')}}}}\n`
  const files = {
    'proxmox.yaml': proxmox,
    'vm.yaml': vm('users'),
    'lost.yaml': vm('lost').replaceAll('web-1', 'web-2').replace('205', '206'),
    'users.yaml': await sealed('users', identity),
    'unopened.yaml': await sealed('lost', stranger),
    'rest.yaml': [check, ...NOTICES(base)].join('---\n').replaceAll('/DIR', at('secrets')),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(at('work'), name), text)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...words], {
      cwd: at('work'),
      stdio: 'pipe',
    })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'First')
  execFileSync('git', ['clone', '-q', '--bare', at('work'), at('srv/home.git')])
  const server = await startGitServer(at('srv'), CANARIES.git)
  const file = (name: string) => ({ file: at(`secrets/${name}`) })
  const config = {
    listen: '127.0.0.1:0',
    sources: [
      {
        name: 'home',
        url: server.url('home.git'),
        ca: server.ca,
        token: file('git'),
        poll: '1s',
        webhook: file('hook'),
        pullRequests: { forge: 'github', api: base, repository: 'me/home', token: file('forge'), poll: '10s' },
      },
    ],
  }
  writeFileSync(at('croft.yaml'), JSON.stringify(config))
  const spied = spyOn('git', at('spies'))
  const env = {
    PATH: `${spied.directory}:${process.env.PATH}`,
    HOME: at('home'),
    CROFT_STATE: at('state.db'),
    CROFT_LOG: 'debug',
    PROXMOX_TOKEN: simulator.token,
    SOPS_AGE_KEY: identity,
  }
  const running = start(['run', '--config', 'croft.yaml', '--log', 'json'], { cwd, env })
  const seen: string[] = []
  let said = ''
  for (const stream of [running.child.stdout, running.child.stderr])
    stream?.on('data', (chunk: string) => {
      said += chunk
    })
  const watched = watchChildren(running.child.pid ?? 0)
  const until = async (holds: () => Promise<boolean> | boolean, what: string) => {
    for (let tries = 0; !(await holds()); tries++) {
      assert.ok(tries < 6_000, `${what}: ${said}`)
      await sleep(50)
    }
  }
  await until(() => /The page is at \S+/.test(said), 'the page')
  const page = /The page is at (\S+?)\/?\n/.exec(said)?.[1] ?? ''
  const read = async (place: string) => (await fetch(`${page}${place}`)).text()
  await until(async () => (await simulator.stats()).writes > 1, 'the machine')
  await until(async () => (await read('/api/view')).includes('"passed":"no"'), 'the check')
  // Signed wrongly, and rightly with a body that is none.
  const sign = createHmac('sha256', CANARIES.hook).update('{').digest('hex')
  for (const signature of ['0'.repeat(64), sign])
    await fetch(`${page}/hooks/home`, {
      method: 'POST',
      body: '{',
      headers: { 'x-gitea-event': 'push', 'x-gitea-signature': signature },
    })
  // Git goes away; Proxmox fails, then refuses the token.
  await server.close()
  await simulator.door('POST', 'faults', { kind: 'fail', match: '.', count: 3, status: 500 })
  await simulator.door('POST', 'faults', { kind: 'fail', match: '.', skip: 3, count: 50, status: 401 })
  await until(() => /SourceTrouble/.test(said), 'the source')
  await sleep(1_000)
  for (const place of ['/api/view', '/api/history?limit=500', '/metrics', '/api/openapi.json', '/healthz'])
    seen.push(await read(place))
  signal(running, 'SIGTERM')
  const ended = await running.ended
  watched.stop()
  seen.push(ended.stdout, ended.stderr, ...watched.words())
  const ask = async (...words: string[]) => {
    const { stdout, stderr } = await start(words, { cwd, env }).ended
    seen.push(stdout, stderr)
  }
  await ask('plan', 'work', '--keep-going', '--calls')
  await ask('plan', 'work', '--keep-going', '-o', 'json')
  await ask('events', '-o', 'json')
  await ask('events', '--audit')
  await ask('why', 'EnvironmentVM/web-1', '--dir', 'work')
  await ask('health', 'work', '--json')
  await ask('support-bundle', 'work', '--write', 'bundle.json')
  for (const name of ['bundle.json', 'state.db', 'state.db-wal'])
    if (existsSync(at(name))) seen.push(readFileSync(at(name), 'latin1'))
  for (const entry of readdirSync(at('sources'), { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !entry.name.endsWith('.pack') && !entry.parentPath.includes('/objects'))
      seen.push(readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))

  seen.push(spied.given())
  assert.match(spied.given(), /GIT_TERMINAL_PROMPT=0.*\0fetch\0/s)
  const unspied = watched.programs().filter((program) => !['git', 'sh', 'node'].includes(program))
  assert.deepEqual(unspied, [], 'croft starts a program whose environment nobody looks at here: spy on it too')
  for (const [name, secret] of Object.entries({ ...CANARIES, token, identity }))
    for (const form of formsOf(secret))
      for (const text of seen) {
        const found = text.indexOf(form)
        assert.ok(found < 0, `${name} got out: ${JSON.stringify(text.slice(Math.max(0, found - 300), found))}`)
      }
  t.diagnostic(`${seen.length} texts, of which ${watched.words().length} are arguments of children`)
})

/**
 * A program of this name that writes down what it was given and becomes the real one. Reading the same from /proc while
 * a child begins answers with what its parent was given, at times.
 */
function spyOn(program: string, directory: string): { readonly directory: string; given(): string } {
  const real = execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).trim()
  const log = path.join(directory, 'given')
  mkdirSync(directory)
  const script = `#!/bin/sh\n{ cat /proc/$$/environ; printf '%s\\0' "$@"; } >>'${log}'\nexec '${real}' "$@"\n`
  writeFileSync(path.join(directory, program), script, { mode: 0o755 })
  return { directory, given: () => readFileSync(log, 'latin1') }
}

/** Collects the arguments of all descendants of a process, as other users could read them. */
function watchChildren(pid: number) {
  const words = new Set<string>()
  const programs = new Set<string>()
  let over = false
  const look = (parent: number) => {
    for (const child of childrenOf(parent)) {
      const line = textOf(`/proc/${child}/cmdline`)
      if (line !== '') words.add(line)
      if (line !== '' && parent === pid) programs.add(path.basename(line.split('\0')[0] ?? ''))
      look(child)
    }
  }
  const again = async () => {
    while (!over) {
      look(pid)
      await sleep(2)
    }
  }
  void again()
  return {
    words: () => [...words],
    /** What the process itself started, by name. */
    programs: () => [...programs],
    stop: () => {
      over = true
    },
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
