import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  estateAt,
  LONGEST_SERVING_MS,
  type Running,
  type Simulator,
  scratch,
  start,
  startSimulator,
} from '../binary/children.ts'
import { DESKTOP, openBrowser, PASSWORD, watch } from './stage.ts'

interface RealOptions {
  /** Arguments of `croft sim`. */
  readonly simulator: readonly string[]
  /** What `croft run` follows, made with what is known by then; the directory of the estate unless given. */
  follow?(parts: { readonly cwd: string; readonly estate: string }): Promise<readonly string[]>
  readonly env?: Readonly<Record<string, string>>
  /** croft lives in the time of the simulator, and not in ours: for what waits for a time. */
  readonly inItsTime?: boolean
}

/** `croft run` on a `croft sim`, both as they are installed, with a browser on the page; anna is an operator. */
export async function realStage({ simulator: args, follow, env: more = {}, inItsTime = false }: RealOptions) {
  const cwd = scratch()
  const simulator = await startSimulator(args, cwd)
  const estate = path.join(cwd, 'estate')
  estateAt(estate, simulator, {})
  const { proxy, clock } = simulator as Simulator & { readonly proxy?: string; readonly clock?: string }
  const env = {
    HOME: path.join(cwd, 'home'),
    PROXMOX_TOKEN: simulator.token,
    ...(proxy === undefined ? {} : { HTTPS_PROXY: proxy }),
    ...(inItsTime && clock !== undefined ? { CROFT_SIM_CLOCK: clock } : {}),
    ...more,
  }
  writeFileSync(path.join(cwd, 'password'), `${PASSWORD}\n`)
  const user = ['user', 'set', 'anna', '--role', 'operator', '--password-file', 'password']
  assert.equal((await start(user, { cwd, env }).ended).code, 0)
  const followed = (await follow?.({ cwd, estate })) ?? [estate]
  const croft = start(['run', ...followed, '--listen', '127.0.0.1:0', '--poll', '1s'], {
    cwd,
    env,
    longestMs: LONGEST_SERVING_MS,
  })
  const url = await announced(croft)
  const browser = await openBrowser()
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' })
  // Only for what never comes: a cluster takes a while to form on a machine that has a lot to do.
  context.setDefaultTimeout(120_000)
  const wrongs = watch(context, url)
  const page = await context.newPage()
  return {
    page,
    url,
    simulator,
    estate,
    home: env.HOME,
    declare: (name: string, text: string) => writeFileSync(path.join(estate, name), text),
    /** Runs another command of croft in the same directory, as a person does beside the page. */
    croft: (...words: readonly string[]) => start(words, { cwd, env }).ended,
    go: (view: string) => page.goto(`${url}/#/${view}`),
    async hosts() {
      const { hosts } = await simulator.door<{ readonly hosts: readonly { readonly name: string }[] }>('GET', 'state')
      return hosts.map(({ name }) => name)
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      croft.child.kill('SIGTERM')
      const { code, stderr } = await croft.ended
      assert.ok(code === 0 || code === 143, stderr)
      assert.deepEqual(wrongs, [])
    },
  }
}

/** Where the page is, as croft says it. */
export function announced({ child, ended }: Running): Promise<string> {
  const line = new Promise<string>((resolve) => {
    let text = ''
    child.stderr?.on('data', (chunk: string) => {
      text += chunk
      const [, url] = /The page is at (\S+)\n/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
  })
  const died = ended.then(({ code, stderr }): never => {
    throw new Error(`croft run ended with ${code}: ${stderr}`)
  })
  return Promise.race([line, died])
}
