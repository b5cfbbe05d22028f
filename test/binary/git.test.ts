import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gitServerMissing, startGitServer } from '../../src/controller/testing/git-server.ts'
import { endAll, scratch, signal, start, startSimulator } from './children.ts'
import { passwordFrom, webVm } from './web-vm.ts'

after(endAll)

const HOOK_SECRET = 'canary-hook'
const GIT_TOKEN = 'canary-git'
const KEY = 'EnvironmentVM/web-1'

const vm = (memory: number, onBoot = false) => `# The machine that people look at.
apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata:
  name: web-1
  annotations: {croft.dev/drift: report}
spec:
  forProvider:
    nodeName: fun-bedbug
    name: web-1
    vmId: 205
    started: true
    onBoot: ${onBoot}   # asked for by Anna
    memory: [{dedicated: ${memory}}]
    disk: [{interface: scsi0, datastoreId: local, size: 4}]
`

interface View {
  readonly rows: readonly { readonly key: string; readonly do: string; readonly ready: string }[]
  readonly sources: readonly { readonly commit?: string; readonly subject?: string }[]
  readonly drifts: readonly { readonly key: string; readonly field: string; readonly observed: string }[]
}

test('[A55] [A56] a repository over https: a push by webhook, a drift adopted as a commit, a drift reverted, a pull request with its plan', {
  skip: gitServerMissing() ?? false,
}, async (t) => {
  const cwd = scratch()
  const srv = path.join(cwd, 'srv')
  const work = path.join(cwd, 'work')
  const bare = path.join(srv, 'home.git')
  for (const directory of [srv, work]) mkdirSync(directory)
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '20'], cwd)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Anna', '-c', 'user.email=anna@example.org', ...words], {
      cwd: work,
      env: { PATH: process.env.PATH ?? '', HOME: path.join(cwd, 'home') },
      stdio: 'pipe',
    })
      .toString()
      .trim()
  const put = (files: Readonly<Record<string, string>>, message: string) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(work, name), text)
    git('add', '.')
    git('commit', '-q', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  git('init', '-q', '-b', 'main')
  const proxmox = `apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: default}\nspec:\n  endpoint: ${simulator.endpoint}\n  fingerprint: "${simulator.fingerprint}"\n  token: {env: PROXMOX_TOKEN}\n`
  put({ 'proxmox.yaml': proxmox, 'vm.yaml': vm(2048) }, 'First')
  execFileSync('git', ['clone', '-q', '--bare', work, bare])
  git('remote', 'add', 'origin', bare)
  const server = await startGitServer(srv, GIT_TOKEN)
  after(() => server.close())
  const forge = await fakeForge()
  after(() => forge.server.close())

  const config = {
    listen: '127.0.0.1:0',
    sources: [
      {
        name: 'home',
        url: server.url('home.git'),
        ca: server.ca,
        token: { env: 'GIT_TOKEN' },
        poll: '1h',
        webhook: { env: 'HOOK_SECRET' },
        pullRequests: {
          forge: 'gitea',
          api: forge.url,
          repository: 'me/home',
          token: { env: 'GIT_TOKEN' },
          poll: '1h',
        },
      },
    ],
  }
  writeFileSync(path.join(cwd, 'croft.yaml'), JSON.stringify(config))
  const env = {
    HOME: path.join(cwd, 'home'),
    CROFT_STATE: path.join(cwd, 'data', 'croft.db'),
    PROXMOX_TOKEN: simulator.token,
    GIT_TOKEN,
    HOOK_SECRET,
  }
  const made = await start(['token', 'create', 'ci', '--scopes', 'read,operate', '--expires', '1d'], { cwd, env }).ended
  const running = start(['run', '--config', 'croft.yaml'], { cwd, env })
  let said = ''
  running.child.stderr?.on('data', (chunk: string) => {
    said += chunk
  })
  await until(
    () => /The page is at (\S+)/.test(said),
    () => said,
  )
  const page = /The page is at (\S+)/.exec(said)?.[1] ?? ''
  const view = async () => (await (await fetch(`${page}/api/view`)).json()) as View
  const wish = async (name: string, body: object) => {
    const headers = { authorization: `Bearer ${made.stdout.trim()}`, 'content-type': 'application/json' }
    const answer = await fetch(`${page}/api/wishes/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return {
      status: answer.status,
      ...((await answer.json()) as { readonly message?: string; readonly link?: string }),
    }
  }
  const notice = (event: string, body: object) => {
    const text = JSON.stringify(body)
    const sign = createHmac('sha256', HOOK_SECRET).update(text).digest('hex')
    const headers = { 'x-gitea-event': event, 'x-gitea-signature': sign, 'content-type': 'application/json' }
    return fetch(`${page}/hooks/home`, { method: 'POST', headers, body: text })
  }
  const kept = async () => {
    const row = (await view()).rows.find(({ key }) => key === KEY)
    return row?.do === 'nothing' && row.ready === 'True'
  }
  await until(kept, () => said)

  // A push, told by the forge.
  const writes = (await simulator.stats()).writes
  const commit = put({ 'vm.yaml': vm(2048, true) }, 'Start it with its host')
  git('push', '-q', 'origin', 'main')
  const told = performance.now()
  assert.equal((await notice('push', { ref: 'refs/heads/main', after: commit })).status, 202)
  await until(
    async () => (await simulator.stats()).writes > writes,
    () => said,
  )
  t.diagnostic(`notice to first write: ${Math.round(performance.now() - told)} ms`)
  // The page is published after the pass that made the write.
  await until(
    async () => (await view()).sources[0]?.commit === commit,
    () => said,
  )
  const why = await start(['why', KEY], { cwd, env }).ended
  assert.match(why.stdout, /Start it with its host[\s\S]*set onboot of VM 205/, why.stdout + why.stderr)

  // A person changes it back by hand.
  await until(kept, () => said)
  await simulator.door('PATCH', 'guests/205', { onboot: '0' })
  const drifted = async () => (await view()).drifts.some(({ key, observed }) => key === KEY && /0|false/.test(observed))
  await until(drifted, () => said)
  const adopted = await wish('adopt-drift', { key: KEY, fields: [] })
  assert.equal(adopted.status, 200, JSON.stringify(adopted))
  const branch = execFileSync('git', ['-C', bare, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/croft'])
    .toString()
    .trim()
  assert.match(branch, /^croft\/adopt-environmentvm-web-1-/)
  const diff = execFileSync('git', ['-C', bare, 'diff', '-U0', 'main', branch]).toString()
  assert.deepEqual(
    diff.split('\n').filter((line) => /^[+-] /.test(line)),
    ['-    onBoot: true   # asked for by Anna', '+    onBoot: false   # asked for by Anna'],
  )
  const ask = (token: string, name = KEY) =>
    start(['ask', 'revert', name, '--url', page], { cwd, env: { ...env, CROFT_TOKEN: token } }).ended
  const stranger = await ask('')
  assert.equal(stranger.code, 4, stranger.stderr)
  const reverted = await ask(made.stdout.trim(), 'web-1')
  assert.equal(reverted.code, 0, reverted.stderr)
  assert.match(reverted.stdout, /will be put back as Git declares it/)
  await until(
    async () => !(await drifted()),
    () => said,
  )

  // A pull request.
  git('checkout', '-q', '-b', 'feature')
  const other = webVm({ fields: [passwordFrom('nowhere')] })
    .replaceAll('web-1', 'web-2')
    .replace('205', '206')
  const head = put({ 'vm.yaml': vm(4096, true), 'other.yaml': other }, 'More memory')
  git('push', '-q', 'origin', 'feature:refs/pull/7/head')
  forge.pulls.push({ number: 7, head: { sha: head }, base: { ref: 'main' } })
  assert.equal((await notice('pull_request', { action: 'opened', number: 7 })).status, 202)
  await until(
    () => forge.comments.length > 0,
    () => said,
  )
  assert.match(forge.comments[0] ?? '', /EnvironmentVM\/web-1[\s\S]*4096/)
  // No secret is resolved, since a pull request's author could learn which ones exist.
  assert.match(forge.comments[0] ?? '', /`EnvironmentVM\/web-2` \| create 206 \|/)
  assert.doesNotMatch(forge.comments[0] ?? '', /secret-unread/)

  signal(running, 'SIGTERM')
  const { code, stdout, stderr } = await running.ended
  assert.equal(code, 0, stderr)
  for (const secret of [HOOK_SECRET, GIT_TOKEN, simulator.token.split('=')[1] ?? ''])
    assert.ok(!`${stdout}${stderr}${forge.comments.join('')}`.includes(secret), 'a secret was shown')
})

async function fakeForge() {
  const pulls: object[] = []
  const comments: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      if (request.method === 'POST') comments.push((JSON.parse(body) as { body: string }).body)
      response.end(JSON.stringify(request.url?.includes('/pulls?') === true ? pulls : []))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { pulls, comments, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function until(holds: () => Promise<boolean> | boolean, said: () => string): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    assert.ok(tries < 6_000, `it did not come about: ${said()}`)
    await sleep(20)
  }
}
