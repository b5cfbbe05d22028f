import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RemoteTerminal } from '../../lib/remote-terminal.ts'
import type { ObservedResource } from '../../model/resource.ts'
import { ObservationFailed, type Session } from '../port.ts'

/** A world with a running machine with a serial line, one that is off, and one that runs without such a line. */
export interface ConsoleWorld extends AsyncDisposable {
  readonly session: Session
  readonly running: ObservedResource
  readonly stopped: ObservedResource
  readonly bare: ObservedResource
  /** Texts that no message may contain: tokens. */
  readonly secrets: readonly string[]
}

const SIZE = { columns: 100, rows: 30 }

/** The requirements for every driver's console. */
export function consoleConformance(name: string, open: () => Promise<ConsoleWorld>): void {
  describe(`the console of ${name}`, () => {
    const rule = (what: string, body: (world: ConsoleWorld) => Promise<void>) => {
      test(what, async () => {
        await using world = await open()
        await body(world)
      })
    }
    const opened = async ({ session }: ConsoleWorld, guest: ObservedResource): Promise<RemoteTerminal> =>
      (await session.console?.open(guest, SIZE, new AbortController().signal)) ?? assert.fail('it has no console')

    rule('shows what stands on the line, and takes what is typed', async (world) => {
      const { stream, resize } = await opened(world, world.running)
      await said(stream, / login: $/)
      stream.write('root\r')
      await said(stream, /root\r\nPassword: $/)
      stream.write('croft\r')
      await said(stream, /# $/)
      resize({ columns: 132, rows: 50 })
      stream.write('echo one two\r')
      assert.match(await said(stream, /\r\none two\r\n.*# $/), /echo one two/)
      stream.destroy()
    })

    rule('carries every byte of a long line, however it is cut', async (world) => {
      const { stream } = await opened(world, world.running)
      await said(stream, / login: $/)
      stream.write('ünï')
      stream.write('ç'.repeat(900))
      assert.match(await said(stream, /ç{900}$/), /ünïç{900}$/)
      stream.destroy()
    })

    rule('can be opened again after it was closed', async (world) => {
      for (let round = 0; round < 3; round++) {
        const { stream } = await opened(world, world.running)
        await said(stream, / login: $/)
        stream.destroy()
      }
    })

    rule('of a machine that is off is refused, with the next step', async (world) => {
      const refusal = await refusalOf(opened(world, world.stopped))
      assert.equal(refusal.reason, 'NotRunning')
      assert.match(refusal.message, /croft machine start/)
    })

    rule('of a machine without a serial port is refused, and says what to declare', async (world) => {
      const refusal = await refusalOf(opened(world, world.bare))
      assert.equal(refusal.reason, 'NoSerialPort')
      assert.match(refusal.message, /serial/)
      for (const secret of world.secrets) assert.ok(!refusal.message.includes(secret))
    })

    rule('is not opened for somebody who has gone', async ({ session, running }) => {
      await assert.rejects(async () => session.console?.open(running, SIZE, AbortSignal.abort()))
    })

    rule('names a way without croft', async ({ session, running }) => {
      assert.match(session.console?.lines(running).join('\n') ?? '', /console|terminal/)
    })
  })
}

/** Reads until the text matches, and returns all of it. */
export function said(stream: RemoteTerminal['stream'], pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new TextDecoder()
    let text = ''
    const end = (error?: Error) => {
      stream.off('data', take).off('end', over).off('error', end).off('close', over)
      stream.pause()
      if (error === undefined) resolve(text)
      else reject(error)
    }
    const over = () => end(new Error(`the console ended after ${JSON.stringify(text)}`))
    const take = (chunk: Buffer) => {
      text += decoder.decode(chunk, { stream: true })
      if (pattern.test(text)) end()
    }
    stream.on('data', take).on('end', over).on('error', end).on('close', over).resume()
  })
}

async function refusalOf(opening: Promise<unknown>) {
  const error = await opening.then(
    () => assert.fail('it was opened'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ObservationFailed, String(error))
  return error.refusal
}
