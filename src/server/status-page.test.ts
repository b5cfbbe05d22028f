import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EstateView } from '../model/estate-view.ts'
import { createStatusPage, type StatusOptions, statusHtml } from './status-page.ts'
import { testServer } from './testing/client.ts'
import { fakeController } from './testing/fake-controller.ts'
import { smallEstate } from './testing/fake-estate.ts'
import { NOW } from './testing/fake-moment.ts'
import { fakePast } from './testing/fake-past.ts'

const STATUS: StatusOptions = {
  title: 'Home <services>',
  show: [
    { what: 'check', subject: 'web', as: 'Website & shop' },
    { what: 'cluster', subject: 'homelab', as: 'Kubernetes' },
  ],
}

function estate(passed: 'yes' | 'no' | 'unknown' = 'yes'): EstateView {
  const checks = [
    { name: 'web', passed, output: 'ECONNREFUSED 192.168.4.80:443', atMs: NOW },
    { name: 'vault-door', passed, output: 'secret-output', atMs: NOW },
  ]
  return { ...smallEstate(), checks }
}

const html = (view: EstateView, options = STATUS) =>
  statusHtml({ view: () => view, past: fakePast() }, NOW, options, undefined)

test('there is no status page unless the configuration declares one', async () => {
  await using it = await testServer()
  assert.equal((await it.ask('/status')).status, 404)
})

test('the status page needs no sign-in even where everything else does, and runs no script', async () => {
  const controller = { ...fakeController(estate()), past: fakePast() }
  await using it = await testServer({ controller, signedInOnly: true, status: STATUS })
  assert.equal((await it.ask('/api/view')).status, 401)
  const answer = await it.ask('/status')
  assert.equal(answer.status, 200)
  assert.match(String(answer.headers['content-type']), /^text\/html/)
  assert.match(answer.text, /Website &amp; shop/)
  assert.doesNotMatch(answer.text, /<script|style=|javascript:/)
  const again = await it.ask('/status', { headers: { 'if-none-match': String(answer.headers.etag) } })
  assert.equal(again.status, 304)
  assert.equal((await it.ask('/status', { headers: { host: 'elsewhere.example' } })).status, 421)
})

test('it shows what is declared public and nothing else of the estate', () => {
  const view = estate('no')
  const text = html(view)
  const known = [
    ...view.resources.flatMap(({ key, name, addresses = [] }) => [key, name, ...addresses]),
    ...view.hosts.map(({ name }) => name),
    ...view.sources.flatMap(({ remote, commit = '' }) => [remote, commit]),
    ...view.connections.flatMap(({ name, endpoint }) => [name, endpoint]),
    'vault-door',
    'secret-output',
    '192.168.4.80',
    'ECONNREFUSED',
    '>web<',
    'homelab',
    '9.9.9',
  ].filter((word) => word.length > 3)
  for (const word of known) assert.ok(!text.includes(word), `${word} is on the status page`)
  assert.match(text, /<title>Home &lt;services&gt;<\/title>/)
})

test('not known is neither up nor down', () => {
  assert.match(html(estate('yes')), /All up/)
  assert.match(html(estate('no')), /1 of 2 down/)
  assert.match(html(estate('unknown')), /1 of 2 not known/)
  const gone = { ...STATUS, show: [{ what: 'check' as const, subject: 'never-declared', as: 'Old thing' }] }
  assert.match(html(estate('yes'), gone), /Not known/)
  assert.match(html(estate('yes'), gone), /no data yet/)
})

test('an outage is never rounded away, and the worst day is named', () => {
  const text = html(estate('yes'))
  assert.match(text, /99\.96 % up/)
  assert.match(text, /worst day 2026-11-04: down for 20 min/)
  assert.match(text, /<b>Kubernetes<\/b>[\s\S]*?100 % up/)
})

test('a thousand strangers cost one rendering', () => {
  let renderings = 0
  let nowMs = 0
  const clock = { now: () => NOW + nowMs, monotonicMs: () => nowMs, sleep: async () => {} }
  const controller = {
    view: () => {
      renderings++
      return estate()
    },
    past: fakePast(),
  }
  const page = createStatusPage(controller, clock, STATUS, '/status-ABCDEFGH.css')
  for (let asked = 0; asked < 1000; asked++) page()
  assert.equal(renderings, 1)
  assert.ok(page().brotli.length < 6000, `${page().brotli.length} bytes`)
  nowMs = 60_000
  page()
  assert.equal(renderings, 2, 'and it does not stay for ever')
})
