import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { fakeCourse, fakePast } from '../../src/server/testing/fake-past.ts'
import { elapsed, layoutOf } from '../../web/course-layout.ts'
import { missed, told } from './access.ts'
import { DESKTOP, openBrowser, PHONE, stage, whyNoBrowser } from './stage.ts'

const NOW = 1_800_000_000_000
const tenth = (share: number) => Math.round(share * 10) / 10

test('a course as a picture: bars in percent, what goes on reaches to now, votes in stretches', () => {
  const { lanes, band, tookMs, sentence } = layoutOf(fakeCourse(NOW), NOW)
  assert.equal(tookMs, 400_000)
  const [first, second, third] = lanes
  assert.deepEqual(
    first?.bars.slice(0, 3).map(({ step, left, width }) => [step, tenth(left), tenth(width)]),
    [
      ['snapshot', 0, 3.5],
      ['cordon', 3.5, 0.5],
      ['drain', 4, 16.5],
    ],
  )
  const restart = second?.bars.at(-1)
  assert.deepEqual([restart?.step, restart?.running], ['restart', true])
  assert.ok(Math.abs((restart?.left ?? 0) + (restart?.width ?? 0) - 100) < 0.01, 'it goes on')
  assert.equal(second?.words, 'cordon 2.0 s, drain 2 min, install 30 s, restart for 37 s now')
  assert.equal(third?.words, 'not yet')
  assert.deepEqual(
    band.map(({ up, left, width, held }) => [up, tenth(left), tenth(width), held]),
    [
      [3, 0, 29.5, true],
      [2, 29.5, 10.5, true],
      [3, 40, 52.5, true],
      [2, 92.5, 7.5, true],
    ],
  )
  assert.equal(
    sentence,
    'Upgrade to v1.34.4+k3s1, for 7 min, 3 in the picture; now k3s-vm-still-fawn: restart; at least 2 of 3 votes up, 2 needed',
  )
})

test('the axis counts from the beginning', () => {
  const shown = [0, 9_000, 100_000, 3_600_000, 7_505_000].map(elapsed)
  assert.deepEqual(shown, ['0:00', '0:09', '1:40', '1:00:00', '2:05:05'])
})

test('a course that is over ends where it ended, and votes below the majority are not held', () => {
  const course = { ...fakeCourse(NOW), over: true, votes: [{ atMs: NOW - 400_000, up: 1, voters: 3, needed: 2 }] }
  const { tookMs, band } = layoutOf(course, NOW + 3_600_000)
  assert.equal(tookMs, 399_000)
  assert.equal(band[0]?.held, false)
})

describe('while something happens', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  for (const [name, size] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)
    test(`a cluster shows its upgrade as lanes with the votes above, and as text (${name})`, async () => {
      await using it = await stage(browser, smallEstate(), { size, past: fakePast() })
      await it.go('#/cluster/homelab')
      const picture = it.page.getByRole('img', { name: /^Upgrade to v1\.34\.4\+k3s1, for 7 min/ })
      await picture.waitFor()
      assert.equal(await picture.locator('[data-lane]').count(), 3)
      assert.equal(await picture.locator('[data-lane="k3s-vm-still-fawn"] .is-running').count(), 1)
      assert.match((await picture.locator('.course-band').textContent()) ?? '', /2 of 3, 2 needed/)
      assert.equal(await it.page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.deepEqual(missed(await told(it.page)), [])
      await picture.scrollIntoViewIfNeeded()
      await it.both(`course-${name}`)
      await it.page.getByRole('button', { name: 'Show as text' }).click()
      await it.page.getByText('cordon 2.0 s, drain 2 min, install 30 s, restart for').waitFor()
      assert.deepEqual(missed(await told(it.page)), [])
    })
})
