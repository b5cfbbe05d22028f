import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { findKind } from '../../kinds/registry.ts'
import type { Plan } from '../../model/plan.ts'
import { Secret } from '../../model/secret.ts'
import { link, linking } from '../../plan/link.ts'
import { readCommit, resolveCommit } from '../../source/git/git.ts'
import { fetchMirror } from '../../source/git/mirror.ts'
import { sendToForge } from '../wishes/forge-send.ts'
import { createPreviews, type PreviewedSource } from './previews.ts'

const MARK = '<!-- croft-plan -->'
const signal = new AbortController().signal
const scratch = mkdtempSync(path.join(tmpdir(), 'croft-previews-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const net = (name: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: ${name}}\nspec: {mtu: 1500}\n`
const proxmox = (host: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: home}\nspec: {endpoint: "https://${host}:8006", token: {env: T}}\n`

const errorsIn = ({ problems }: Plan) => problems.filter(({ severity }) => severity === 'error').length

/** Makes a repository with a followed branch, and pull requests under the forge's refs. */
function repository(name: string) {
  const directory = path.join(scratch, name)
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], {
      cwd: directory,
      stdio: 'pipe',
    })
      .toString()
      .trim()
  execFileSync('git', ['init', '--quiet', '-b', 'main', directory])
  const commit = (files: Readonly<Record<string, string>>, message = 'change') => {
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(directory, file), text)
    git('add', '.')
    git('commit', '--quiet', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  return { directory, git, commit }
}

/** Imitates each forge: its pull requests, and its handling of comments. */
function fakeForge(forge: PreviewedSource['forge']) {
  const comments: { id: number; body: string; user: { login: string }; author: { username: string } }[] = []
  const us = { user: { login: 'croft' }, author: { username: 'croft' } }
  const pulls: { number: number; sha: string; base: string }[] = []
  const heard: string[] = []
  const state = { status: 200 }
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '', 'http://x')
      const token = request.headers.authorization ?? String(request.headers['private-token'])
      heard.push(`${request.method} ${url.pathname}`)
      if (state.status !== 200 || !token.endsWith('canary-token')) {
        response.writeHead(state.status === 200 ? 401 : state.status).end('{}')
        return
      }
      const written = body === '' ? '' : (JSON.parse(body) as { body: string }).body
      if (/\/(?:pulls|merge_requests)$/.test(url.pathname)) {
        const listed = pulls.map(({ number, sha, base }) =>
          forge === 'gitlab'
            ? { iid: number, sha, target_branch: base }
            : { number, head: { sha }, base: { ref: base } },
        )
        response.end(JSON.stringify(listed))
      } else if (url.pathname.endsWith('/user')) response.end(JSON.stringify({ login: 'croft', username: 'croft' }))
      else if (request.method === 'GET') response.end(JSON.stringify(comments))
      else if (request.method === 'POST') {
        comments.push({ id: comments.length + 1, body: written, ...us })
        response.writeHead(201).end('{}')
      } else {
        const mine = comments.find(({ id }) => id === Number(/(\d+)$/.exec(url.pathname)?.[1]))
        assert.ok(mine)
        mine.body = written
        response.end('{}')
      }
    })
  })
  return { comments, pulls, heard, state, server }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

async function start(forge: PreviewedSource['forge'], name = forge) {
  const it = fakeForge(forge)
  await new Promise<void>((done) => it.server.listen(0, '127.0.0.1', done))
  after(() => it.server.close())
  const address = it.server.address()
  const api = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  const repo = repository(name)
  const base = repo.commit({ 'lan.yaml': net('lan'), 'home.yaml': proxmox('pve.example') })
  const mirror = path.join(scratch, `${name}.git`)
  await fetchMirror(repo.directory, mirror, { allowLocal: true })
  const clock = createVirtualClock(1_760_000_000_000)
  const asked: (readonly string[])[] = []
  let kept: string | undefined
  const linked = async (commit: string) => {
    const revision = await readCommit(mirror, await resolveCommit(mirror, commit))
    return { inForce: [{ source: 'main', revision }], estate: link(revision, { findKind }) }
  }
  const make = () =>
    createPreviews({
      clock,
      sources: [
        {
          source: 'main',
          forge,
          api,
          repository: 'me/home',
          branch: 'main',
          token: { env: 'T' },
          pollMs: 300_000,
          mirror,
          remote: repo.directory,
          allowLocal: true,
        },
      ],
      send: sendToForge,
      resolveSecret: async () => new Secret('canary-token'),
      link: (revision) => linking(revision, { findKind }),
      async plan(estates) {
        asked.push(...estates.map(({ connections }) => connections.map(({ endpoint }) => endpoint)))
        const plans = estates.map(({ problems, connections }) => ({ entries: [], notes: [], problems, connections }))
        return plans as unknown as readonly [Plan, Plan]
      },
      render: (before, wanted, { base: into, head }) =>
        `${MARK}\n${into} → ${head.replace(/at .*/, '')}: ${errorsIn(before)} → ${errorsIn(wanted)}\n`,
      mark: MARK,
      remember: async () => kept,
      keep: async (text) => {
        kept = text
      },
    })
  const request = (number: number) => {
    const sha = repo.git('rev-parse', 'HEAD')
    const place = forge === 'gitlab' ? `refs/merge-requests/${number}/head` : `refs/pull/${number}/head`
    repo.git('update-ref', place, sha)
    const known = it.pulls.find((pull) => pull.number === number)
    if (known === undefined) it.pulls.push({ number, sha, base: 'main' })
    else known.sha = sha
  }
  const next = async () => clock.advanceTo(clock.now() + 300_000)
  return { ...it, ...repo, base, make, linked, request, next, asked, clock }
}

for (const forge of ['github', 'gitlab', 'gitea'] as const) {
  test(`${forge}: each head gets its plan in one comment, renewed by a push and by what is merged meanwhile`, async () => {
    const it = await start(forge)
    const previews = it.make()
    const state = await it.linked('main')
    assert.deepEqual(await previews.look(state, signal), [])
    it.git('checkout', '--quiet', '-b', 'feature')
    it.commit({ 'wan.yaml': net('wan') })
    it.request(7)
    await it.next()
    assert.ok(previews.dueMs() <= it.clock.monotonicMs())
    const [event] = await previews.look(state, signal)
    assert.equal(event?.message, 'the plan of main#7 was made')
    assert.deepEqual(
      it.comments.map(({ body }) => body),
      [`${MARK}\nmain → #7 : 0 → 0\n`],
    )
    it.heard.length = 0
    await it.next()
    assert.deepEqual(await previews.look(state, signal), [], 'the same head and base: nothing to say')
    assert.equal(it.heard.length, 1, 'one call, to list them')

    it.commit({ 'bad.yaml': 'kind: [' })
    it.request(7)
    previews.poke('main')
    assert.equal((await previews.look(state, signal))[0]?.message, 'the plan of main#7 was renewed')
    assert.deepEqual(
      it.comments.map(({ body }) => body),
      [`${MARK}\nmain → #7 : 0 → 1\n`],
      'one comment, not one for each push',
    )

    // A restart keeps the memory; a new current commit makes the comment stale.
    const again = it.make()
    assert.deepEqual(await again.look(state, signal), [])
    it.git('checkout', '--quiet', 'main')
    it.commit({ 'dmz.yaml': net('dmz') })
    await fetchMirror(it.directory, path.join(scratch, `${forge}.git`), { allowLocal: true })
    again.poke('main')
    assert.equal((await again.look(await it.linked('main'), signal))[0]?.message, 'the plan of main#7 was renewed')
    assert.equal(it.comments.length, 1)
  })
}

describe('a pull request', () => {
  test('[S-17] cannot send croft, and its token, to another place: a changed connection is left out and named', async () => {
    const it = await start('github', 'github-strange' as 'github')
    const previews = it.make()
    const state = await it.linked('main')
    it.git('checkout', '--quiet', '-b', 'evil')
    it.commit({ 'home.yaml': proxmox('evil.example') })
    it.request(1)
    await previews.look(state, signal)
    assert.deepEqual(it.asked, [['https://pve.example:8006'], []])
    assert.match(it.comments[0]?.body ?? '', /Not planned before it is merged.*`home`/)
  })

  test('that conflicts says so; one to another branch is none of ours', async () => {
    const it = await start('github', 'github-conflict' as 'github')
    const previews = it.make()
    it.git('checkout', '--quiet', '-b', 'feature')
    it.commit({ 'lan.yaml': net('one') })
    it.request(1)
    it.pulls.push({ number: 2, sha: 'a'.repeat(40), base: 'other' })
    it.git('checkout', '--quiet', 'main')
    it.commit({ 'lan.yaml': net('two') })
    await fetchMirror(it.directory, path.join(scratch, 'github-conflict.git'), { allowLocal: true })
    await previews.look(await it.linked('main'), signal)
    assert.equal(it.comments.length, 1)
    assert.match(it.comments[0]?.body ?? '', /cannot be merged[\s\S]*- `lan.yaml`/)
    assert.deepEqual(it.asked, [])
  })

  test('a forge that is away is told once, without the token, and tried again at the next look', async () => {
    const it = await start('gitea', 'gitea-away' as 'gitea')
    const previews = it.make()
    const state = await it.linked('main')
    it.state.status = 503
    const [trouble] = await previews.look(state, signal)
    assert.equal(trouble?.reason, 'PreviewTrouble')
    assert.match(trouble.message, /answered 503 to GET \/api\/v1\/repos\/me\/home\/pulls/)
    assert.equal(trouble.message.includes('canary'), false)
    assert.deepEqual(await previews.look(state, signal), [], 'not before it is due')
    assert.equal(it.heard.length, 1)
    await it.next()
    assert.deepEqual(await previews.look(state, signal), [], 'told once')
    assert.equal(it.heard.length, 2)
    it.state.status = 200
    it.git('checkout', '--quiet', '-b', 'feature')
    it.commit({ 'wan.yaml': net('wan') })
    it.request(3)
    await it.next()
    assert.equal((await previews.look(state, signal))[0]?.reason, 'Preview')
  })
})
