import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { Secret } from '../../model/secret.ts'
import { parsePullRequest, type Send } from '../wishes/forge.ts'
import { postPlan } from './post-plan.ts'

const MARK = '<!-- croft-plan -->'
const comments = new Map<number, string>()
const heard: string[] = []
const authors = new Map<number, string>()
let knowsUs = true
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += String(chunk)
  })
  request.on('end', () => {
    heard.push(
      `${request.method} ${request.url} ${request.headers.authorization ?? String(request.headers['private-token'])}`,
    )
    const id = Number(/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0)
    if (request.url?.endsWith('/user') === true) {
      if (knowsUs) response.end(JSON.stringify({ login: 'croft', username: 'croft' }))
      else response.writeHead(403).end('{}')
    } else if (request.method === 'GET')
      response.end(
        JSON.stringify(
          [...comments].map(([number, text]) => {
            const name = authors.get(number) ?? 'croft'
            const user = { login: name, type: name === 'croft' ? 'Bot' : 'User' }
            return { id: number, body: text, user, author: { username: name } }
          }),
        ),
      )
    else {
      const text = (JSON.parse(body) as { body: string }).body
      comments.set(request.method === 'POST' ? comments.size + 1 : id, text)
      response.writeHead(201).end('{}')
    }
  })
})
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
after(() => server.close())
const address = server.address()
const base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
const send: Send = async ({ url, method, headers, body }) => {
  const answer = await fetch(url, { method, headers: { ...headers }, ...(body === undefined ? {} : { body }) })
  return { status: answer.status, body: await answer.text() }
}

for (const [forge, place, renewed, sign] of [
  ['github', '/repos/me/home/issues/7/comments', 'PATCH /repos/me/home/issues/comments/2', 'Bearer t'],
  ['gitea', '/api/v1/repos/me/home/issues/7/comments', 'PATCH /api/v1/repos/me/home/issues/comments/2', 'token t'],
  [
    'gitlab',
    '/api/v4/projects/me%2Fhome/merge_requests/7/notes',
    'PUT /api/v4/projects/me%2Fhome/merge_requests/7/notes/2',
    't',
  ],
] as const) {
  test(`${forge}: the plan is written once and then renewed; other comments stay`, async () => {
    comments.clear()
    heard.length = 0
    comments.set(1, 'somebody else')
    authors.set(1, 'mallory')
    const to = parsePullRequest(`${forge}:me/home#7@${base}`)
    assert.ok(to)
    assert.equal(await postPlan(to, `${MARK}\none`, MARK, new Secret('t'), send), 'made')
    assert.equal(await postPlan(to, `${MARK}\ntwo`, MARK, new Secret('t'), send), 'renewed')
    assert.deepEqual([...comments.values()], ['somebody else', `${MARK}\ntwo`])
    assert.deepEqual(
      heard.filter((line) => !line.includes('/user ')),
      [
        `GET ${place}?per_page=100&page=1 ${sign}`,
        `POST ${place} ${sign}`,
        `GET ${place}?per_page=100&page=1 ${sign}`,
        `${renewed} ${sign}`,
      ],
    )
  })

  test(`[S-35] ${forge}: whoever writes our mark first does not get our plan into his comment`, async () => {
    for (knowsUs of forge === 'github' ? [true, false] : [true]) {
      comments.clear()
      comments.set(1, `${MARK}\nnothing will change`)
      authors.set(1, 'mallory')
      const to = parsePullRequest(`${forge}:me/home#7@${base}`)
      assert.ok(to)
      assert.equal(await postPlan(to, `${MARK}\none`, MARK, new Secret('t'), send), 'made')
      assert.equal(await postPlan(to, `${MARK}\ntwo`, MARK, new Secret('t'), send), 'renewed')
      assert.deepEqual([...comments.values()], [`${MARK}\nnothing will change`, `${MARK}\ntwo`])
    }
    knowsUs = true
  })
}

test('what is no pull request is not taken for one', () => {
  assert.deepEqual(parsePullRequest('github:a/b#1'), {
    forge: 'github',
    api: 'https://api.github.com',
    repository: 'a/b',
    number: 1,
  })
  for (const bad of ['github:a#1', 'gitea:a/b#1', 'github:a/b#0', 'github:a/b', 'x:a/b#1', 'github:a/b#1@file:///x'])
    assert.equal(parsePullRequest(bad), undefined, bad)
})
