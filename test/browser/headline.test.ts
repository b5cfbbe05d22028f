import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { headlineOf } from '../../web/headline.ts'

const ROW = [{ key: 'Machine/web' }] as never[]
const SOURCE = { name: 'homelab', remote: 'git', ref: 'main', commit: 'a1b2c3d' }
const WAITING = { name: 'homelab', remote: 'git', ref: 'main' }
const CALM = { grave: 0, slight: 0, doing: 0, coming: 0 }

describe('the first sentence of the page', () => {
  for (const [what, page, counts, expected] of [
    ['all is well', {}, {}, 'ok: All is as declared'],
    ['something is wrong', {}, { grave: 1, slight: 2, doing: 3 }, 'bad: 1 thing is wrong'],
    ['several are wrong, before the first look is over', { ready: false }, { grave: 2 }, 'bad: 2 things are wrong'],
    ['nothing was looked at yet', { ready: false }, {}, 'busy: Looking for the first time'],
    ['no repository is followed', { sources: [], rows: [] }, {}, 'warn: No Git source is followed'],
    ['no commit has come yet', { sources: [WAITING], rows: [] }, {}, 'busy: Waiting for Git'],
    ['one of two repositories has come', { sources: [WAITING, SOURCE] }, {}, 'ok: All is as declared'],
    ['an empty repository', { rows: [] }, {}, 'quiet: Nothing is declared yet'],
    ['a cluster alone is something', { rows: [], clusters: ROW }, {}, 'ok: All is as declared'],
    ['something to decide', {}, { slight: 1, doing: 4 }, 'warn: 1 thing to look at'],
    ['a machine still boots', {}, { coming: 1 }, 'busy: 1 thing is not ready yet'],
    ['two still come while others are changed', {}, { doing: 1, coming: 2 }, 'busy: 1 change under way'],
    ['something is being done', {}, { doing: 1 }, 'busy: 1 change under way'],
  ] as const) {
    test(`${what}: ${expected}`, () => {
      const whole = { ready: true, sources: [SOURCE], rows: ROW, clusters: [], ...page }
      const { tone, text } = headlineOf(whole as never, { ...CALM, ...counts })
      assert.equal(`${tone}: ${text}`, expected)
    })
  }
})
