import { existsSync, mkdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { findCommand } from '../../scripts/packages.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { EstateView } from '../../src/model/estate-view.ts'
import type { Past } from '../../src/model/past.ts'
import { openApi } from '../../src/server/api/openapi.ts'
import { ROUTES } from '../../src/server/api/routes.ts'
import { setUser, usersFile } from '../../src/server/auth/users.ts'
import type { AuditRequest } from '../../src/server/options.ts'
import { startServer } from '../../src/server/start.ts'
import { fakeController } from '../../src/server/testing/fake-controller.ts'

const CHROMIUM = findCommand('chromium')
export const PASSWORD = 'correct horse battery staple'

/** Why the tests with a browser cannot run here; undefined when they can. Under CI nothing is skipped. */
export function whyNoBrowser(): string | undefined {
  if (CHROMIUM !== undefined || (process.env.CI ?? '') !== '') return undefined
  return 'chromium is not installed (apt-get install chromium)'
}

/** Where screenshots are kept: for people to look at, never in the repository. */
export const SHOTS = process.env.CROFT_SCREENSHOTS ?? join(tmpdir(), 'croft-screenshots')

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'],
  })
}

export interface Look {
  readonly scheme?: 'light' | 'dark'
  readonly size?: { readonly width: number; readonly height: number }
  /** What may go wrong in this test, as the browser says it. */
  readonly expected?: RegExp
  /** Under which name the page is opened; by its address unless said. */
  readonly name?: string
  /** What croft remembers over days. */
  readonly past?: Past
}

export const DESKTOP = { width: 1280, height: 800 }
export const WIDE = { width: 1920, height: 1080 }
export const PHONE = { width: 390, height: 844 }

let known: Promise<string> | undefined

/** Passwords are made to be slow to check: the file is made once for all stages of a test file. */
async function madeUsers(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'croft-users-'))
  const users = join(directory, 'users.json')
  await setUser(usersFile(users), 'anna', 'admin', PASSWORD)
  await setUser(usersFile(users), 'vera', 'viewer', PASSWORD)
  const text = await readFile(users, 'utf8')
  await rm(directory, { recursive: true })
  return text
}

/**
 * A browser page on a server with a fake controller. Silent failures (an error on the console,
 * a breach of the content policy, a request to another server) are kept in `wrongs`, and closing fails when there is one.
 */
export async function stage(browser: Browser, estate: EstateView, look: Look = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'croft-browser-'))
  const users = join(directory, 'users.json')
  known ??= madeUsers()
  await writeFile(users, await known, { mode: 0o600 })
  const controller = { ...fakeController(estate), ...(look.past === undefined ? {} : { past: look.past }) }
  const audit: AuditRequest[] = []
  const note = (entry: AuditRequest) => void audit.push(entry)
  const options = { controller, clock: systemClock, version: '9.9.9', usersFile: users, audit: note }
  let server = await startServer({ ...options, port: 0 })
  const { port } = server
  const url = look.name === undefined ? server.url : `http://${look.name}:${port}`
  const context = await browser.newContext({
    viewport: look.size ?? DESKTOP,
    colorScheme: look.scheme ?? 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  // Only for what never comes: a machine that has a lot to do must not make a test fail.
  context.setDefaultTimeout(40_000)
  const wrongs = watch(context, url, look.expected)
  const page = await context.newPage()
  return {
    page,
    controller,
    audit,
    users: usersFile(users),
    url,
    wrongs,
    go: async (path = '') => {
      await page.goto(`${url}/${path}`)
      await page.locator('main h1, main .empty').first().waitFor()
    },
    shot: (name: string) => shot(page, name),
    /** In light and in dark. */
    async both(name: string) {
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        await shot(page, `${name}-${colorScheme}`)
      }
    },
    stopServer: () => server.close(),
    async startServerAgain() {
      server = await startServer({ ...options, port })
    },
    async [Symbol.asyncDispose]() {
      await context.close()
      await server.close()
      await rm(directory, { recursive: true })
      if (wrongs.length > 0) throw new Error(`in the browser:\n${wrongs.join('\n')}`)
    },
  }
}

/** Everything that must not happen in a browser that shows our page. */
export function watch(context: BrowserContext, url: string, expected?: RegExp): string[] {
  const wrongs: string[] = []
  const note = (wrong: string) => {
    if (expected?.test(wrong) !== true) wrongs.push(wrong)
  }
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) note(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => note(`error: ${error.message}`))
    page.on('dialog', (dialog) => {
      note(`a script ran: ${dialog.message()}`)
      void dialog.dismiss()
    })
  })
  context.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) note(`asked somebody else: ${request.url()}`)
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/') && !isDocumented(request.method(), pathname))
      note(`asked for what is not in the document of the API: ${request.method()} ${pathname}`)
  })
  return wrongs
}

const DOCUMENT = openApi(ROUTES, '0') as { readonly paths: Readonly<Record<string, object>> }

function isDocumented(method: string, path: string): boolean {
  return method.toLowerCase() in (DOCUMENT.paths[path] ?? {})
}

export async function shot(page: Page, name: string): Promise<void> {
  if (!existsSync(SHOTS)) mkdirSync(SHOTS, { recursive: true })
  await page.screenshot({ path: join(SHOTS, `${name.replaceAll(/[^\w-]+/g, '-')}.png`) })
}

export async function signIn(page: Page, name = 'anna'): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.locator('dialog').getByRole('button', { name: 'Sign in' }).click()
  await page.locator('dialog').waitFor({ state: 'detached' })
}
