import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { atOnce } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Page } from './api/schemas.ts'
import { deltaOf, picture } from './delta.ts'
import { testServer } from './testing/client.ts'
import { withResource } from './testing/fake-controller.ts'

const KEY = 'Machine/k3s-vm-still-fawn'

interface Told {
  readonly id: string
  readonly event: string
  readonly data: Record<string, unknown>
}

/** Listens until `count` messages have come. */
function listen(port: number, path: string, headers: Readonly<Record<string, string>>, count: number): Promise<Told[]> {
  return new Promise((done, fail) => {
    const told: Told[] = []
    let text = ''
    const asked = request({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8')
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) {
          const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? []
          if (id !== undefined && event !== undefined) told.push({ id, event, data: JSON.parse(data ?? '{}') })
        }
        if (told.length < count) return
        asked.destroy()
        done(told)
      })
    })
    asked.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? undefined : fail(error)))
    asked.end()
  })
}

describe('the live stream', () => {
  test('tells only what changed, once for a burst, and what happened', async () => {
    await using it = await testServer()
    const { cursor } = (await it.ask('/api/view')).json<Page>()
    const coming = listen(it.server.port, `/api/events?after=${cursor}`, {}, 2)
    await wait(50)
    for (const status of ['Stopping', 'Stopped', 'Starting'])
      it.controller.set(
        (view) => withResource(view, KEY, (one) => ({ ...one, status })),
        [{ key: KEY, type: 'Normal', reason: 'Power', message: status }],
      )
    const [delta, happened] = await coming
    assert.ok(delta?.event === 'delta')
    assert.deepEqual(Object.keys(delta.data).toSorted(), ['atMs', 'rows', 'version'])
    assert.deepEqual(
      (delta.data.rows as Page['rows']).map(({ key, status }) => [key, status]),
      [[KEY, 'Starting']],
    )
    assert.ok(happened?.event === 'happened')
    assert.equal(Object.keys(happened.data).length, 3)
  })

  test('resumes after a break without a gap or a repeat', async () => {
    await using it = await testServer()
    const { cursor } = (await it.ask('/api/view')).json<Page>()
    const change = (status: string) =>
      it.controller.set((view) => withResource(view, KEY, (one) => ({ ...one, status })))
    const first = listen(it.server.port, `/api/events?after=${cursor}`, {}, 1)
    await wait(50)
    change('One')
    const [one] = await first
    change('Two')
    await wait(LIMITS.streamPauseMs + 100)
    change('Three')
    await wait(LIMITS.streamPauseMs + 100)
    const rest = await listen(it.server.port, '/api/events', { 'last-event-id': one?.id ?? '' }, 2)
    assert.deepEqual(
      rest.map(({ event, data }) => [event, (data.rows as Page['rows'])[0]?.status]),
      [
        ['delta', 'Two'],
        ['delta', 'Three'],
      ],
    )
  })

  test('who comes from before a restart, or from too long ago, is told to begin anew', async () => {
    await using it = await testServer()
    for (const id of ['another.3', 'nonsense', '']) {
      const [told] = await listen(it.server.port, '/api/events', id === '' ? {} : { 'last-event-id': id }, 1)
      assert.equal(told?.event, 'reset', id)
    }
    const { cursor } = (await it.ask('/api/view')).json<Page>()
    const [boot] = cursor.split('.')
    const [ahead] = await listen(it.server.port, '/api/events', { 'last-event-id': `${boot}.999` }, 1)
    assert.equal(ahead?.event, 'reset')
  })

  test('a view that cannot be shown ends no listener: he is told to begin anew when it can be', async () => {
    const warned: string[] = []
    await using it = await testServer({ warn: (message) => warned.push(message) })
    const { cursor } = (await it.ask('/api/view')).json<Page>()
    const told = listen(it.server.port, `/api/events?after=${cursor}`, {}, 1)
    await wait(50)
    it.controller.set((view) => ({ checks: [{ ...view.checks[0], name: 7 }] as unknown as typeof view.checks }))
    await wait(LIMITS.streamPauseMs + 100)
    assert.equal(warned.length, 1)
    it.controller.set(() => ({ checks: [] }))
    const [first] = await told
    assert.equal(first?.event, 'reset')
    assert.equal((await it.ask('/api/view')).status, 200)
  })

  test('a listener that takes nothing is cut off; memory stays bounded', async () => {
    await using it = await testServer()
    const deaf = connect(it.server.port, '127.0.0.1')
    deaf.on('error', () => {})
    deaf.write(`GET /api/events HTTP/1.1\r\nhost: ${it.host}\r\n\r\n`)
    await new Promise((seen) => deaf.once('data', seen))
    deaf.pause()
    const long = 'x'.repeat(LIMITS.pageTextLength - 10)
    let cut = false
    deaf.once('close', () => {
      cut = true
    })
    for (let round = 0; round < 60 && !cut; round += 1) {
      it.controller.set(
        () => ({}),
        Array.from({ length: 100 }, (_, index) => ({
          type: 'Normal' as const,
          reason: `R${round}.${index}`,
          message: long,
        })),
      )
      await wait(LIMITS.streamPauseMs + 10)
      // A socket that is paused learns of its end only when it is read.
      if (round > 30) deaf.resume()
    }
    await wait(200)
    assert.ok(cut, 'it was cut off')
    assert.equal((await it.ask('/healthz')).status, 200)
  })
})

describe('what is told', () => {
  test('is nothing where nothing changed, whole sections where they did, and who is gone', async () => {
    await using it = await testServer()
    const page = (await it.ask('/api/view')).json<Page>()
    const before = atOnce(picture(page))
    assert.equal(deltaOf(before, atOnce(picture({ ...page, version: 99, atMs: 1, cursor: 'x' }))), undefined)
    const gone = deltaOf(
      before,
      atOnce(picture({ ...page, rows: page.rows.filter(({ key }) => key !== KEY), drifts: [] })),
    )
    assert.deepEqual(gone?.gone, [KEY])
    assert.equal(gone?.rows, undefined)
    const { pass: _, ...without } = page
    assert.ok('pass' in (deltaOf(before, atOnce(picture(without))) ?? {}), 'a section that went away is told as well')
  })
})
