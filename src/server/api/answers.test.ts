import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import type { EstateView } from '../../model/estate-view.ts'
import { type Answer, testServer } from '../testing/client.ts'
import { fakeController } from '../testing/fake-controller.ts'
import { largeEstate, smallEstate } from '../testing/fake-estate.ts'
import { fakePower, goingOff } from '../testing/fake-power.ts'
import { KEY, questionOf, WISHES } from '../testing/questions.ts'

type Schema = Parameters<typeof z.fromJSONSchema>[0]
interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const estates: readonly (readonly [string, EstateView])[] = [
  ['a small estate', { ...smallEstate(), power: [fakePower(goingOff())] }],
  ['a thousand machines', largeEstate()],
]

for (const [name, estate] of estates) {
  test(`every answer is what the document of the API says: ${name}`, async () => {
    await using it = await testServer({ controller: fakeController(estate), users: { otto: 'operator' } })
    const document = (await it.ask('/api/openapi.json')).json<Document>()
    const otto = await it.signIn('otto')
    const key = estate.resources[0]?.key ?? ''
    const inputs = JSON.parse(JSON.stringify(WISHES).replaceAll(KEY, key)) as typeof WISHES
    const checked = new Set<string>()
    const check = (method: 'get' | 'post', path: string, answer: Answer) => {
      const said = document.paths[path]?.[method]?.responses[answer.status]
      assert.ok(said !== undefined, `${method} ${path} answered ${answer.status}, which the document does not know`)
      const [content] = Object.values(said.content ?? {})
      if (content === undefined || !String(answer.headers['content-type']).includes('json')) return
      const schema = z.fromJSONSchema(resolved(content.schema, document))
      const found = schema.safeParse(JSON.parse(answer.text))
      assert.ok(found.success, `${method} ${path} ${answer.status}: ${found.error?.message.slice(0, 500)}`)
      checked.add(`${method} ${path} ${answer.status}`)
    }
    for (const [path, operations] of Object.entries(document.paths)) {
      if (path.startsWith('/hooks/') || path === '/api/events' || path.startsWith('/api/sign-in/oidc')) continue
      if ('get' in operations) {
        const question = questionOf(path).replaceAll(encodeURIComponent(KEY), encodeURIComponent(key))
        check('get', path, await it.ask(question))
        if (path === '/api/commit-diff' || path === '/api/excerpts')
          check('get', path, await it.ask(question, { headers: otto }))
        check('get', path, await it.ask(`${path}?limit=x&key=&state=x`))
      }
      if ('post' in operations && path in inputs) {
        check('post', path, await it.post(path, inputs[path]))
        check('post', path, await it.post(path, { nonsense: 1 }, otto))
        check('post', path, await it.post(path, inputs[path], otto))
        check('post', path, await it.post(path, inputs[path], { ...otto, 'x-croft-csrf': 'x' }))
      }
    }
    check('post', '/api/sign-in', await it.post('/api/sign-in', { name: 'otto', password: 'wrong' }))
    check('post', '/api/sign-in', await it.post('/api/sign-in', {}))
    check('post', '/api/second-factor', await it.post('/api/second-factor', { code: '123456' }))
    check('post', '/api/second-factor', await it.post('/api/second-factor', { code: '123456' }, otto))
    for (const path of ['/api/second-factor/begin', '/api/keys/begin']) check('post', path, await it.post(path, {}))
    check('post', '/api/second-factor/begin', await it.post('/api/second-factor/begin', {}, otto))
    check('post', '/api/keys/begin', await it.post('/api/keys/begin', {}, otto))
    const answer = { id: 'aWQ', clientData: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' }
    check('post', '/api/second-factor/key', await it.post('/api/second-factor/key', answer, otto))
    const made = { name: 'x', id: 'aWQ', clientData: 'e30', attestation: 'oA' }
    check('post', '/api/keys/add', await it.post('/api/keys/add', made, otto))
    check('post', '/api/keys/remove', await it.post('/api/keys/remove', { id: 'aWQ' }, otto))
    check('post', '/api/sessions/end', await it.post('/api/sessions/end', { id: 'none' }, otto))
    check('post', '/api/sign-out', await it.post('/api/sign-out', {}, otto))
    check('get', '/api/resource', await it.ask('/api/resource?key=Machine/none'))
    check('get', '/api/power-plan', await it.ask('/api/power-plan?target=none&state=on'))
    check('get', '/api/addon', await it.ask('/api/addon?cluster=none&addon=none'))
    const paths = [...checked].map((line) => line.split(' ')[1])
    const wanted = Object.keys(document.paths).filter((path) => /^\/api\/(?!events|logs|sign-in\/oidc)/.test(path))
    assert.deepEqual(
      wanted.filter((path) => !paths.includes(path)),
      [],
    )
  })
}

test('the check itself: an answer with a field too many, or one too few, is not what the document says', () => {
  const schema = z.fromJSONSchema({
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  })
  assert.deepEqual(
    [{ a: 'x' }, { a: 'x', b: 1 }, {}].map((value) => schema.safeParse(value).success),
    [true, false, false],
  )
})

/** The schema with what it refers to in its place. */
function resolved(schema: Schema, { components }: Document): Schema {
  const name = typeof schema === 'object' ? schema.$ref?.replace('#/components/schemas/', '') : undefined
  return (name === undefined ? undefined : components.schemas[name]) ?? schema
}
