import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { axeFindings } from './axe.ts'
import { openBrowser, PHONE, signIn, stage, whyNoBrowser } from './stage.ts'

const PLACE = `#/resource/${encodeURIComponent(KEY)}`

/** What stands on the screen of the terminal. */
const screen = (page: Page) => page.locator('.xterm-rows')

async function signedIn(page: Page, name = 'anna'): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).first().click()
  await signIn(page, name)
}

async function opened(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Console' }).click()
  await page.getByRole('button', { name: 'Open the console' }).click()
  await screen(page).getByText('login:').waitFor()
}

describe('the console of a machine', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('an admin types and reads; colours, sizes and the way out by keyboard work under the content policy', async () => {
    await using it = await stage(browser, smallEstate())
    const { page } = it
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await it.go(PLACE)
    await signedIn(page)
    await page.getByRole('tab', { name: 'Console' }).click()
    await page.getByRole('button', { name: 'Open the console' }).waitFor()
    assert.ok(!asked.some((url) => url.includes('/terminal-')), 'the terminal is not loaded before it is needed')
    await opened(page)
    // Ctrl-K is a key for the shell there, and the palette of the page elsewhere.
    await page.keyboard.type('whoami')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Enter')
    await screen(page).getByText('WHOAMI').waitFor()
    assert.equal(await page.locator('dialog').count(), 0)
    const line = it.controller.consoles.lines.at(-1) ?? assert.fail()
    assert.equal(Buffer.concat(line.typed).toString(), 'whoami\u000b\r')
    const size = line.sizes.at(-1) ?? assert.fail('its size was not told')
    assert.ok(size.columns > 60 && size.rows > 15, JSON.stringify(size))

    // Colours of the palette and any others, bold, and a link that leads nowhere.
    line.say('\r\n\u001b[31mred\u001b[0m \u001b[38;2;1;200;3mgreen\u001b[0m \u001b[1mbold\u001b[0m ')
    line.say('\u001b]8;;https://evil.example/\u0007link\u001b]8;;\u0007\r\n<b>text</b>\r\n')
    await screen(page).getByText('<b>text</b>').waitFor()
    assert.equal(await colourOf(page, 'green'), 'rgb(1, 200, 3)')
    assert.notEqual(await colourOf(page, 'red'), await colourOf(page, 'bold'))
    await page.setViewportSize({ width: 900, height: 600 })
    await page.waitForFunction('document.querySelector(".xterm-screen").clientWidth < 900')
    assert.deepEqual(await axeFindings(page), [])
    await it.both('console')

    // Tab is for the machine; two other ways lead out, and the next Tab is the page's again.
    await page.keyboard.press('Tab')
    assert.match(await focused(page), /Console of/)
    await page.keyboard.press('Control+]')
    assert.equal(await focused(page), 'Close')
    await page.locator('.xterm-screen').click()
    await page.keyboard.press('Shift+Escape')
    assert.equal(await focused(page), 'Close')
    await page.keyboard.press('Enter')
    await page.getByText('The console has ended. You closed it.').waitFor()
    await line.closed
    assert.ok(Buffer.concat(line.typed).toString().endsWith('\r\t'), 'no key of the way out went to the machine')
    assert.deepEqual(
      it.audit.filter(({ what }) => what.startsWith('console')).map(({ what, result }) => `${what} ${result}`),
      ['console done', 'console-end done'],
    )
  })

  test('a machine that prints without end is drawn, and croft never runs far ahead of it', async () => {
    await using it = await stage(browser, smallEstate())
    const { page } = it
    await it.go(PLACE)
    await signedIn(page)
    await opened(page)
    const line = it.controller.consoles.lines.at(-1) ?? assert.fail()
    const block = Buffer.from(`${'0123456789'.repeat(7)}\r\n`.repeat(400))
    let said = 0
    while (said < 800_000) {
      if (line.wanted()) {
        line.say(block)
        said += block.length
      } else await new Promise((done) => setTimeout(done, 2))
    }
    line.say('the end\r\n')
    await screen(page).getByText('the end').waitFor()
  })

  test('whoever may not is not offered it, and nobody is left without words', async () => {
    await using it = await stage(browser, smallEstate(), { expected: /status of (409|422)/ })
    const { page } = it
    await it.go(PLACE)
    await page.getByRole('tab', { name: 'Observed' }).waitFor()
    assert.equal(await page.getByRole('tab', { name: 'Console' }).count(), 0)
    await signedIn(page, 'vera')
    assert.equal(await page.getByRole('tab', { name: 'Console' }).count(), 0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signedIn(page)
    const why = 'it has no serial port; declare one (Machine: proxmox.serialPort: true)'
    it.controller.consoles.refuse = { ok: false, reason: 'refused', message: why }
    await page.getByRole('tab', { name: 'Console' }).click()
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByText(why).waitFor()
    assert.deepEqual(await axeFindings(page), [])

    // In another tab of the browser the same machine is taken, and can be taken over.
    await page.getByRole('button', { name: 'Open it again' }).click()
    await screen(page).getByText('login:').waitFor()
    const other = await page.context().newPage()
    await other.goto(`${it.url}/${PLACE}/console`)
    await other.getByRole('button', { name: 'Open the console' }).click()
    await other.getByText(/You have the console of .* open since/).waitFor()
    await other.getByRole('button', { name: 'Take it over' }).click()
    await screen(other).getByText('login:').waitFor()
    await page.getByText('The console has ended. anna took it over.').waitFor()

    // Going elsewhere on the page ends it.
    await other.getByRole('tab', { name: 'Events' }).click()
    await it.controller.consoles.lines.at(-1)?.closed
  })

  test('on a phone it fits, and has the keys that the phone lacks', async () => {
    await using it = await stage(browser, smallEstate(), { size: PHONE, scheme: 'dark' })
    const { page } = it
    await it.go(PLACE)
    await page.evaluate('location.hash += "/console"')
    await page.getByRole('button', { name: 'Open the console' }).click()
    await signIn(page)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await screen(page).getByText('login:').waitFor()
    await page.getByRole('group', { name: 'Keys' }).getByRole('button', { name: 'Ctrl C' }).click()
    const line = it.controller.consoles.lines.at(-1) ?? assert.fail()
    while (line.typed.length === 0) await new Promise((done) => setTimeout(done, 5))
    assert.equal(Buffer.concat(line.typed).toString(), '\u0003')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    assert.deepEqual(await axeFindings(page), [])
    await it.shot('console-phone')
  })
})

function colourOf(page: Page, text: string): Promise<string> {
  return screen(page)
    .locator('span', { hasText: new RegExp(`^${text}$`) })
    .first()
    .evaluate((element) => getComputedStyle(element).color)
}

function focused(page: Page): Promise<string> {
  return page.evaluate(
    'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
  ) as Promise<string>
}
