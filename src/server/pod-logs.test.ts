import assert from 'node:assert/strict'
import { get } from 'node:http'
import { test } from 'node:test'
import { testServer } from './testing/client.ts'

const asked = (more = '') => `/api/logs?cluster=homelab&addon=web&namespace=web&pod=web-7d9c-bad&container=web${more}`

test('a log is for who may operate, and the audit log has who read which', async () => {
  await using it = await testServer({ users: { otto: 'operator', vera: 'viewer' } })
  const [otto, vera] = [await it.signIn('otto'), await it.signIn('vera')]
  it.audit.length = 0
  assert.equal((await it.ask(asked())).status, 401)
  assert.equal((await it.ask(asked(), { headers: vera })).status, 403)
  assert.equal(it.controller.workloads.asked.length, 0, 'no cluster was asked')
  const read = await it.ask(asked('&previous=true&tail=20'), { headers: otto })
  assert.equal(read.status, 200)
  assert.equal(read.text, 'panic: no database\n')
  assert.equal(read.headers['content-type'], 'text/plain; charset=utf-8')
  const [question] = it.controller.workloads.asked
  assert.deepEqual([question?.previous, question?.tail, question?.follow], [true, 20, false])
  const entries = it.audit.map(({ actor, what, result }) => [actor.name, what, result])
  assert.deepEqual(entries, [
    ['page:vera', 'logs', 'refused'],
    ['page:otto', 'logs', 'done'],
  ])
  assert.match(it.audit[1]?.about ?? '', /"pod":"web-7d9c-bad"/)
})

test('what the cluster refuses, and what is not asked well, is said in its words', async () => {
  await using it = await testServer({ users: { otto: 'operator' } })
  const otto = await it.signIn('otto')
  const fine = asked('&previous=true').replace('bad', 'fine')
  const refused = await it.ask(fine, { headers: otto })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /previous terminated container/)
  assert.equal((await it.ask(asked('&tail=999999'), { headers: otto })).status, 400)
  assert.equal((await it.ask('/api/logs', { headers: otto })).status, 400)
})

test('whoever follows gets each line as it comes, and the cluster is left when he goes', async () => {
  await using it = await testServer({ users: { otto: 'operator' } })
  const otto = await it.signIn('otto')
  const lines: string[] = []
  const [host, port] = it.host.split(':')
  const closed = await new Promise<boolean>((done, fail) => {
    const request = get({ host, port, path: asked('&follow=true'), headers: { ...otto } }, (response) => {
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        lines.push(text)
        if (lines.length === 1) it.controller.workloads.say('GET / 200')
        else {
          request.destroy()
          done(true)
        }
      })
    })
    request.on('error', (error) => (lines.length > 1 ? undefined : fail(error)))
  })
  assert.ok(closed)
  assert.deepEqual(lines, ['listening on :8080\n', 'GET / 200\n'])
})
