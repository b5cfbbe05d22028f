import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { EstateView } from '../model/estate-view.ts'
import { ROUTES } from './api/routes.ts'
import { testServer } from './testing/client.ts'
import { fakeController } from './testing/fake-controller.ts'
import { fakePast } from './testing/fake-past.ts'
import { questionOf, WISHES } from './testing/questions.ts'
import { richEstate } from './testing/rich-estate.ts'

const SNAPSHOT = new URL('./testing/read-only-fields.json', import.meta.url)
/** Tables whose names are data, not fields of ours. */
const TABLES = ['observed', 'params']

test('[S-19] somebody who may only read gets the fields that are listed, and no other', async () => {
  const controller = { ...fakeController(planted(richEstate())), past: fakePast() }
  await using it = await testServer({ controller, users: { vera: 'viewer' } })
  const vera = await it.signIn('vera')
  const seen: Record<string, readonly string[]> = {}
  for (const { method, path, scope, signedIn } of ROUTES) {
    if (method !== 'GET' || path === '/api/openapi.json') continue
    const nobody = await it.ask(questionOf(path))
    const viewer = await it.ask(questionOf(path), { headers: vera })
    if (scope !== 'read') {
      assert.deepEqual([nobody.status, viewer.status], [401, 403], path)
      continue
    }
    assert.ok(!nobody.text.includes('as-a-person-wrote-it'), `${path} shows lines of a manifest`)
    if (signedIn === true) assert.equal(nobody.status, 401, path)
    for (const answer of signedIn === true ? [viewer] : [nobody, viewer]) {
      assert.equal(answer.status, 200, path)
      assert.ok(!answer.text.includes('canary'), `${path} shows a field that nobody listed`)
      assert.ok(!answer.text.includes('ref:password'), `${path} shows the value of a secret parameter`)
      assert.ok(!answer.text.includes('hunter2'), `${path} shows the value of a secret change`)
      assert.ok(!answer.text.includes('caHash-is-not-shown'), `${path} shows what identifies a cluster's CA`)
    }
    // Callers with a session see their own.
    if (path !== '/api/me' && path !== '/api/sessions' && signedIn !== true)
      assert.deepEqual(fieldsOf(viewer.json()), fieldsOf(nobody.json()), path)
    seen[path] = fieldsOf(viewer.json())
  }
  for (const [path, input] of Object.entries(WISHES)) {
    const refused = await it.post(path, input, vera)
    assert.equal(refused.status, 403, path)
    seen[`POST ${path}`] = fieldsOf(refused.json())
  }
  assert.deepEqual(controller.asked, [])
  if (process.env.CROFT_UPDATE === '1') writeFileSync(SNAPSHOT, `${JSON.stringify(seen, undefined, 2)}\n`)
  const kept: unknown = JSON.parse(readFileSync(SNAPSHOT, 'utf8'))
  assert.deepEqual(seen, kept, 'If a new field is meant to be public, run this test once with CROFT_UPDATE=1.')
})

/** Returns the view with an undocumented field planted in each object. */
function planted(view: EstateView): EstateView {
  const plant = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => plant(one, name))
    if (typeof value !== 'object' || value === null || TABLES.includes(name)) return value
    const fields = Object.entries(value).map(([key, one]) => [key, plant(one, key)])
    return { ...Object.fromEntries(fields), canaryField: 'canary-value' }
  }
  return plant(view, '') as EstateView
}

/** Every path to a value: `rows[].key`. */
function fieldsOf(value: unknown): readonly string[] {
  const paths = new Set<string>()
  const walk = (one: unknown, path: string, name: string): void => {
    if (Array.isArray(one)) for (const item of one) walk(item, `${path}[]`, name)
    else if (typeof one === 'object' && one !== null && !TABLES.includes(name))
      for (const [key, inner] of Object.entries(one)) walk(inner, path === '' ? key : `${path}.${key}`, key)
    else paths.add(path)
  }
  walk(value, '', '')
  return [...paths].toSorted()
}
