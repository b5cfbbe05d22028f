import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { largeEstate, smallEstate } from '../../src/server/testing/fake-estate.ts'
import { NOW } from '../../src/server/testing/fake-moment.ts'
import { fakePower, goingOff } from '../../src/server/testing/fake-power.ts'
import { DESKTOP, openBrowser, PHONE, signIn, stage, whyNoBrowser } from './stage.ts'

const PERSON = {
  guard: 'person',
  reason: 'otto is logged in on still-fawn since 18:02',
  allow: 'otto logs out, or croft power off --ignore-holds',
  sinceMs: NOW - 1_680_000,
}

describe('power on the page', { skip: whyNoBrowser() ?? false }, () => {
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
  ] as const) {
    test(`[A41] the tiers are a timeline with what each waits for; energy, schedule, UPS and sleepers stand beside it (${name})`, async () => {
      await using it = await stage(browser, { ...smallEstate(), power: [fakePower(goingOff())] }, { size })
      await it.go('#/power')
      const power = it.page.locator('[data-power="homelab"]')
      await power.getByText('Power-off in progress').waitFor()
      const tiers = await power.locator('.tier').evaluateAll((all) => all.map((one) => one.getAttribute('data-tier')))
      assert.deepEqual(tiers, ['gitops', 'apps', 'databases', 'volumes', 'workers', 'servers', 'hosts', 'last-hosts'])
      const apps = power.locator('[data-tier="apps"]')
      for (const text of ['7 of 14', 'now', 'until no pod of an application is left', 'media/jellyfin'])
        await apps.getByText(text).first().waitFor()
      await apps.getByText('21 s so far; 2 min until its deadline').waitFor()
      // What is done, what is being done and what is to come are told by a word, not by a colour alone.
      assert.equal(await power.locator('[data-tier="gitops"] .tier-word').textContent(), 'done')
      assert.equal(await power.locator('[data-tier="hosts"] .tier-word').textContent(), 'to come')
      for (const text of [
        '174 W',
        '2.04 kWh',
        '1.92 kWh',
        'Europe/Berlin',
        '23:30 every day',
        // In the zone of the schedule, while the browser is in UTC.
        'Sat 23:30',
        'asleep',
        'duck',
        'on mains',
      ])
        await power.getByText(text).first().waitFor()
      await power.getByText('level 1 goes at 40 %').waitFor()
      await power.getByText('not declared, and running there: 110 old-nas').waitFor()
      const [inside, outside] = (await it.page.evaluate(
        '[document.querySelector("main").scrollWidth, document.querySelector("main").clientWidth]',
      )) as [number, number]
      assert.ok(inside <= outside)
      await it.both(`power-${name}`)
    })
  }

  test('switching off says what will happen and what holds it, is ordered in the name of who signed in, and is followed', async () => {
    await using it = await stage(browser, { ...smallEstate(), power: [fakePower({ holds: [PERSON] })] })
    await it.go('#/power')
    await it.page.getByText('Everything is on').waitFor()
    assert.equal(await it.page.getByText('in progress').count(), 0)
    await it.page.getByRole('button', { name: 'Switch off' }).click()
    await signIn(it.page)
    await it.page.getByRole('button', { name: 'Switch off' }).click()
    const dialog = it.page.locator('dialog')
    await dialog.getByText('otto is logged in on still-fawn').waitFor()
    assert.equal(await dialog.locator('.tier').count(), 8)
    await dialog.getByText('croft power off homelab').waitFor()
    await it.both('power-off-dialog')
    await dialog.getByLabel('Do not wait for them').check()
    await dialog.getByLabel('Reason').fill('over night')
    assert.equal(it.controller.asked.length, 0, 'nothing is ordered before it is confirmed')
    await dialog.getByRole('button', { name: 'Switch off' }).click()
    await it.page.locator('.toast', { hasText: 'homelab will be switched off' }).waitFor()
    await it.page.getByText('Powering off').waitFor()
    await it.page.getByText('asked by anna: over night').waitFor()
    assert.deepEqual(
      it.controller.asked.map(({ wish, actor }) => [wish, actor.name]),
      [[{ wish: 'power', target: 'homelab', order: 'off', reason: 'over night', ignoreHolds: true }, 'page:anna']],
    )
    await it.page.getByRole('button', { name: 'Switch on' }).click()
    await dialog.getByText('Workloads get their replicas back').waitFor()
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    await it.page.getByText('Powering on').waitFor()
  })

  test('a hold is set for a while, shown with its name, and released', async () => {
    await using it = await stage(browser, smallEstate())
    await it.go('#/power')
    await it.page.getByRole('button', { name: 'Hold' }).click()
    await signIn(it.page)
    await it.page.getByRole('button', { name: 'Hold' }).click()
    const dialog = it.page.locator('dialog')
    await dialog.getByLabel('For').selectOption('4')
    await dialog.getByLabel('Reason').fill('demo')
    await dialog.getByRole('button', { name: 'Hold' }).click()
    await it.page.getByText('anna holds it until').waitFor()
    const [asked] = it.controller.asked
    assert.ok(asked?.wish.wish === 'power' && asked.wish.order === 'hold' && asked.wish.reason === 'demo')
    assert.ok(Math.abs((asked.wish.untilMs ?? 0) - (it.controller.view().atMs + 4 * 3_600_000)) < 120_000)
    await it.page.getByRole('button', { name: 'Release' }).click()
    await it.page.getByText('anna holds it until').waitFor({ state: 'detached' })
  })

  test('a host that is off because it is meant to be is no trouble; one that fell over is', async () => {
    const off = fakePower({
      ...goingOff(8),
      phase: 'Off',
      hosts: fakePower().hosts.map((host) => ({ ...host, power: host.own ? 'on' : 'off' })),
    })
    const small = smallEstate()
    const hosts = small.hosts.map((host) => ({ ...host, online: false, temperatureC: 40 }))
    const hold = { guard: 'request', reason: 'Power/homelab is off', allow: 'croft power on homelab' }
    const clusters = small.clusters.map((one) => ({
      ...one,
      decision: { ...one.decision, phase: 'Blocked' as const, holds: [hold] },
    }))
    await using it = await stage(browser, { ...small, hosts, clusters, power: [off] })
    await it.go()
    await it.page.locator('.cluster-card', { hasText: 'homelab' }).getByText('Off', { exact: true }).waitFor()
    assert.equal(await it.page.locator('.trouble', { hasText: 'Cluster homelab' }).count(), 0)
    await it.page.locator('.trouble', { hasText: 'Host fun-bedbug is offline' }).waitFor()
    assert.equal(await it.page.locator('.trouble', { hasText: 'is offline' }).count(), 1)
    await it.page.locator('.host-card', { hasText: 'still-fawn' }).getByText('off, as ordered').waitFor()
    await it.both('power-off-overview')
  })

  test('without a Power there is a word on how to get one, and a thousand machines are still counted', async () => {
    const { power: _, ...without } = largeEstate()
    await using it = await stage(browser, without)
    await it.go('#/power')
    await it.page.getByText('No power plan is declared').waitFor()
    await it.page.getByText('1000 of 1000 machines on').waitFor()
  })
})
