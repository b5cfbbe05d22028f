import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testServer } from './testing/client.ts'
import { WISHES } from './testing/questions.ts'

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

test('[S-23] every route that changes something refuses what another page makes a browser send', async () => {
  await using it = await testServer({ users: { otto: 'operator' } })
  const { paths } = (await it.ask('/api/openapi.json')).json<Document>()
  const writing = Object.entries(paths).flatMap(([path, methods]) =>
    // A forge has no cookie, and proves itself by a signature.
    path.startsWith('/hooks/') ? [] : Object.keys(methods).flatMap((one) => (one === 'get' ? [] : [[one, path]])),
  )
  assert.ok(writing.length >= Object.keys(WISHES).length, 'the document of the API names them all')
  const otto = await it.signIn('otto')
  const own = `http://${it.host}`
  const json = { 'content-type': 'application/json' }
  for (const [method = '', path = ''] of writing) {
    const ask = async (headers: Readonly<Record<string, string>>) => {
      const body = JSON.stringify(WISHES[path] ?? {})
      return (await it.ask(path, { method: method.toUpperCase(), body, headers })).status
    }
    assert.equal(await ask({ ...json, ...otto, origin: 'https://evil.example' }), 403, `${path}: another origin`)
    assert.equal(await ask({ 'content-type': 'text/plain', ...otto, origin: own }), 403, `${path}: a simple type`)
    if (path === '/api/sign-in') continue
    assert.equal(await ask({ ...json, origin: own, cookie: otto.cookie ?? '' }), 403, `${path}: the cookie alone`)
    assert.equal(await ask({ ...json, ...otto, origin: own, 'x-croft-csrf': 'wrong' }), 403, `${path}: a wrong token`)
  }
  assert.deepEqual(it.controller.asked, [])
})
