import assert from 'node:assert/strict'
import { copyFileSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { fakePower, goingOff } from '../../src/server/testing/fake-power.ts'
import { push, upgrade, withDrift } from './happenings.ts'
import { openBrowser, SHOTS, stage, whyNoBrowser } from './stage.ts'

const IMAGES = join(dirname(dirname(import.meta.dirname)), 'docs', 'images')

describe('the pictures of the documentation', { skip: whyNoBrowser() ?? false }, () => {
  // Run with CROFT_UPDATE=1 to put them into docs/images.
  test('are taken from the page as it is', async () => {
    const browser = await openBrowser()
    const estate = withDrift({ ...smallEstate(), power: [fakePower(goingOff())] })
    try {
      await using it = await stage(browser, { ...estate, power: [fakePower()] })
      await it.go()
      upgrade(it.controller, 1)
      await it.page.locator('.upgrade').waitFor()
      await it.shot('picture-overview')
      push(it.controller)
      it.controller.set(() => ({ power: estate.power ?? [] }))
      await it.go('#/power')
      await it.page.getByText('Powering off').waitFor()
      await it.page.emulateMedia({ colorScheme: 'dark' })
      await it.shot('picture-power')
      await it.page.emulateMedia({ colorScheme: 'light' })
      await it.go('#/timeline')
      await it.page.locator('.chapter').first().waitFor()
      await it.shot('picture-timeline')
    } finally {
      await browser.close()
    }
    if (process.env.CROFT_UPDATE !== '1') return
    for (const name of ['overview', 'power', 'timeline'])
      copyFileSync(join(SHOTS, `picture-${name}.png`), join(IMAGES, `${name}.png`))
  })

  test('are of the size of a screen, small, and each is shown somewhere', () => {
    const pages = globSync(['README.md', 'docs/*.md'], { cwd: dirname(dirname(IMAGES)) })
      .map((name) => readFileSync(join(dirname(dirname(IMAGES)), name), 'utf8'))
      .join('\n')
    const pictures = globSync('*.png', { cwd: IMAGES })
    assert.ok(pictures.length > 0)
    for (const name of pictures) {
      assert.ok(statSync(join(IMAGES, name)).size < 200_000, `${name} is large`)
      const head = readFileSync(join(IMAGES, name))
      assert.deepEqual([head.readUInt32BE(16), head.readUInt32BE(20)], [1280, 800], name)
      assert.ok(pages.includes(`images/${name}`), `${name} is shown nowhere`)
    }
  })
})
